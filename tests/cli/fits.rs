//! Fits by the binary: the same draws where they must be, files kept or replaced, and Ctrl-C.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{Endless, Project, column, positive_linear, without_comments};
use serde_json::json;

const QUIET_FIT: [&str; 3] = ["fit", "config.json", "--quiet"];

fn fit(project: &Project, more: &[&str]) {
    project.run(&[&QUIET_FIT, more].concat(), 0);
}

#[test]
fn draws_depend_on_the_seed_and_not_on_threads() {
    let project = Project::new(&[
        ("sampler.chains", json!(4)),
        ("permutation.update.name", json!("active_set")),
    ]);
    fit(&project, &["--threads", "1", "--set", "output=one"]);
    fit(&project, &["--threads", "4", "--set", "output=four"]);
    fit(
        &project,
        &["--set", "output=other", "--set", "sampler.seed=8"],
    );
    let [one, four, other] = ["one", "four", "other"].map(|folder| project.draws(folder));
    assert_eq!(one.len(), 4);
    assert_eq!(one, four);
    let read = |path: &str| fs::read_to_string(project.path(path)).unwrap();
    for file in ["links_1.csv", "links_4.csv", "rows.csv", "pi_mean.csv"] {
        assert!(read(&format!("one/{file}")).lines().count() > 1, "{file}");
        assert_eq!(
            read(&format!("one/{file}")),
            read(&format!("four/{file}")),
            "{file}"
        );
    }
    for chain in 0..4 {
        assert_ne!(one[chain], other[chain]);
        assert_ne!(
            one[chain],
            one[(chain + 1) % 4],
            "chains have streams of their own"
        );
    }
}

#[test]
fn thinning_keeps_every_third_draw_of_the_same_chain() {
    let project = Project::new(&[]);
    fit(&project, &["--set", "output=all"]);
    fit(
        &project,
        &["--set", "output=thin", "--set", "sampler.thin=3"],
    );
    for (all, thin) in project.draws("all").iter().zip(project.draws("thin")) {
        let (all, thin) = (column(all, "beta.1"), column(&thin, "beta.1"));
        assert_eq!((all.len(), thin.len()), (200, 67));
        assert_eq!(all.into_iter().step_by(3).collect::<Vec<_>>(), thin);
    }
    let text = fs::read_to_string(project.path("thin/draws_1.csv")).unwrap();
    assert!(text.contains("num_samples = 200") && text.contains("thin = 3"));
}

#[test]
fn set_overrides_the_config() {
    let project = Project::new(&[]);
    fit(
        &project,
        &["--set", "sampler.draws=30", "--set", "sampler.chains=1"],
    );
    let draws = project.draws("out");
    assert_eq!(draws.len(), 1);
    assert_eq!(column(&draws[0], "lp__").len(), 30);
    let (_, stderr) = project.run(&["fit", "config.json", "--set", "sampler.draws=-3"], 2);
    assert!(stderr.contains("sampler.draws"), "{stderr}");
}

#[test]
fn force_replaces_our_files_and_no_others() {
    let project = Project::new(&[("sampler.chains", json!(3))]);
    fit(&project, &[]);
    let before = project.draws("out");
    project.write("out/notes.txt", "mine");
    project.write("out/draws_best.csv", "mine too");
    let (_, stderr) = project.run(&QUIET_FIT, 2);
    assert!(
        stderr.contains("already holds a fit") && stderr.contains("--force"),
        "{stderr}"
    );
    assert_eq!(project.draws("out"), before);
    fit(
        &project,
        &[
            "--force",
            "--set",
            "sampler.chains=2",
            "--set",
            "sampler.seed=8",
        ],
    );
    let after = project.draws("out");
    assert_eq!(after.len(), 2, "the third chain of the first fit is gone");
    assert_ne!(after[0], before[0]);
    assert_eq!(
        fs::read_to_string(project.path("out/notes.txt")).unwrap(),
        "mine"
    );
    assert!(project.path("out/draws_best.csv").exists());
}

#[test]
fn a_saved_config_repeats_the_fit() {
    let project = Project::new(&[
        ("temperature", json!("1/n")),
        ("sampler.metric", json!("diagonal")),
        ("sampler.trajectory", json!("static")),
        ("sampler.init", json!({"beta": [1, 2], "sigma2": 0.5})),
    ]);
    fit(&project, &[]);
    let again = ["fit", "out/config.json", "--quiet", "--set", "output=again"];
    project.run(&again, 0);
    // The output is relative to the config that names it.
    assert_eq!(project.draws("out"), project.draws("out/again"));
    assert_eq!(project.draws("out").len(), 2);
}

#[test]
fn paths_may_have_spaces() {
    let project = Project::new(&[]);
    let place = "a folder/with more spaces";
    let text = fs::read_to_string(project.path("config.json")).unwrap();
    let text = text.replace("\"linear\"", "\"my linear.stan\"");
    let text = text
        .replace("data.csv", "my data.csv")
        .replace("\"out\"", "\"my out\"");
    project.write(&format!("{place}/my config.json"), &text);
    let data = fs::read_to_string(project.path("data.csv")).unwrap();
    project.write(&format!("{place}/my data.csv"), &data);
    project.write(&format!("{place}/my linear.stan"), &positive_linear());
    let config = format!("{place}/my config.json");
    project.run(&["fit", &config, "--quiet"], 0);
    let draws = project.draws(&format!("{place}/my out"));
    assert_eq!(column(&draws[1], "beta.1").len(), 200);
}

fn assert_valid_and_ended_early(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let value = |key: &str| -> usize {
        let line = text.lines().find(|line| line.contains(key)).unwrap();
        line.rsplit('=').next().unwrap().trim().parse().unwrap()
    };
    let num_rows = without_comments(path).lines().count() - 1;
    assert!(num_rows >= 11);
    assert_eq!(value("num_samples =").div_ceil(value("thin =")), num_rows);
    assert!(value("num_samples =") < 900_000_000);
    let footer: Vec<&str> = text.lines().rev().take(5).collect();
    assert!(footer[1].ends_with("seconds (Total)"), "{footer:?}");
    assert!(footer[3].contains("Elapsed Time:"), "{footer:?}");
    assert!(text.contains("# Adaptation terminated"));
}

#[test]
fn ctrl_c_ends_with_130_and_leaves_valid_files() {
    let project = Project::new(&[]);
    let running = Endless::start(&project, 2);
    for chain in [1, 2] {
        running.wait_for_rows(chain);
    }
    let (code, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("draws so far are in"), "{stderr}");
    // A chain that lags far behind, as on a busy machine, is kept for --resume alone.
    let mut num_whole = 0;
    for chain in [1, 2] {
        let path = project.path(&format!("out/draws_{chain}.csv"));
        let surplus = project.path(&format!("out/surplus_draws_{chain}.csv"));
        assert!(path.exists() || surplus.exists(), "chain {chain} is lost");
        if path.exists() {
            assert_valid_and_ended_early(&path);
            num_whole += 1;
        }
    }
    assert!(num_whole > 0);
    let (summary, _) = project.run(&["summary", "out"], 0);
    assert!(summary.contains("\nx  "), "{summary}");
    let diagnostics = fs::read_to_string(project.path("out/diagnostics.json")).unwrap();
    assert!(
        diagnostics.contains("\"interrupted\": true"),
        "{diagnostics}"
    );
}

#[test]
fn ctrl_c_before_the_last_chain_starts_keeps_the_others() {
    let project = Project::new(&[]);
    let running = Endless::start(&project, 1);
    running.wait_for_rows(1);
    let (code, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert_valid_and_ended_early(&project.path("out/draws_1.csv"));
    let (summary, _) = project.run(&["summary", "out"], 0);
    let slope = summary
        .lines()
        .find(|line| line.starts_with("x  ") && !line.contains('['))
        .unwrap();
    assert!(
        !slope.contains("NA"),
        "one chain has draws, so there is a summary: {summary}"
    );
}

#[test]
fn ctrl_c_during_warm_up_ends_with_130_and_leaves_no_empty_chain() {
    let project = Project::new(&[
        ("sampler.warmup", json!(900_000_000)),
        ("permutation.update.name", json!("active_set")),
    ]);
    let running = Endless::start(&project, 2);
    let start = Instant::now();
    while !project.path("out/draws_1.csv").exists() {
        assert!(
            start.elapsed() < Duration::from_secs(900),
            "no chain started"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let (code, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("the 0 draws so far"), "{stderr}");
    for file in ["draws_1.csv", "draws_2.csv", "links_1.csv", "rows.csv"] {
        assert!(!project.path("out").join(file).exists(), "{file}");
    }
    fit(&project, &["--force", "--set", "sampler.warmup=100"]);
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_printing_without_a_word() {
    let project = Project::new(&[]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let mut summary = std::process::Command::new(env!("CARGO_BIN_EXE_unshuffle"))
        .args(["summary", "out"])
        .current_dir(project.path("."))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(summary.stdout.take());
    let output = summary.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
