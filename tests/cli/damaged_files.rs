//! Files of a finished fit that are gone, cut short at the end of a line, or edited, which read well otherwise: each is named.

use std::fs;

use crate::common::Project;
use serde_json::{Value, json};

const FIT: [&str; 3] = ["fit", "config.json", "--quiet"];

/// A finished fit whose links are sampled, with every table that a fit writes.
fn fitted() -> Project {
    let project = Project::new(&[
        ("permutation.update.name", json!("active_set")),
        ("sampler.draws", json!(100)),
    ]);
    project.run(&FIT, 0);
    project
}

fn read(project: &Project, name: &str) -> String {
    fs::read_to_string(project.path("out").join(name)).unwrap()
}

/// Removes the last line of a file; returns its text before and what is said of it.
fn cut(project: &Project, name: &str) -> (String, String) {
    let whole = read(project, name);
    let lines: Vec<&str> = whole.lines().collect();
    let kept = lines[..lines.len() - 1].join("\n") + "\n";
    project.write(&format!("out/{name}"), &kept);
    let says = format!(
        "out/{name} has {} of the {} bytes that the fit wrote",
        kept.len(),
        whole.len()
    );
    (whole, says)
}

/// Changes the last digit of a file, which keeps its size; returns its text before and what is said of it.
fn edit(project: &Project, name: &str) -> (String, String) {
    let whole = read(project, name);
    let at = whole.rfind(|c: char| c.is_ascii_digit()).unwrap();
    let digit = if &whole[at..=at] == "1" { "2" } else { "1" };
    let edited = format!("{}{digit}{}", &whole[..at], &whole[at + 1..]);
    project.write(&format!("out/{name}"), &edited);
    (whole, format!("out/{name} was changed after the fit"))
}

/// Exit code and stderr of a command; both are those of one sentence, or of none.
fn ends(project: &Project, line: &str, code: i32) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let (_, stderr) = project.run(&words, code);
    assert!(stderr.lines().count() <= 1, "{line}: {stderr}");
    stderr
}

#[test]
fn a_table_that_lost_lines_is_named_by_every_command() {
    let project = fitted();
    for name in ["coefficients.csv", "baselines.csv", "known_rate.csv"] {
        let (whole, says) = cut(&project, name);
        // A verdict would be made of what is left.
        for line in [
            "report out",
            "report out --aggregate",
            "report out out",
            "summary out --strict",
        ] {
            let stderr = ends(&project, line, 2);
            assert!(stderr.contains(&says), "{line}: {stderr}");
            assert!(
                stderr.contains("make it again with `unshuffle fit --resume`"),
                "{stderr}"
            );
        }
        let (stdout, stderr) = project.run(&["summary", "out"], 0);
        assert!(stderr.contains(&format!("no verdict: {says}")), "{stderr}");
        let stderr = stderr.replace(project.path("").to_str().unwrap(), "");
        assert!(
            stdout.contains("ESS_bulk") && stderr.starts_with("warning: "),
            "{stdout}{stderr}"
        );
        // These need other files.
        for line in [
            "diagnose out",
            "export out --sets 1 --force",
            "predict out data.csv",
        ] {
            let stderr = ends(&project, line, 0);
            assert!(
                stderr.starts_with("warning: ") && stderr.contains(&says),
                "{line}: {stderr}"
            );
            ends(&project, &format!("{line} --strict"), 1);
        }
        project.write(&format!("out/{name}"), &whole);
    }
    for name in ["rows.csv", "draws_1.csv"] {
        let (whole, _) = cut(&project, name);
        project.run(
            &["report", "out", "--strict"],
            if name == "rows.csv" { 2 } else { 1 },
        );
        project.write(&format!("out/{name}"), &whole);
    }
    // Nobody but other programs reads these two.
    for name in ["summary.csv", "pi_mean.csv"] {
        let (whole, says) = cut(&project, name);
        for line in ["summary out", "report out", "diagnose out"] {
            let stderr = ends(&project, line, 0);
            assert!(
                stderr.starts_with("warning: ") && stderr.contains(&says),
                "{line}: {stderr}"
            );
        }
        project.write(&format!("out/{name}"), &whole);
    }
    fs::remove_file(project.path("out/data.json")).unwrap();
    let stderr = ends(&project, "predict out data.csv", 2);
    assert!(
        stderr.contains("out/data.json is gone, which the fit wrote"),
        "{stderr}"
    );
}

/// One digit of a table or of a draw: the file keeps its size and reads well.
#[test]
fn a_file_that_was_edited_is_named_by_every_command() {
    let project = fitted();
    for (name, code_of_verdict) in [
        ("coefficients.csv", 2),
        ("known_rate.csv", 2),
        ("draws_1.csv", 0),
        ("pi_mean.csv", 0),
    ] {
        let (whole, says) = edit(&project, name);
        for (line, code) in [
            ("report out", code_of_verdict),
            ("summary out", 0),
            ("diagnose out", 0),
            ("export out --sets 1 --force", 0),
            ("predict out data.csv", 0),
        ] {
            let stderr = ends(&project, line, code);
            assert!(stderr.contains(&says), "{name}, {line}: {stderr}");
        }
        ends(&project, "export out --sets 1 --force --strict", 1);
        project.run(&["diagnose", "out", "--strict"], 1);
        project.write(&format!("out/{name}"), &whole);
        assert_eq!(ends(&project, "summary out --strict", 0), "");
    }
    for name in ["rows.csv", "trust.json", "links_2.csv"] {
        let (whole, says) = edit(&project, name);
        let code = if name == "links_2.csv" { 1 } else { 2 };
        let stderr = ends(&project, "export out --sets 1 --force --strict", code);
        assert!(stderr.contains(&says), "{name}: {stderr}");
        project.write(&format!("out/{name}"), &whole);
    }
}

/// What other commands write, paths that are edited, and folders of older versions.
#[test]
fn whole_folders_raise_no_alarm() {
    let project = fitted();
    let all = [
        "report out",
        "report out --aggregate",
        "export out --sets 2",
        "summary out",
        "diagnose out",
    ];
    for line in all {
        assert_eq!(ends(&project, line, 0), "", "{line}");
    }
    fs::remove_file(project.path("out/report.html")).unwrap();
    let config = read(&project, "config.json");
    let config: Value = serde_json::from_str(&config).unwrap();
    project.write("out/config.json", &config.to_string());
    for line in &all[3..] {
        assert_eq!(ends(&project, line, 0), "", "{line}");
    }
    let mut status: Value = serde_json::from_str(&read(&project, "status.json")).unwrap();
    assert!(status["sizes"]["coefficients.csv"].as_u64().unwrap() > 0);
    // Folders of versions that wrote sizes, and those of versions that wrote neither.
    for key in ["sha256", "sizes"] {
        assert!(status[key]["known_rate.csv"] != Value::Null);
        status.as_object_mut().unwrap().remove(key);
        project.write("out/status.json", &status.to_string());
        let (whole, _) = edit(&project, "known_rate.csv");
        assert_eq!(ends(&project, "report out", 0), "");
        project.write("out/known_rate.csv", &whole);
    }
    cut(&project, "known_rate.csv");
    assert_eq!(ends(&project, "report out", 0), "");
}

#[test]
fn resuming_makes_lost_files_again() {
    let project = fitted();
    let draws = project.draws("out");
    let tables = [
        "coefficients.csv",
        "baselines.csv",
        "known_rate.csv",
        "links_2.csv",
    ];
    let before = tables.map(|name| read(&project, name));
    fs::remove_file(project.path("out/coefficients.csv")).unwrap();
    cut(&project, "baselines.csv");
    let (_, damaged) = cut(&project, "draws_2.csv");
    let resume = [&FIT[..], &["--resume"]].concat();
    let (_, stderr) = project.run(&resume, 0);
    for says in [
        "out/coefficients.csv is gone, which the fit wrote: it is made again.".to_string(),
        format!("{damaged}: chain 2 is sampled again, with the same draws."),
    ] {
        assert!(stderr.contains(&says), "{stderr}");
    }
    assert_eq!(project.draws("out"), draws);
    assert_eq!(tables.map(|name| read(&project, name)), before);
    assert_eq!(ends(&project, "summary out --strict", 0), "");
    let (stdout, _) = project.run(&["fit", "config.json", "--resume"], 0);
    assert!(stdout.contains("nothing left to do"), "{stdout}");
    for name in ["draws_1.csv", "links_2.csv", "coefficients.csv"] {
        let (whole, says) = edit(&project, name);
        let (_, stderr) = project.run(&resume, 0);
        assert!(stderr.contains(&says), "{stderr}");
        match name.starts_with("draws") {
            true => assert_eq!(project.draws("out"), draws),
            false => assert_eq!(read(&project, name), whole),
        }
        assert_eq!(ends(&project, "summary out --strict", 0), "");
    }
    // More draws have other sizes, which are recorded anew.
    let sizes = |project: &Project| -> Value {
        let status: Value = serde_json::from_str(&read(project, "status.json")).unwrap();
        status["sizes"]["draws_1.csv"].clone()
    };
    let earlier = sizes(&project).as_u64().unwrap();
    let more = [&resume[..], &["--set", "sampler.draws=200"]].concat();
    project.run(&more, 0);
    assert!(sizes(&project).as_u64().unwrap() > earlier);
    let (_, says) = cut(&project, "coefficients.csv");
    let stderr = ends(&project, "report out", 2);
    assert!(stderr.contains(&says), "{stderr}");
}
