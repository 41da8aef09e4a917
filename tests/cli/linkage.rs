//! Linkage output through the binary: `convert`, `data.links`, and splink from its own Python package.

use crate::common::Project;
use crate::common::page::try_page;
use serde_json::{Value, json};

/// Links two files with splink, converts, fits and reports, as the page says.
#[test]
fn the_page_on_linkage_is_true() {
    let num_run = try_page("examples/linkage.md");
    assert!(num_run >= 8, "{num_run}");
}

const SURVEY: &str = "person,wage\na,1.5\nb,2.5\nc,4\nd,3\ne,7\nf,2\n";
const REGISTER: &str = "person,educ\n1,9\n2,12\n3,8\n4,16\n5,10\n6,11\n";
const PAIRS: &str = "person_l,person_r,match_probability\n1,a,0.9\n2,b,0.9\n1,b,0.3\n2,a,0.4\n3,c,0.8\n4,d,0.97\n5,e,0.6\n6,f,0.2\n";

fn files() -> Project {
    let project = Project::new(&[]);
    project.write("survey.csv", SURVEY);
    project.write("register.csv", REGISTER);
    project.write("pairs.csv", PAIRS);
    project
}

/// Converts the files, and gives what was said and the config, which now samples little.
fn converted(project: &Project) -> (String, Value) {
    let convert = ["convert", "survey.csv", "register.csv", "pairs.csv"];
    let how = ["--id", "person", "--formula", "wage ~ educ"];
    let (said, _) = project.run(&[&convert[..], &how].concat(), 0);
    let mut config = config_in(project);
    config["sampler"] = sampler();
    project.write("linked/config.json", &config.to_string());
    (said, config)
}

fn config_in(project: &Project) -> Value {
    let config = std::fs::read_to_string(project.path("linked/config.json")).unwrap();
    serde_json::from_str(&config).unwrap()
}

fn sampler() -> Value {
    json!({"chains": 1, "warmup": 200, "draws": 100})
}

/// The same linkage without a conversion.
fn write_direct(project: &Project) {
    let direct = json!({
        "model": {"stan": "linear"},
        "data": {
            "left": "survey.csv", "right": "register.csv", "formula": "wage ~ educ", "id": "person",
            "links": {"pairs": "pairs.csv", "left": "person", "right": "person", "probability": "match_probability"}
        },
        "sampler": sampler()
    });
    project.write("direct.json", &direct.to_string());
}

fn draws_of(project: &Project, config: &str, output: &str, more: &[&str]) -> Vec<String> {
    let folder = project.path(output).display().to_string();
    let output_key = format!("output={folder}");
    let fit = ["fit", config, "--quiet", "--set", &output_key];
    project.run(&[&fit[..], more].concat(), 0);
    let draws = project.draws(output);
    assert_eq!(draws.len(), 1);
    draws
}

/// The lines of `check` on the links, which do not name a file.
fn links_in_check(project: &Project, config: &str, more: &[&str]) -> Vec<String> {
    let (said, _) = project.run(&[&["check", config], more].concat(), 0);
    let first = ["linkage", "unlinked", "places", "pairs", "links", "outside"];
    let lines = said.lines().map(String::from);
    lines
        .filter(|line| first.iter().any(|word| line.starts_with(word)))
        .collect()
}

/// f and 6 are linked to nobody. The config of a conversion means what that of the two files means: the same possible
/// links, the same draws, and rows of the register that are places.
#[test]
fn a_conversion_keeps_the_records_that_are_linked_to_nobody() {
    let project = files();
    let (said, config) = converted(&project);
    for line in [
        "linkage  5 one-to-one links from 8 pairs",
        "unlinked 1 row of the left file and 1 of the right one are linked to nobody, so the config names both files, and a \
         response may belong to nobody\n",
        "links    2 of 5 rows can move",
        "Written: linked/linked.csv, linked/config.json\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    // Both folders may be moved together.
    assert_eq!(config["data"]["left"], "../survey.csv");
    assert_eq!(config["data"]["links"]["pairs"], "../pairs.csv");
    write_direct(&project);
    let places = ["--set", "data.unlinked=places"];
    for more in [&[][..], &places] {
        let direct = links_in_check(&project, "direct.json", more);
        assert_eq!(links_in_check(&project, "linked/config.json", more), direct);
        let said = direct.join("\n");
        assert!(
            said.contains("outside  the responses of 5 of 5 rows"),
            "{said}"
        );
        assert_eq!(
            said.contains("places   1 unlinked row"),
            !more.is_empty(),
            "{said}"
        );
    }
    let draws = draws_of(&project, "direct.json", "direct", &[]);
    assert_eq!(
        draws,
        draws_of(&project, "linked/config.json", "converted", &[])
    );
    let rows = std::fs::read_to_string(project.path("converted/rows.csv")).unwrap();
    assert!(rows.lines().nth(1).unwrap().contains(",a,"), "{rows}");
    // With nobody outside the draws are others.
    let inside = ["--set", "permutation.outside=false"];
    assert_ne!(
        draws,
        draws_of(&project, "linked/config.json", "inside", &inside)
    );
}

/// Where everybody is linked, the linked file is all there is: the same draws from it and from `data.links`.
#[test]
fn a_conversion_in_which_everybody_is_linked_is_one_file() {
    let project = files();
    project.write("survey.csv", &SURVEY.replace("f,2\n", ""));
    project.write("register.csv", &REGISTER.replace("6,11\n", ""));
    project.write("pairs.csv", &PAIRS.replace("6,f,0.2\n", ""));
    let (said, config) = converted(&project);
    assert!(!said.contains("unlinked"), "{said}");
    assert!(said.contains("linked/candidates.csv"), "{said}");
    assert_eq!(config["data"]["file"], "linked.csv");
    write_direct(&project);
    let draws = draws_of(&project, "direct.json", "direct", &[]);
    assert_eq!(
        draws,
        draws_of(&project, "linked/config.json", "converted", &[])
    );
    // Under another prior the probabilities only weigh the candidates.
    let audited =
        "permutation.prior={\"name\":\"beta_binomial\",\"audit\":{\"checked\":10,\"wrong\":1}}";
    let audited = draws_of(&project, "direct.json", "audited", &["--set", audited]);
    assert_ne!(draws, audited);
}

/// A program is named from the current folder, the config stands in another one.
#[test]
fn a_program_of_ones_own_is_found_from_the_converted_config() {
    let project = files();
    project.write("own.stan", include_str!("../../stan/linear.stan"));
    let line = "convert survey.csv register.csv pairs.csv --id person --formula wage~educ --model own.stan";
    project.run(&line.split(' ').collect::<Vec<_>>(), 0);
    let config = config_in(&project);
    let program = project.path("own.stan").canonicalize().unwrap();
    assert_eq!(config["model"]["stan"], json!(program));
}

#[test]
fn mistakes_in_the_arguments_are_one_sentence() {
    let project = files();
    project.write("labels.csv", "person_l,person_r,clerical_match_score\n");
    let convert = [
        "convert",
        "survey.csv",
        "register.csv",
        "pairs.csv",
        "--formula",
        "wage ~ educ",
    ];
    for (more, sentence) in [
        (
            &["--id", "persn"][..],
            "survey.csv: no column `persn` (data.links); did you mean `person`?",
        ),
        (
            &["--id", "person", "--threshold", "1.5"],
            "error: the arguments of convert: `data.links.threshold` is 1.5; it must be 0 or more and below 1",
        ),
        (
            &["--id", "person", "--labels", "none.csv"],
            "cannot find none.csv, the file of --labels; check its path",
        ),
        (
            &["--id", "person", "--labels", "labels.csv"],
            "labels.csv has a header line but no labels; add the pairs that were checked below it, or leave the labels out",
        ),
        (
            &["--id", "person", "--labels", "/dev/zero"],
            "cannot read /dev/zero (it is a device and no file); data.links.labels must be a CSV file that you may read",
        ),
        (
            &["--id", "person", "--model", "linaer"],
            "perhaps `linear`,",
        ),
    ] {
        let (_, said) = project.run(&[&convert[..], more].concat(), 2);
        assert!(said.contains(sentence), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let well = [&convert[..], &["--id", "person"]].concat();
    project.run(&well, 0);
    let (_, said) = project.run(&well, 2);
    assert!(said.contains(
        "linked/linked.csv already exists: choose another --output, or replace it with --force"
    ));
    let forced = [&well[..], &["--force"]].concat();
    project.run(&forced, 0);
    // A config of somebody else's is none of an earlier conversion.
    project.write("linked/config.json", "{\"mine\": 1}");
    let (_, said) = project.run(&forced, 2);
    assert!(
        said.contains("was not written by an earlier conversion, so it is not replaced"),
        "{said}"
    );
    let kept = std::fs::read_to_string(project.path("linked/config.json")).unwrap();
    assert_eq!(kept, "{\"mine\": 1}");
}
