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

/// The same draws from the converted files and from `data.links`.
#[test]
fn a_conversion_and_its_pairs_are_one_fit() {
    let project = files();
    let convert = ["convert", "survey.csv", "register.csv", "pairs.csv"];
    let how = ["--id", "person", "--formula", "wage ~ educ"];
    let (said, _) = project.run(&[&convert[..], &how].concat(), 0);
    assert!(
        said.contains("linkage  5 one-to-one links from 8 pairs"),
        "{said}"
    );
    assert!(said.contains("links    2 of 5 rows can move"), "{said}");
    let sampler = json!({"chains": 1, "warmup": 200, "draws": 100});
    let converted = std::fs::read_to_string(project.path("linked/config.json")).unwrap();
    let mut converted: Value = serde_json::from_str(&converted).unwrap();
    converted["sampler"] = sampler.clone();
    project.write("linked/config.json", &converted.to_string());
    let direct = json!({
        "model": {"stan": "linear"},
        "data": {
            "left": "survey.csv", "right": "register.csv", "formula": "wage ~ educ",
            "links": {"pairs": "pairs.csv", "left": "person", "right": "person", "probability": "match_probability"}
        },
        // One file has nobody outside.
        "permutation": {"outside": false},
        "sampler": sampler
    });
    project.write("direct.json", &direct.to_string());
    let (said, _) = project.run(&["check", "direct.json"], 0);
    assert!(
        said.contains("linkage  5 one-to-one links from 8 pairs"),
        "{said}"
    );
    project.run(
        &["fit", "direct.json", "--quiet", "--set", "output=direct"],
        0,
    );
    project.run(
        &[
            "fit",
            "linked/config.json",
            "--quiet",
            "--set",
            "output=../converted",
        ],
        0,
    );
    let draws = project.draws("direct");
    assert_eq!(draws.len(), 1);
    assert_eq!(draws, project.draws("converted"));
    // Under another prior the probabilities only weigh the candidates.
    let audited =
        "permutation.prior={\"name\":\"beta_binomial\",\"audit\":{\"checked\":10,\"wrong\":1}}";
    project.run(
        &[
            "fit",
            "direct.json",
            "--quiet",
            "--set",
            "output=audited",
            "--set",
            audited,
        ],
        0,
    );
    assert_ne!(draws, project.draws("audited"));
}

/// A program is named from the current folder, the config stands in another one.
#[test]
fn a_program_of_ones_own_is_found_from_the_converted_config() {
    let project = files();
    project.write("own.stan", include_str!("../../stan/linear.stan"));
    let line = "convert survey.csv register.csv pairs.csv --id person --formula wage~educ --model own.stan";
    project.run(&line.split(' ').collect::<Vec<_>>(), 0);
    let config = std::fs::read_to_string(project.path("linked/config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
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
    project.run(&[&well[..], &["--force"]].concat(), 0);
}
