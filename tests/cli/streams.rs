//! Writes that fail, readers that stop reading, and names that would steer a terminal.

use std::fs;
use std::process::Command;

use crate::common::{Project, binary, ended_with, including};
use serde_json::{Value, json};

/// Runs a line of sh in the project, with the program as `$U`; returns the exit code, stdout and stderr.
fn shell(project: &Project, line: &str) -> (i32, String, String) {
    let output = Command::new("bash")
        .args(["-c", line])
        .env("U", binary())
        .env_remove("BRIDGESTAN")
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().expect("no signal");
    (code, text(output.stdout), text(output.stderr))
}

/// Ended with `code` and one sentence on stderr that has `says`.
fn assert_sentence(project: &Project, line: &str, code: i32, says: &str) {
    let (found, _, stderr) = shell(project, line);
    assert_eq!(found, code, "{line}: {stderr}");
    assert!(stderr.contains(says), "{line}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
}

fn fitted() -> Project {
    let project = Project::new(&[]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    project
}

#[test]
fn a_closed_stdout_is_told_where_there_was_something_to_print() {
    let project = fitted();
    project.write("new.csv", "x\n1\n2\n");
    let closed = "cannot write to the standard output (it is closed)";
    for command in [
        "summary out",
        "diagnose out",
        "predict out new.csv",
        "check config.json",
        "fit config.json --force",
        "--json summary out",
        "schema",
        "--help",
    ] {
        let line = format!("$U {command} >&-");
        let (code, _, stderr) = shell(&project, &line);
        assert_eq!(code, 2, "{line}: {stderr}");
        let told = stderr.lines().filter(|line| line.contains(closed));
        assert_eq!(told.count(), 1, "{line}: {stderr}");
        // Who sends it there does not want it, and programs that do so may open it for reading, too.
        for stdout in [">/dev/null", "1<>/dev/null"] {
            let (code, _, stderr) = shell(&project, &format!("$U {command} {stdout}"));
            assert_eq!(code, 0, "{command} {stdout}: {stderr}");
        }
    }
    // Nothing to print, and a closed stderr or stdin.
    assert_sentence(&project, "$U summary elsewhere >&-", 2, "elsewhere");
    for line in ["$U summary out 2>&-", "$U summary out <&- 2>&-"] {
        let (code, _, stderr) = shell(&project, line);
        assert_eq!((code, stderr.as_str()), (0, ""), "{line}");
    }
}

#[test]
fn a_full_disk_behind_stdout_is_told_and_strict_is_judged_before() {
    let project = fitted();
    let full = "cannot write to the standard output (No space left on device";
    assert_sentence(&project, "$U check config.json >/dev/full", 2, full);
    assert_sentence(&project, "$U summary out >/dev/full", 2, full);
    assert_sentence(&project, "$U schema >/dev/full", 2, full);
    assert_sentence(&project, "$U --help >/dev/full", 2, full);
    assert_sentence(&project, "$U --json summary out >/dev/full", 2, full);
    let new: String = (0..4_000).map(|k| format!("{k}\n")).collect();
    project.write("new.csv", &format!("x\n{new}"));
    let limited = "trap '' XFSZ; ulimit -f 50; $U predict out new.csv";
    let large = "cannot write to the standard output (File too large";
    assert_sentence(&project, &format!("{limited} > p.csv"), 2, large);
    let line = format!("{limited} --output q.csv");
    assert_sentence(&project, &line, 2, "cannot write q.csv: File too large");
    assert!(!project.path("q.csv").exists());
    project.write("q.csv", "mine");
    shell(&project, &format!("{line} --force"));
    assert_eq!(fs::read_to_string(project.path("q.csv")).unwrap(), "mine");
    // Too few draws: --strict ends with 1, wherever the table goes.
    let short = "$U fit config.json --quiet --set sampler.draws=12 --set output=short --strict";
    let (code, _, stderr) = shell(&project, &format!("{short} >/dev/full"));
    assert_eq!(code, 1, "{stderr}");
    assert_eq!(
        shell(&project, "$U diagnose short --strict >/dev/full").0,
        1
    );
    let line = "$U diagnose short --strict | true; exit ${PIPESTATUS[0]}";
    assert_eq!(shell(&project, line).0, 1);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let project = fitted();
    let line = "$U schema | head -1; exit ${PIPESTATUS[0]}";
    let (code, stdout, stderr) = shell(&project, line);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "{\n", ""));
    let line = "$U summary out | true; exit ${PIPESTATUS[0]}";
    assert_eq!(shell(&project, line).0, 0);
}

#[test]
fn a_full_disk_behind_stderr_ends_nothing() {
    let project = Project::new(&[]);
    assert_eq!(shell(&project, "$U check config.json 2>/dev/full").0, 0);
    assert_eq!(shell(&project, "$U check none.json 2>/dev/full").0, 2);
    let (code, stdout, _) = shell(&project, "$U fit config.json 2>/dev/full");
    assert_eq!(code, 0);
    assert!(stdout.contains("Results: out"), "{stdout}");
}

#[test]
fn a_disk_that_fills_up_while_sampling_ends_with_2_and_the_file() {
    let project = Project::new(&[("sampler.draws", json!(2000))]);
    let line = "trap '' XFSZ; ulimit -f 40; $U fit config.json --quiet";
    let says = "out/draws_1.csv: File too large";
    let (code, _, stderr) = shell(&project, &format!("{line} --threads 1"));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains(says), "{stderr}");
    let (_, stdout, _) = shell(&project, "$U diagnose out");
    assert!(!stdout.contains("No problems found"), "{stdout}");
}

#[test]
fn quiet_hides_no_problem() {
    let project = Project::new(&[("sampler.draws", json!(12))]);
    let (_, stderr) = project.run(&["fit", "config.json", "--quiet"], 0);
    assert!(
        stderr.contains("warning: Bulk ESS is below 100 per chain"),
        "{stderr}"
    );
    project.configure(&[("sampler.draws", json!(1))]);
    let (stdout, _) = project.run(&["fit", "config.json", "--force"], 0);
    assert!(!stdout.contains("No problems found"), "{stdout}");
    let (stdout, _) = project.run(&["diagnose", "out", "--strict"], 1);
    assert!(!stdout.contains("No problems found"), "{stdout}");
}

#[test]
fn a_lost_chain_is_a_problem() {
    let project = fitted();
    fs::remove_file(project.path("out/draws_2.csv")).unwrap();
    let (stdout, _) = project.run(&["diagnose", "out", "--strict"], 1);
    assert!(stdout.contains("there are 200 of 400 draws"), "{stdout}");
    assert!(!stdout.contains("No problems found"), "{stdout}");
}

/// Half of the links would pass for a fit with fewer wrong ones.
#[test]
fn lost_links_are_noticed() {
    let project = Project::new(&[("permutation.update.name", json!("active_set"))]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let links = fs::read_to_string(project.path("out/links_1.csv")).unwrap();
    let lines: Vec<&str> = links.lines().collect();
    assert!(lines.len() > 10);
    let half = lines[..lines.len() / 2].join("\n") + "\n";
    project.write("out/links_1.csv", &half);
    let says = "bytes that the fit wrote: make it again with `unshuffle fit --resume`";
    let of_older_versions =
        "links_1.csv is damaged, it has not the links of all draws: fit again with --force";
    let status = fs::read_to_string(project.path("out/status.json")).unwrap();
    for says in [says, of_older_versions] {
        for line in ["report out", "diagnose out --strict", "export out"] {
            assert_sentence(&project, &format!("$U {line}"), 2, says);
        }
        let mut without_sizes: Value = serde_json::from_str(&status).unwrap();
        without_sizes.as_object_mut().unwrap().remove("sizes");
        project.write("out/status.json", &without_sizes.to_string());
    }
    project.write("out/status.json", &status);
    project.write("out/links_1.csv", &links);
    assert_eq!(shell(&project, "$U report out").0, 0);
}

#[test]
fn check_says_ready_only_where_a_fit_can_write() {
    let project = fitted();
    let (stdout, _) = project.run(&["check", "config.json"], 0);
    assert!(!stdout.contains("Everything is ready"), "{stdout}");
    assert!(stdout.contains("out already holds a fit"), "{stdout}");
    let elsewhere = ["check", "config.json", "--set", "output=other/place"];
    let (stdout, _) = project.run(&elsewhere, 0);
    assert!(
        stdout.ends_with("Everything is ready to fit.\n"),
        "{stdout}"
    );
    assert!(!project.path("other").exists());
    // More than any machine has.
    let endless = "sampler={\"draws\":1000000000,\"chains\":10000}";
    for command in [
        vec!["check", "config.json"],
        vec!["fit", "config.json"],
        vec!["fit", "plan", "config.json"],
    ] {
        let more = ["--set", endless, "--set", "output=other/place"];
        let (_, stderr) = project.run(&[command, more.to_vec()].concat(), 2);
        let mut lines = stderr.lines();
        let warning = lines.next().unwrap();
        assert!(
            warning.contains("GB of disk; lower sampler.draws"),
            "{stderr}"
        );
        let error = lines.next().unwrap();
        assert!(
            error.starts_with("error: the draws take at least "),
            "{stderr}"
        );
        assert!(
            error.contains(" GB are free: lower sampler.draws"),
            "{stderr}"
        );
        assert!(!project.path("other").exists());
    }
}

#[test]
fn names_cannot_steer_the_terminal_or_the_page() {
    let name = "x\u{1b}[31m";
    let data = json!({"file": "data.csv", "response": "y", "predictors": [name]});
    let project = Project::new(&[("data", data)]);
    let text = fs::read_to_string(project.path("data.csv")).unwrap();
    project.write("data.csv", &text.replacen('x', name, 1));
    let (stdout, stderr) = project.run(&["fit", "config.json", "--compare"], 0);
    let (summary, _) = project.run(&["summary", "out"], 0);
    let page = fs::read_to_string(project.path("out/report.html")).unwrap();
    for shown in [stdout, summary, page] {
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(shown.contains("x\u{241b}[31m"), "{shown}");
    }
    assert!(!stderr.contains('\u{1b}'), "{stderr}");
}

#[test]
fn paths_with_commas_colons_and_newlines_are_paths() {
    let folder = "a,b:c\nd";
    let project = Project::new(&[]);
    for file in ["data.csv", "config.json"] {
        let text = fs::read_to_string(project.path(file)).unwrap();
        project.write(&format!("{folder}/{file}"), &text);
    }
    let config = format!("{folder}/config.json");
    let output = format!("{folder}/out");
    project.run(&["fit", &config, "--quiet"], 0);
    let (stdout, _) = project.run(&["summary", &output], 0);
    assert!(stdout.contains("\nx  "), "{stdout}");
}

#[test]
fn the_saved_program_has_the_included_text() {
    let project = Project::new(&[("model.stan", json!("including.stan"))]);
    let program = including(&project);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let saved = fs::read_to_string(project.path("out/model.stan")).unwrap();
    assert_eq!(saved, program);
}

#[test]
fn predict_refuses_a_config_that_was_edited() {
    let project = fitted();
    let path = project.path("out/config.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["data"]["intercept"] = json!(false);
    project.write("out/config.json", &config.to_string());
    project.write("new.csv", "x\n1\n");
    let (_, stderr) = project.run(&["predict", "out", "new.csv"], 2);
    assert!(
        stderr.contains("says the columns x, but (Intercept), x were fitted"),
        "{stderr}"
    );
    // What no column tells; paths may change.
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["sampler"]["seed"] = json!(99);
    project.write("out/config.json", &config.to_string());
    for command in [vec!["predict", "out", "new.csv"], vec!["export", "out"]] {
        let (_, stderr) = project.run(&command, 2);
        assert!(
            stderr.contains("out/config.json is not as the fit wrote it"),
            "{stderr}"
        );
    }
    let data = fs::read_to_string(project.path("data.csv")).unwrap();
    project.write("moved.csv", &data);
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["data"]["file"] = json!(project.path("moved.csv"));
    project.write("out/config.json", &config.to_string());
    project.run(&["predict", "out", "new.csv"], 0);
}

#[test]
fn a_saved_config_that_was_edited_is_told_and_not_gone_on_with() {
    let project = fitted();
    let says = "out/config.json is not as the fit wrote it: put it back as it was";
    let warned = |args: &[&str], code: i32| {
        let (_, stderr) = project.run(args, code);
        stderr
            .lines()
            .next()
            .is_some_and(|line| line.contains(says))
    };
    for command in ["summary", "diagnose", "report"] {
        assert!(!warned(&[command, "out"], 0), "{command}");
    }
    let path = project.path("out/config.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["sampler"]["seed"] = json!(99);
    project.write("out/config.json", &config.to_string());
    for command in ["summary", "diagnose", "report"] {
        assert!(warned(&[command, "out"], 0), "{command}");
    }
    assert!(warned(&["summary", "--strict", "out"], 1));
    // It differs from itself in nothing, and the draws have another seed.
    let resume = ["fit", "out/config.json", "--resume"];
    assert!(warned(&resume, 2));
    project.write("out/config.json", &text);
    assert!(!warned(&resume, 0));
}

#[test]
fn predict_does_not_write_over_the_fit_and_names_a_file_that_is_empty() {
    let project = fitted();
    project.write("new.csv", "x\n1\n");
    let draws = fs::read_to_string(project.path("out/draws_1.csv")).unwrap();
    let over = ["predict", "out", "new.csv", "--force", "--output"];
    let (_, stderr) = project.run(&[&over[..], &["out/draws_1.csv"]].concat(), 2);
    assert!(stderr.contains("is the file that is read"), "{stderr}");
    let kept = fs::read_to_string(project.path("out/draws_1.csv")).unwrap();
    assert_eq!(kept, draws);
    project.write("out/draws_1.csv", "");
    let (_, stderr) = project.run(&["summary", "out"], 2);
    assert!(
        stderr.contains("out/draws_1.csv, line 1: the names of the columns are missing"),
        "{stderr}"
    );
}

#[test]
fn no_file_of_the_current_folder_or_of_pythonpath_is_run_as_pip() {
    let project = Project::new(&[]);
    project.write("pip/__init__.py", "");
    let ran = project.path("ran");
    project.write("pip/__main__.py", &format!("open({ran:?}, 'w')\n"));
    project.run(&["doctor"], 0);
    assert!(!ran.exists());
    let mut doctor = project.unshuffle(&["doctor"]);
    ended_with(doctor.env("PYTHONPATH", project.path("")), 0);
    assert!(!ran.exists());
}
