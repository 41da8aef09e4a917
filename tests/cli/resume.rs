//! Fits that are killed and resumed: nothing is lost, and nothing is silent.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Project, binary, program};
use serde_json::{Value, json};

/// The files that a resumed fit must share with one that was never killed.
const FILES: [&str; 4] = ["draws_1.csv", "draws_2.csv", "links_1.csv", "links_2.csv"];

/// Two chains with links, long enough to be killed at several places.
pub fn project() -> Project {
    project_with(20_001)
}

fn project_with(num_draws: usize) -> Project {
    Project::new(&[
        ("permutation.update.name", json!("active_set")),
        ("sampler.warmup", json!(1500)),
        ("sampler.draws", json!(num_draws)),
        ("sampler.thin", json!(2)),
    ])
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All bytes but those of the lines with times.
fn bytes(project: &Project, folder: &str, file: &str) -> String {
    let text = read(&project.path(folder).join(file));
    let lines = text.lines().filter(|line| !line.contains(" seconds ("));
    lines.map(|line| format!("{line}\n")).collect()
}

fn assert_same(project: &Project, folder: &str, other: &str) {
    for file in FILES {
        let [one, two] = [folder, other].map(|folder| bytes(project, folder, file));
        assert!(one.lines().count() > 20, "{file}");
        assert!(one == two, "{file} of {folder} and {other} differ");
    }
    for file in ["rows.csv", "pi_mean.csv", "coefficients.csv", "trust.json"] {
        let [one, two] = [folder, other].map(|folder| read(&project.path(folder).join(file)));
        assert!(one == two, "{file} of {folder} and {other} differ");
    }
}

pub fn arguments<'a>(output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fit = ["fit", "config.json", "--quiet", "--checkpoint", "0.01"];
    [&fit, ["--set", output].as_slice(), more].concat()
}

pub fn start(project: &Project, output: &str, more: &[&str]) -> Child {
    let mut command = Command::new(binary());
    command
        .args(arguments(output, more))
        .current_dir(project.path(""))
        .env_remove("BRIDGESTAN")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Tests that were started by nohup would hand on that SIGHUP is ignored.
    // SAFETY: sets the disposition of one signal to the default, which runs no code.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
    command.spawn().unwrap()
}

/// Waits until `is_so`; the limit only keeps a broken program from hanging the tests.
pub fn wait(mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(900), "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// The iteration of a chain's checkpoint; 0 without one.
pub fn iteration(project: &Project, folder: &str, chain: usize) -> u64 {
    let path = project
        .path(folder)
        .join(format!("checkpoint_{chain}.json"));
    json(&path).map_or(0, |saved| saved["state"]["iteration"].as_u64().unwrap())
}

pub fn state(project: &Project, folder: &str) -> String {
    let status = json(&project.path(folder).join("status.json")).unwrap();
    status["state"].as_str().unwrap().to_string()
}

/// Kills a fit, or its continuation, once chain 1 has come so far; false where it ended before.
fn kill_after(project: &Project, output: &str, more: &[&str], after: u64) -> bool {
    let folder = output.strip_prefix("output=").unwrap();
    let mut child = start(project, output, more);
    wait(|| iteration(project, folder, 1) >= after || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    let status = child.wait().unwrap();
    status.code().is_none()
}

#[test]
fn a_fit_that_is_killed_again_and_again_is_the_fit_that_was_not() {
    let project = project();
    project.run(&arguments("output=whole", &[]), 0);
    assert_eq!(state(&project, "whole"), "finished");
    let mut num_killed = 0;
    for (number, kills) in [vec![1], vec![700, 1499], vec![1500], vec![1600, 2500, 4000]]
        .iter()
        .enumerate()
    {
        let folder = format!("killed{number}");
        let output = format!("output={folder}");
        let mut more: &[&str] = &["--threads", "1"];
        for after in kills {
            let is_killed = kill_after(&project, &output, more, *after);
            num_killed += usize::from(is_killed);
            if is_killed {
                assert_eq!(state(&project, &folder), "running");
                let (_, stderr) = {
                    let output = project
                        .unshuffle(&["diagnose", &folder, "--strict"])
                        .output();
                    let output = output.unwrap();
                    assert_ne!(output.status.code(), Some(0));
                    (output.stdout, String::from_utf8(output.stderr).unwrap())
                };
                assert!(stderr.contains(&folder), "{stderr}");
            }
            more = &["--resume"];
        }
        // A torn line, as a full disk or a power cut leaves it.
        let torn = project.path(&folder).join("draws_1.csv");
        if let Ok(text) = fs::read_to_string(&torn) {
            fs::write(&torn, text + "-1.5,0.9").unwrap();
        }
        project.run(&arguments(&output, &["--resume"]), 0);
        assert_same(&project, "whole", &folder);
        assert_eq!(state(&project, &folder), "finished");
        let before = read(&project.path(&folder).join("draws_1.csv"));
        let (stdout, _) = project.run(&arguments(&output, &["--resume"]), 0);
        assert!(stdout.contains("nothing left to do"), "{stdout}");
        assert_eq!(stdout.lines().count(), 1);
        assert_eq!(read(&project.path(&folder).join("draws_1.csv")), before);
        project.run(&["diagnose", &folder], 0);
    }
    assert!(num_killed >= 4, "only {num_killed} fits were killed");
}

#[test]
fn every_kind_of_fit_is_resumed() {
    let mut num_killed = 0;
    for changes in [
        vec![("permutation.update", json!({"name": "none"}))],
        vec![("permutation.update", json!({"name": "checkerboard"}))],
        vec![
            ("permutation.update", json!({"name": "mode"})),
            ("sampler.trajectory", json!("static")),
        ],
        vec![("permutation.feedback", json!("none"))],
        vec![
            ("model.stan", json!("linear_log_lik.stan")),
            ("model.family", json!({"name": "stan"})),
            ("sampler.metric", json!("diagonal")),
        ],
        vec![("model.stan", json!("robust"))],
        vec![
            ("temperature", json!("1/n")),
            ("sampler.standardise", json!(false)),
        ],
    ] {
        let few = [
            ("permutation.update", json!({"name": "active_set"})),
            ("sampler.warmup", json!(200)),
            ("sampler.draws", json!(3000)),
        ];
        let project = Project::new(&[few.to_vec(), changes.clone()].concat());
        let own = program("linear_log_lik.stan");
        project.write("linear_log_lik.stan", &own.text);
        project.run(&arguments("output=whole", &[]), 0);
        for after in [60, 350] {
            num_killed += usize::from(kill_after(
                &project,
                "output=out",
                &["--resume", "--threads", "1"],
                after,
            ));
        }
        project.run(&arguments("output=out", &["--resume"]), 0);
        for file in FILES
            .iter()
            .filter(|file| project.path("whole").join(file).exists())
        {
            let [one, two] = ["whole", "out"].map(|folder| bytes(&project, folder, file));
            assert!(one == two, "{file} differs for {changes:?}");
        }
    }
    assert!(num_killed >= 7, "only {num_killed} of 14 fits were killed");
}

#[test]
fn a_full_disk_loses_nothing() {
    let project = project();
    project.run(&arguments("output=whole", &[]), 0);
    // Files may grow to 1024 blocks, and a write beyond them fails. Both chains have draws by then.
    let fit = arguments("output=out", &[]).join(" ");
    let limited = format!("trap '' XFSZ; ulimit -f 1024; exec '{}' {fit}", binary());
    let failed = Command::new("sh")
        .args(["-c", &limited])
        .current_dir(project.path(""))
        .env_remove("BRIDGESTAN")
        .output()
        .unwrap();
    let stderr = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("cannot write the draws of chain"),
        "{stderr}"
    );
    assert_eq!(state(&project, "out"), "failed");
    let (_, stderr) = project.run(&["diagnose", "out", "--strict"], 1);
    assert!(stderr.contains("the fit in out failed: "), "{stderr}");
    project.run(&arguments("output=out", &["--resume"]), 0);
    assert_same(&project, "whole", "out");
}

/// After sampling, the same program is run with every link kept: a signal that comes then leaves no coefficients of fewer draws.
#[test]
fn a_signal_after_sampling_changes_no_coefficient() {
    let project = project_with(401);
    // Every gradient calls the program, so that there is time for a signal.
    let slowly = ["--set", "sampler.standardise=false"];
    project.run(&arguments("output=whole", &slowly), 0);
    let mut num_interrupted = 0;
    for delay in 0..16 {
        let output = format!("out{delay}");
        let setting = format!("output={output}");
        let mut child = start(&project, &setting, &slowly);
        wait(|| project.path(&output).join("summary.csv").exists());
        std::thread::sleep(Duration::from_millis(3 * delay));
        // SAFETY: sends a signal to a child that was not waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        child.wait().unwrap();
        num_interrupted += usize::from(state(&project, &output) == "interrupted");
        let resumed = [&["--resume"], &slowly[..]].concat();
        project.run(&arguments(&setting, &resumed), 0);
        for file in ["coefficients.csv", "trust.json"] {
            let [one, two] = ["whole", &output].map(|folder| bytes(&project, folder, file));
            assert!(one == two, "{file} of a fit stopped after {delay}");
        }
    }
    assert!(num_interrupted > 0);
}

#[test]
fn a_checkpoint_with_other_random_numbers_is_noticed() {
    let project = project();
    project.run(&arguments("output=whole", &[]), 0);
    assert!(kill_after(&project, "output=killed", &[], 1500));
    let path = project.path("killed/checkpoint_1.json");
    let mut saved = json(&path).unwrap();
    let rng = &mut saved["state"]["rng"];
    let word = rng["word_pos"].as_u64().unwrap();
    rng["word_pos"] = json!(word + 2);
    fs::write(&path, saved.to_string()).unwrap();
    let (_, stderr) = project.run(&arguments("output=killed", &["--resume"]), 2);
    assert!(
        stderr.contains("checkpoint_1.json is damaged: remove it"),
        "{stderr}"
    );
    // As older versions wrote it, nothing but the draws would tell.
    saved.as_object_mut().unwrap().remove("sha256").unwrap();
    fs::write(&path, saved.to_string()).unwrap();
    project.run(&arguments("output=killed", &["--resume"]), 0);
    let [one, two] = ["whole", "killed"].map(|folder| bytes(&project, folder, "draws_1.csv"));
    assert!(one != two);
}

#[test]
fn a_checkpoint_of_another_version_is_refused() {
    let project = project();
    assert!(kill_after(&project, "output=killed", &[], 1500));
    let path = project.path("killed/checkpoint_1.json");
    let mut saved = json(&path).unwrap();
    saved.as_object_mut().unwrap().remove("format").unwrap();
    fs::write(&path, saved.to_string()).unwrap();
    let (_, stderr) = project.run(&arguments("output=killed", &["--resume"]), 2);
    assert!(
        stderr.contains("checkpoint_1.json was written by another version of unshuffle"),
        "{stderr}"
    );
}

#[test]
fn draws_are_added_to_a_finished_fit_as_if_they_had_been_asked_for_at_once() {
    let project = project();
    let few = ["--set", "sampler.draws=99"];
    project.run(&arguments("output=out", &few), 0);
    project.run(&arguments("output=whole", &[]), 0);
    let seconds = |folder: &str| {
        let diagnostics = json(&project.path(folder).join("diagnostics.json")).unwrap();
        let chain = &diagnostics["chains"][0];
        [&diagnostics["seconds"], &chain["warmup_seconds"]].map(|s| s.as_f64().unwrap())
    };
    let before = seconds("out");
    project.run(&arguments("output=out", &["--resume"]), 0);
    assert_same(&project, "whole", "out");
    let after = seconds("out");
    assert!(
        after[0] > before[0] && after[1] == before[1],
        "{before:?} {after:?}"
    );
    let config = json(&project.path("out/config.json")).unwrap();
    assert_eq!(config["sampler"]["draws"], 20_001);

    let fewer = [&["--resume"], few.as_slice()].concat();
    for (more, field) in [
        (
            fewer.as_slice(),
            "sampler.draws differs (20001 there, 99 now)",
        ),
        (
            &["--resume", "--set", "sampler.seed=8"],
            "sampler.seed differs (7 there, 8 now)",
        ),
        (
            &["--resume", "--set", "sampler.chains=3"],
            "sampler.chains differs",
        ),
    ] {
        let (_, stderr) = project.run(&arguments("output=out", more), 2);
        assert!(
            stderr.contains(field) && stderr.lines().count() == 1,
            "{stderr}"
        );
    }
    let data = read(&project.path("data.csv"));
    project.write("data.csv", &data.replacen("1", "2", 1));
    let (_, stderr) = project.run(&arguments("output=out", &["--resume"]), 2);
    assert!(stderr.contains("data.csv changed: put it back"), "{stderr}");
    assert_same(&project, "whole", "out");
}

pub fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([name, &id]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_terminated_fit_says_so_everywhere() {
    let project = project();
    project.write("new.csv", "x\n0.5\n");
    project.run(&arguments("output=whole", &[]), 0);
    for (folder, name) in [("term", "-TERM"), ("hup", "-HUP")] {
        let output = format!("output={folder}");
        // Chain 2 waits for chain 1, so that it is missing.
        // So many draws that the signal always comes first.
        let endless = ["--threads", "1", "--set", "sampler.draws=9999999"];
        let mut child = start(&project, &output, &endless);
        wait(|| iteration(&project, folder, 1) > 1600);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(state(&project, folder), "interrupted");
        for command in [
            vec!["summary", folder],
            vec!["diagnose", folder],
            vec!["report", folder],
            vec!["export", folder, "--sets", "2"],
            vec!["predict", folder, "new.csv"],
        ] {
            let (_, stderr) = project.run(&command, 0);
            let first = stderr.lines().next().unwrap_or_default();
            assert!(
                first.contains("was interrupted: 1 of 2 chains and "),
                "{stderr}"
            );
            assert!(first.contains(" of 10000000 draws are missing"), "{stderr}");
            project.run(&[command.as_slice(), &["--strict"]].concat(), 1);
        }
        let (summary, _) = project.run(&["summary", folder], 0);
        assert!(!summary.contains("Every link was kept"), "{summary}");
    }
    fs::remove_file(project.path("whole/draws_2.csv")).unwrap();
    let (_, stderr) = project.run(&["summary", "whole", "--strict"], 1);
    assert!(stderr.contains("has lost draws: 1 of 2 chains"), "{stderr}");
}

/// Rows of a file of draws, without its comments and the names of its columns; 0 where there is none.
fn num_rows(path: &Path) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.filter(|line| !line.starts_with("lp__")).count() as u64
}

/// The draws files of an interrupted fit have one length, which their headers promise; with what was set aside they have
/// as many draws as the checkpoints say. Links go as far as the draws. Returns the number of draws files.
fn assert_of_one_length(project: &Project, folder: &str) -> usize {
    let file = |name: &str, chain: u64| project.path(folder).join(format!("{name}_{chain}.csv"));
    let mut lengths = Vec::new();
    for chain in [1, 2] {
        let draws = file("draws", chain);
        let length = num_rows(&draws);
        let checkpoint = json(&file("checkpoint", chain).with_extension("json"));
        let saved = checkpoint.map_or(0, |saved| {
            saved["state"]["outcome"]["num_draws"].as_u64().unwrap()
        });
        assert_eq!(length + num_rows(&file("surplus_draws", chain)), saved);
        if !draws.exists() {
            assert!(!file("links", chain).exists());
            continue;
        }
        let text = read(&draws);
        let promised = text
            .lines()
            .find_map(|line| line.split_once("num_samples = "));
        let promised: u64 = promised.unwrap().1.trim().parse().unwrap();
        assert_eq!(promised, 2 * length);
        assert!(text.contains("seconds (Total)"), "{text}");
        let links = read(&file("links", chain));
        let last = links.lines().last().unwrap().split(',').next().unwrap();
        assert!(last.parse::<u64>().is_ok_and(|last| last <= length));
        lengths.push(length);
    }
    assert!(
        lengths.windows(2).all(|two| two[0] == two[1]),
        "{lengths:?}"
    );
    lengths.len()
}

#[test]
fn chains_of_an_interrupted_fit_have_one_length_and_lose_no_draw() {
    let project = project_with(8001);
    project.run(&arguments("output=whole", &[]), 0);
    let mut num_files = 0;
    for (folder, name) in [("int", "-INT"), ("term", "-TERM"), ("hup", "-HUP")] {
        let output = format!("output={folder}");
        for more in [&["--threads", "2"][..], &["--threads", "2", "--resume"]] {
            let before = [1, 2].map(|chain| iteration(&project, folder, chain));
            let mut child = start(&project, &output, more);
            wait(|| {
                [1, 2].iter().zip(before).all(|(&chain, before)| {
                    iteration(&project, folder, chain) > before.max(1600) + 1000
                })
            });
            signal(&child, name);
            assert_eq!(child.wait().unwrap().code(), Some(130));
            num_files += assert_of_one_length(&project, folder);
        }
        let (_, stderr) = project.run(&["summary", folder], 0);
        assert!(stderr.contains(" was interrupted: "), "{stderr}");
        project.run(&arguments(&output, &["--resume"]), 0);
        assert_same(&project, "whole", folder);
        for surplus in ["surplus_draws_1.csv", "surplus_links_2.csv"] {
            assert!(!project.path(folder).join(surplus).exists());
        }
    }
    assert!(num_files > 6, "no fit kept both chains");
}

#[test]
fn a_chain_that_waits_while_others_are_resumed_keeps_its_draws() {
    let project = project();
    project.run(&arguments("output=whole", &[]), 0);
    let mut child = start(&project, "output=out", &["--threads", "2"]);
    wait(|| [1, 2].iter().all(|&k| iteration(&project, "out", k) > 1700));
    child.kill().unwrap();
    child.wait().unwrap();
    let [first, second] = [1, 2].map(|chain| iteration(&project, "out", chain));
    let mut child = start(&project, "output=out", &["--resume", "--threads", "1"]);
    wait(|| iteration(&project, "out", 1) > first);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(iteration(&project, "out", 2), second);
    assert_of_one_length(&project, "out");
    project.run(&arguments("output=out", &["--resume"]), 0);
    assert_same(&project, "whole", "out");
}

#[test]
fn a_killed_fit_is_summarised_as_what_it_is() {
    let project = project();
    assert!(kill_after(&project, "output=out", &[], 2500));
    let (summary, stderr) = project.run(&["summary", "out"], 0);
    assert!(
        stderr.starts_with("warning: the fit in out was killed"),
        "{stderr}"
    );
    assert!(!summary.contains("Every link was kept"), "{summary}");
    assert!(summary.contains("n_moved"), "{summary}");
    // It may be replaced, and older folders have no status, no checkpoints and no hash of the settings.
    project.run(&arguments("output=out", &["--force"]), 0);
    for name in ["status.json", "checkpoint_1.json", "checkpoint_2.json"] {
        fs::remove_file(project.path("out").join(name)).unwrap();
    }
    let config = project.path("out/config.json");
    let mut older = json(&config).unwrap();
    let versions = older["versions"].as_object_mut().unwrap();
    assert!(versions.remove("settings_sha256").is_some());
    fs::write(&config, older.to_string()).unwrap();
    let (_, stderr) = project.run(&["summary", "out", "--strict"], 0);
    assert_eq!(stderr, "");
    let (_, stderr) = project.run(&arguments("output=out", &["--resume"]), 2);
    assert!(
        stderr.contains("of an older version without checkpoints"),
        "{stderr}"
    );
    project.run(&arguments("output=out", &["--force"]), 0);
}

#[test]
fn nohup_still_protects_a_fit() {
    let project = project();
    let mut child = Command::new("nohup")
        .arg(binary())
        .args(arguments("output=out", &[]))
        .current_dir(project.path(""))
        .env_remove("BRIDGESTAN")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait(|| iteration(&project, "out", 1) > 10);
    signal(&child, "-HUP");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(state(&project, "out"), "finished");
}
