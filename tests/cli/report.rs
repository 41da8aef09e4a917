//! report.html of real fits: written twice the same from saved files alone, self-contained, accessible, and safe from odd names.

use std::fs;
use std::sync::atomic::AtomicBool;

use crate::common::{Project, binary, compiler, rows};
use serde_json::json;
use unshuffle::Posterior;
use unshuffle::internals::data::{Blocks, Dataset, Notes};
use unshuffle::internals::fit;
use unshuffle::internals::posterior::read_links;
use unshuffle::internals::report;
use unshuffle::internals::sampler::chain::Silent;

const ODD: &str = "<script>alert(\"x\")</script>";

/// 20 rows with ids and links that are sampled.
fn linked() -> Project {
    let project = Project::new(&[
        ("name", json!("a <b>fit")),
        ("permutation.update.name", json!("active_set")),
        ("data.predictors", json!([ODD])),
        ("data.id", json!("person")),
        ("sampler.warmup", json!(200)),
        ("sampler.draws", json!(150)),
    ]);
    let mut text = format!("person,\"{}\",y\n", ODD.replace('"', "\"\""));
    for (k, (x, y)) in rows().into_iter().enumerate() {
        text += &format!("<i>p{k},{x},{y}\n");
    }
    project.write("data.csv", &text);
    project.run(&["fit", "config.json", "--quiet"], 0);
    project
}

fn page(project: &Project) -> String {
    fs::read_to_string(project.path("out/report.html")).unwrap()
}

#[test]
fn a_report_is_made_again_from_the_saved_files_alone() {
    let project = linked();
    let first = page(&project);
    fs::rename(project.path("data.csv"), project.path("away.csv")).unwrap();
    fs::remove_file(project.path("out/report.html")).unwrap();
    let (stdout, _) = project.run(&["report", "out"], 0);
    assert!(stdout.contains("report.html"), "{stdout}");
    assert_eq!(page(&project), first);

    check_self_contained(&first);
    check_structure(&first);
    check_names(&first);

    let (stdout, stderr) = project.run(&["summary", "out"], 0);
    let verdict = stdout
        .find("of the 20 rows")
        .or(stdout.find("among the 20 rows"));
    let bars = stdout.find("Recommended coefficients (├─●─┤ 90 % interval, × as linked,");
    let table = stdout.find("ESS_bulk");
    assert!(
        verdict < bars && bars < table && table.is_some(),
        "{stdout}"
    );
    assert!(
        verdict.is_some() && bars.is_some() && stderr.is_empty(),
        "{stdout}{stderr}"
    );

    check_aggregate(&project, &first);
    check_together(&project);
    check_colours(&project);
    check_config_in_place_of_folder(&project);
    older_folders_get_one_sentence(&project);
}

/// Every id and every value of the file is searched for, as the file has it and as tables round it.
fn check_aggregate(project: &Project, whole: &str) {
    let (stdout, _) = project.run(&["report", "out", "--aggregate"], 0);
    assert!(stdout.contains("report_aggregate.html"), "{stdout}");
    let text = |page: &str| {
        let entities = [("&#x2f;", "/"), ("&lt;", "<"), ("&gt;", ">")];
        let plain = entities.iter();
        plain.fold(page.to_string(), |page, (entity, mark)| {
            page.replace(entity, mark)
        })
    };
    let read = fs::read_to_string(project.path("out/report_aggregate.html")).unwrap();
    let (whole, aggregate) = (text(whole), text(&read));
    let folder = project.path("");
    let folder = folder.canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    assert!(whole.contains(folder) && !aggregate.contains(folder));
    let mut num_found = [0, 0];
    for (k, (_, y)) in rows().into_iter().enumerate() {
        let id = format!("<i>p{k}");
        assert!(!aggregate.contains(&id), "{id}");
        num_found[0] += usize::from(whole.contains(&id));
        for value in [format!("{y}"), format!("{y:.3}")] {
            // Shorter numbers stand for other things too.
            if value.trim_start_matches('-').len() >= 5 {
                assert!(!aggregate.contains(&value), "{value}");
            }
        }
        num_found[1] += usize::from(whole.contains(&format!("{y:.2}")));
    }
    assert_eq!(num_found, [20, 20], "what the search can see");
    check_self_contained(&aggregate);
}

/// Several fits give one page, wherever it is to be; one fit has its report in its folder.
fn check_together(project: &Project) {
    let (stdout, _) = project.run(&["report", "out", "config.json"], 0);
    assert_eq!(stdout, "Report: reports.html\n");
    let read = fs::read_to_string(project.path("reports.html")).unwrap();
    assert_eq!(read.matches("<h1>2 fits side by side</h1>").count(), 1);
    assert_eq!(read.matches("class=\"card ").count(), 2);
    for part in ["a &lt;b&gt;fit (", "(Intercept)", "&lt;script&gt;alert("] {
        assert!(read.contains(part), "{part}");
    }
    check_self_contained(&read);
    project.run(&["report", "out", "out", "--output", "both.html"], 0);
    assert!(project.path("both.html").is_file());
    // A page is replaced by a page, and nothing else is.
    project.run(&["report", "out", "out", "--output", "both.html"], 0);
    for name in [
        "config.json",
        "away.csv",
        "out/report.html",
        "out/draws_1.csv",
    ] {
        let before = fs::read(project.path(name)).unwrap();
        let (_, stderr) = project.run(&["report", "out", "out", "--output", name], 2);
        assert!(
            stderr.contains(&format!(
                "{name} is no page of several fits, so it is not replaced"
            )),
            "{stderr}"
        );
        assert_eq!(fs::read(project.path(name)).unwrap(), before);
    }
    for (arguments, part) in [
        (
            &["report", "out", "out", "--aggregate"][..],
            "--aggregate writes the report of one fit",
        ),
        (
            &["report", "out", "--output", "one.html"],
            "--output is for the page of several fits",
        ),
    ] {
        let (_, stderr) = project.run(arguments, 2);
        assert!(stderr.contains(part), "{stderr}");
    }
}

/// The status has a colour on a terminal, unless NO_COLOR is set, and none elsewhere.
fn check_colours(project: &Project) {
    let on_terminal = |variable: &str| {
        let mut script = std::process::Command::new("script");
        let line = format!("{} summary out", binary());
        script.args(["-qec", &line, "/dev/null"]);
        script.env("TERM", "xterm").env_remove("NO_COLOR");
        if !variable.is_empty() {
            script.env(variable, "1");
        }
        let output = script.current_dir(project.path("")).output();
        String::from_utf8(output.expect("script of bsdutils").stdout).unwrap()
    };
    let (plain, _) = project.run(&["summary", "out"], 0);
    let status = plain.lines().next().unwrap();
    assert!(
        status.contains("Use with care")
            || status.contains("Trust it")
            || status.contains("Do not use"),
        "{plain}"
    );
    assert!(!plain.contains('\u{1b}'));
    assert!(on_terminal("").contains("\u{1b}["));
    let without = on_terminal("NO_COLOR");
    assert!(
        without.contains(status) && !without.contains("\u{1b}["),
        "{without}"
    );
}

fn check_config_in_place_of_folder(project: &Project) {
    for command in ["summary", "diagnose", "report"] {
        let by_folder = project.run(&[command, "out"], 0);
        let by_config = project.run(&[command, "config.json"], 0);
        let names =
            |(out, _): (String, String)| out.replace(project.path("").to_str().unwrap(), "");
        assert_eq!(names(by_config), names(by_folder), "{command}");
    }
    let (_, stderr) = project.run(&["summary", "away.csv"], 2);
    assert!(stderr.contains("away.csv"), "{stderr}");
}

fn check_self_contained(page: &str) {
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for reference in [
        "http:", "https:", "src=", "link=", "<link", "@import", "url(",
    ] {
        let behind = outside.find(reference).map(|k| &outside[k..]);
        let shown: Option<String> = behind.map(|rest| rest.chars().take(60).collect());
        assert_eq!(shown, None, "{reference}");
    }
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

fn check_structure(page: &str) {
    assert_eq!(page.matches("<h1>").count(), 1);
    let levels: Vec<u32> = page
        .match_indices("<h")
        .filter_map(|(k, _)| page[k + 2..].chars().next()?.to_digit(10))
        .collect();
    assert!(
        levels.len() > 6 && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
        "{levels:?}"
    );
    let figures: Vec<&str> = page.split("<svg").skip(1).collect();
    assert!(figures.len() >= 3, "forest plot, matrix, before and after");
    for figure in figures {
        let figure = figure.split("</svg>").next().unwrap();
        assert!(figure.contains("role=\"img\"") && figure.contains("<title>"));
        assert!(figure.contains("<desc>") && !figure.contains("<desc></desc>"));
    }
    for head in page
        .split("<th")
        .skip(1)
        .filter(|rest| !rest.starts_with("ead"))
    {
        assert!(head.starts_with(" scope="), "<th{}", &head[..30]);
    }
    let mut targets = page
        .split("href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    assert!(targets.all(|id| page.contains(&format!("id=\"{id}\""))));
    for landmark in ["<header>", "<nav ", "<main>", "<footer>"] {
        assert_eq!(page.matches(landmark).count(), 1, "{landmark}");
    }
    for part in [
        "n = 20",
        "1 predictor",
        "2 chains \u{d7} 150 draws",
        "P(moved)",
        "config.json",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

fn check_names(page: &str) {
    assert_eq!(page.matches("<script").count(), 1, "our own");
    assert!(page.contains("&lt;script&gt;alert("));
    assert!(page.contains("&lt;i&gt;p0") && !page.contains("<i>p0"));
    assert!(page.contains("a &lt;b&gt;fit") && !page.contains("<b>fit"));
}

/// Files that fits of older versions did not write.
fn older_folders_get_one_sentence(project: &Project) {
    let rows = fs::read_to_string(project.path("out/rows.csv")).unwrap();
    project.write("out/rows.csv", &rows.replace("response", "other"));
    let (_, stderr) = project.run(&["report", "out"], 2);
    assert!(
        stderr.contains("the column `response`") && stderr.contains("fit again"),
        "{stderr}"
    );
    let (stdout, stderr) = project.run(&["summary", "out"], 0);
    assert!(
        stdout.contains("StdDev") && stderr.contains("no verdict"),
        "{stdout}{stderr}"
    );
    project.write("out/rows.csv", &rows);
    fs::remove_file(project.path("out/model.stan")).unwrap();
    let (_, stderr) = project.run(&["report", "out"], 2);
    assert!(
        stderr.contains("model.stan") && stderr.contains("fit again"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1);
}

#[test]
fn a_fit_that_keeps_its_links_has_no_section_on_them() {
    let project = Project::new(&[
        ("sampler.warmup", json!(200)),
        ("sampler.draws", json!(100)),
    ]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let first = page(&project);
    assert!(!first.contains("id=\"links\"") && !first.contains("href=\"#links\""));
    assert!(first.contains("n = 20") && first.contains("links kept"));
    project.run(&["report", "out"], 0);
    assert_eq!(page(&project), first);
}

/// As if the file had a row more before each one, which was dropped.
fn with_dropped_rows(mut data: Dataset) -> Dataset {
    let num_rows = data.num_rows();
    data.row_numbers = (1..=num_rows).map(|k| 2 * k).collect();
    data.blocks = Some(Blocks {
        of_row: (0..num_rows).map(|row| row % 2).collect(),
        labels: vec!["north".into(), "south".into()],
    });
    data.notes = Notes {
        num_dropped: num_rows,
        missing: vec![("x".into(), num_rows)],
        ..Notes::default()
    };
    data
}

#[test]
fn row_numbers_are_those_of_the_file_from_the_fit_to_the_report() {
    let project = Project::new(&[
        ("permutation.update.name", json!("active_set")),
        ("sampler.draws", json!(100)),
    ]);
    let config = project.config();
    let data = with_dropped_rows(fit::read_data(&config).unwrap());
    let prepared = fit::prepare_with(config, data, &compiler()).unwrap();
    let stop = AtomicBool::new(false);
    let options = fit::FitOptions {
        num_threads: 2,
        compare: false,
        existing: fit::Existing::Replace,
        checkpoint_every: fit::CHECKPOINT_EVERY,
    };
    let fitted = prepared.fit(&options, &stop, &Silent).unwrap();
    let folder = project.path("out");

    let links = read_links(&folder.join("links_1.csv")).unwrap();
    assert!(!links.is_empty());
    let even = |number: usize| number.is_multiple_of(2) && (2..=40).contains(&number);
    assert!(links.iter().all(|l| even(l.row) && even(l.linked_to)));
    let numbers = |name: &str, columns: &[usize]| -> Vec<usize> {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let lines = text.lines().skip(1);
        let fields = lines.flat_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            columns.iter().map(move |k| fields[*k].parse().unwrap())
        });
        fields.collect()
    };
    // row and best_link behind the block; row and column.
    let in_rows = numbers("rows.csv", &[0, 4]);
    assert!(in_rows.len() == 40 && in_rows.iter().all(|number| even(*number)));
    assert!(numbers("pi_mean.csv", &[0, 1]).into_iter().all(even));
    assert_eq!(numbers("rows.csv", &[0])[..3], [2, 4, 6]);

    let saved = Posterior::read(&folder).unwrap();
    let (before, after) = (fitted.links.unwrap(), saved.links.as_ref().unwrap());
    for row in 0..20 {
        assert_eq!(before.row(row), after.row(row));
    }
    assert_eq!(saved.row_label(19), "40");
    report::write(&saved).unwrap();
    let html = page(&project);
    for part in [
        "20 rows of the file were left out because a value is missing: x (20 rows).",
        "By the data the rows stand in 2 blocks",
        "<th scope=\"row\" class=\"key\"><a href=\"#why-40\">40</a></th>",
        "<th scope=\"row\" class=\"key\">south</th><td>10</td>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("why-39") && html.contains("id=\"why-40\""));

    // A folder of an older version has no data.json and no sizes: the names come from the config.
    fs::remove_file(folder.join("data.json")).unwrap();
    let status = fs::read_to_string(folder.join("status.json")).unwrap();
    let mut status: serde_json::Value = serde_json::from_str(&status).unwrap();
    status.as_object_mut().unwrap().remove("sizes");
    fs::write(folder.join("status.json"), status.to_string()).unwrap();
    let older = Posterior::read(&folder).unwrap();
    assert_eq!(older.predictors(), saved.predictors());
}
