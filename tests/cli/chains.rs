//! `unshuffle fit plan`, `run` and `collect`: chains in processes of their own are the chains of one process.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Project, binary};
use crate::resume::signal;
use serde_json::{Value, json};

/// Three chains with links, long enough to be killed.
fn project() -> Project {
    Project::new(&[
        ("permutation.update.name", json!("active_set")),
        ("sampler.chains", json!(3)),
        ("sampler.warmup", json!(500)),
        ("sampler.draws", json!(4001)),
        ("sampler.thin", json!(2)),
    ])
}

fn part<'a>(part: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["fit", part, "config.json"], more].concat()
}

fn run(chain: &str) -> Vec<&str> {
    part(
        "run",
        &["--quiet", "--checkpoint", "0.01", "--chain", chain],
    )
}

/// All text but the lines with times.
fn text(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter(|line| !line.contains(" seconds ("));
    lines.map(|line| format!("{line}\n")).collect()
}

fn json_of(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// A JSON file without its times, and without the hash of a text with times.
fn timeless(path: &Path) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(entries) => {
                entries.retain(|key, _| !key.ends_with("seconds") && key != "sha256");
                entries.values_mut().for_each(strip);
            }
            Value::Array(values) => values.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = json_of(path).unwrap();
    strip(&mut value);
    value
}

/// The names of all files, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// summary.csv without the column of effective draws per second.
fn summary(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let kept = |row: csv::StringRecord| {
        let fields = header.iter().zip(row.iter());
        let fields = fields.filter(|(name, _)| !name.ends_with("/s"));
        fields.map(|(_, field)| field.to_string()).collect()
    };
    reader.records().map(|row| kept(row.unwrap())).collect()
}

fn assert_same(project: &Project, one: &str, other: &str) {
    let [one, other] = [one, other].map(|folder| project.path(folder));
    assert_eq!(names(&one), names(&other));
    for name in names(&one) {
        let [one, other] = [&one, &other].map(|folder| folder.join(&name));
        match name.as_str() {
            // These name the folder, or the process and the host.
            "config.json" | "report.html" | "status.json" => {}
            "summary.csv" => assert_eq!(summary(&one), summary(&other)),
            _ if name.ends_with(".json") => assert_eq!(timeless(&one), timeless(&other), "{name}"),
            _ => assert!(text(&one) == text(&other), "{name} differs"),
        }
    }
}

fn start(project: &Project, arguments: &[&str]) -> Child {
    Command::new(binary())
        .args(arguments)
        .current_dir(project.path(""))
        .env_remove("BRIDGESTAN")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the checkpoint of a chain has come so far; the limit only keeps a broken program from hanging the tests.
fn wait_for(project: &Project, chain: usize, iteration: u64) {
    let path = project.path(&format!("out/checkpoint_{chain}.json"));
    let start = Instant::now();
    while json_of(&path).map_or(0, |saved| saved["state"]["iteration"].as_u64().unwrap())
        < iteration
    {
        assert!(start.elapsed() < Duration::from_secs(300), "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn chains_in_processes_of_their_own_give_the_files_of_one_process() {
    let project = project();
    let whole = ["fit", "config.json", "--quiet", "--compare"];
    project.run(&[&whole[..], &["--set", "output=whole"]].concat(), 0);
    let (stdout, _) = project.run(&part("plan", &[]), 0);
    assert_eq!(
        stdout,
        "out: 3 chains, 0 of them done\nFor a job array: numbers 1 to 3\n"
    );
    // Two at once, and one as a job of an array that knows its number from the environment alone.
    let mut both = ["3", "1"].map(|chain| start(&project, &run(chain)));
    for child in &mut both {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    let (_, stderr) = project.run(&["summary", "out"], 0);
    assert!(
        stderr.contains("is not collected yet: 1 of 3 chains and 2001 of 6003 draws are missing"),
        "{stderr}"
    );
    let mut job = project.unshuffle(&part("run", &["--quiet"]));
    job.env("SLURM_ARRAY_TASK_ID", "2").assert().success();
    let (stdout, _) = project.run(&part("plan", &[]), 0);
    assert!(stdout.contains("3 chains, 3 of them done"), "{stdout}");
    project.run(&part("collect", &["--quiet", "--compare"]), 0);
    assert_same(&project, "whole", "out");
    let status = json_of(&project.path("out/status.json")).unwrap();
    assert_eq!(status["state"], "finished");
    // The comparison can fail: another seed gives other draws.
    let other = ["--set", "output=other", "--set", "sampler.seed=8"];
    project.run(&[&whole[..], &other].concat(), 0);
    let [one, two] =
        ["whole", "other"].map(|folder| text(&project.path(folder).join("draws_1.csv")));
    assert!(one != two);
    // Jobs that are sent again leave everything as it is.
    for again in [run("2"), part("collect", &[])] {
        let (stdout, _) = project.run(&again, 0);
        assert!(stdout.contains("is finished: there is nothing left to do"));
    }
    let (_, stderr) = project.run(&part("plan", &[]), 2);
    assert!(stderr.contains("already holds a fit"), "{stderr}");
}

#[test]
fn a_killed_chain_goes_on_and_chains_that_are_missing_are_named() {
    let project = project();
    let whole = ["fit", "config.json", "--quiet", "--set", "output=whole"];
    project.run(&whole, 0);
    project.run(&part("plan", &[]), 0);
    project.run(&run("3"), 0);
    let mut killed = start(&project, &run("2"));
    wait_for(&project, 2, 600);
    // It would end before the other commands have seen it.
    signal(&killed, "-STOP");
    // Nobody else samples it meanwhile, and nobody else has the folder.
    let (_, stderr) = project.run(&run("2"), 2);
    assert!(
        stderr.contains("another process is sampling chain 2"),
        "{stderr}"
    );
    for other in [
        vec!["fit", "config.json", "--force"],
        part("plan", &["--force"]),
    ] {
        let (_, stderr) = project.run(&other, 2);
        assert!(stderr.contains("a chain is fitting into"), "{stderr}");
    }
    killed.kill().unwrap();
    assert_eq!(killed.wait().unwrap().code(), None);
    let (_, stderr) = project.run(&part("collect", &[]), 2);
    assert!(
        stderr.contains("the fit in out is not complete: chain 1 has not begun, chain 2 has "),
        "{stderr}"
    );
    assert!(stderr.contains(" of 4501 iterations; run them"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1);
    assert!(!project.path("out/summary.csv").exists());
    // The time limit of a job sends SIGTERM.
    let mut stopped = start(&project, &run("1"));
    wait_for(&project, 1, 600);
    signal(&stopped, "-TERM");
    assert_eq!(stopped.wait().unwrap().code(), Some(130));
    // Planning again keeps what is there.
    project.run(&part("plan", &[]), 0);
    wait_for(&project, 2, 600);
    for chain in ["1", "2"] {
        project.run(&run(chain), 0);
    }
    project.run(&part("collect", &["--quiet"]), 0);
    assert_same(&project, "whole", "out");
}

#[test]
fn wrong_calls_are_answered_in_one_sentence() {
    let project = project();
    let refused = |arguments: &[&str], expected: &str| {
        let (_, stderr) = project.run(arguments, 2);
        assert!(stderr.contains(expected), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    };
    refused(&run("1"), "no fit is planned in ");
    refused(&part("collect", &[]), "no fit is planned in ");
    project.run(&part("plan", &[]), 0);
    project.run(&run("1"), 0);
    refused(
        &run("4"),
        "--chain 4 is not in the plan, whose last one is 3",
    );
    for (setting, expected) in [
        ("sampler.seed=8", "sampler.seed differs (7 there, 8 now)"),
        (
            "sampler.draws=9999",
            "sampler.draws differs (4001 there, 9999 now)",
        ),
        (
            "sampler.draws=99",
            "sampler.draws differs (4001 there, 99 now)",
        ),
        ("sampler.chains=2", "sampler.chains differs"),
    ] {
        let set = ["--set", setting];
        refused(&[run("1"), set.to_vec()].concat(), expected);
        refused(&part("collect", &set), expected);
    }
    refused(
        &part("plan", &["--set", "sampler.seed=8"]),
        "was planned otherwise",
    );
    let data = fs::read_to_string(project.path("data.csv")).unwrap();
    project.write("data.csv", &data.replacen('1', "2", 1));
    refused(&run("2"), "data.csv changed: put it back");
    let (stdout, _) = project.run(&part("plan", &["--force"]), 0);
    assert!(
        stdout.starts_with("out.new: 3 chains, 0 of them done"),
        "{stdout}"
    );
    assert!(project.path("out/draws_1.csv").exists());
    let (_, stderr) = project.run(&part("run", &[]), 2);
    assert!(stderr.contains("--chain <K>"), "{stderr}");
    // A fit that was killed goes on chain by chain only where that is asked for.
    project.run(&["fit", "config.json", "--quiet", "--set", "output=fit"], 0);
    let more = ["--set", "output=fit", "--set", "sampler.draws=4101"];
    refused(&part("plan", &more), "already holds a fit");
    project.run(&[part("plan", &more), vec!["--resume"]].concat(), 0);
    for chain in ["1", "2", "3"] {
        project.run(&[run(chain), more.to_vec()].concat(), 0);
    }
    project.run(&[part("collect", &["--quiet"]), more.to_vec()].concat(), 0);
    let whole = ["fit", "config.json", "--quiet", "--set", "output=whole"];
    project.run(&[&whole[..], &more[2..]].concat(), 0);
    assert_same(&project, "whole", "fit");
}

#[test]
fn the_printed_job_script_runs_the_chains() {
    let project = project();
    let setting = "name=it's mine";
    let plan = ["--slurm", "--set", "sampler.draws=50", "--set", setting];
    let (script, stderr) = project.run(&part("plan", &plan), 0);
    assert!(
        stderr.contains("For a job array: numbers 1 to 3"),
        "{stderr}"
    );
    assert!(script.starts_with("#!/bin/bash\n"), "{script}");
    for line in [
        "#SBATCH --array=1-3",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
    ] {
        assert!(script.lines().any(|known| known == line), "{script}");
    }
    let place = project.write("elsewhere/fit.sbatch", &script);
    let bash = |number: Option<&str>| {
        let mut bash = Command::new("bash");
        bash.current_dir(project.path("elsewhere"))
            .env_remove("BRIDGESTAN");
        match number {
            None => bash.arg("-n"),
            Some(number) => bash.env("SLURM_ARRAY_TASK_ID", number),
        };
        bash.arg(&place).output().unwrap()
    };
    assert!(bash(None).status.success());
    for number in ["2", "3", "1"] {
        let output = bash(Some(number));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            said.starts_with(&format!("Chain {number}: 25 draws in ")),
            "{said}"
        );
    }
    let settings = ["--quiet", "--set", "sampler.draws=50", "--set", setting];
    project.run(&part("collect", &settings), 0);
}

#[test]
fn a_planned_refit_leaves_the_fit_until_its_chains_are_collected() {
    let project = project();
    let other = ["--set", "sampler.seed=8"];
    let fit = ["fit", "config.json", "--quiet"];
    project.run(&fit, 0);
    project.run(&[&fit[..], &other, &["--set", "output=whole"]].concat(), 0);
    let old = fs::read_to_string(project.path("out/draws_1.csv")).unwrap();
    let plan = part("plan", &["--force", "--set", "sampler.seed=8"]);
    project.run(&plan, 0);
    for chain in ["1", "2", "3"] {
        project.run(&[run(chain), other.to_vec()].concat(), 0);
        let (_, stderr) = project.run(&["diagnose", "out"], 0);
        assert_eq!(stderr, "");
    }
    let kept = fs::read_to_string(project.path("out/draws_1.csv")).unwrap();
    assert!(kept == old, "the fit stays until the new one is collected");
    project.run(&part("collect", &["--quiet", "--set", "sampler.seed=8"]), 0);
    assert_same(&project, "whole", "out");
    assert!(!project.path("out.new").exists());
}
