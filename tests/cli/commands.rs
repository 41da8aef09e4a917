//! Every command of the binary, and what each exit code stands for.

use std::fs;

use crate::common::{Project, column, ended_with};
use serde_json::{Value, json};

#[test]
fn fit_writes_its_files_and_summary_and_diagnose_read_them() {
    let project = Project::new(&[("sampler.draws", json!(1000))]);
    let (stdout, stderr) = project.run(&["fit", "config.json"], 0);
    assert!(
        stdout.contains("\nx  ") && stdout.contains("R_hat"),
        "{stdout}"
    );
    assert!(stdout.contains("No problems found"), "{stdout}");
    assert!(
        stderr.contains("Chain 1 Iteration: 1300 / 1300 [100%] (Sampling)"),
        "{stderr}"
    );
    for name in [
        "config.json",
        "draws_1.csv",
        "draws_2.csv",
        "summary.csv",
        "diagnostics.json",
    ] {
        assert!(project.path("out").join(name).is_file(), "{name}");
    }
    assert!(!project.path("out/draws_3.csv").exists());
    let (summary, _) = project.run(&["summary", "out"], 0);
    let table = stdout.split("\n\n").next().unwrap();
    assert!(summary.contains(table), "{stdout}\nis not in\n{summary}");
    let (findings, _) = project.run(&["diagnose", "out", "--strict"], 0);
    assert!(findings.contains("No problems found"), "{findings}");
    let text = fs::read_to_string(project.path("out/diagnostics.json")).unwrap();
    let diagnostics: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(diagnostics["interrupted"], json!(false));
    assert_eq!(diagnostics["chains"][1]["num_draws"], json!(1000));
    // The data lie on 1 + 2 x with errors of about 0.7.
    let slope = column(&project.draws("out")[0], "beta.2");
    let mean = slope.iter().sum::<f64>() / slope.len() as f64;
    assert!((mean - 2.0).abs() < 0.3, "{mean}");
}

#[test]
fn check_tells_what_it_found_and_writes_nothing() {
    let project = Project::new(&[]);
    let (stdout, _) = project.run(&["check", "config.json"], 0);
    assert!(
        stdout.contains("20 rows, 2 columns of X ((Intercept), x)"),
        "{stdout}"
    );
    assert!(stdout.contains("3 parameters to sample"), "{stdout}");
    assert!(!project.path("out").exists());
}

#[test]
fn doctor_finds_everything_in_place() {
    let project = Project::new(&[]);
    let (stdout, _) = project.run(&["doctor"], 0);
    for part in [
        "C++ compiler",
        "cache folder",
        "stanc",
        "headers",
        "test compile",
    ] {
        assert!(stdout.contains(part), "{stdout}");
    }
    assert!(!stdout.contains("FAILED"), "{stdout}");
}

#[test]
fn schema_is_a_json_schema_that_knows_every_key_of_a_saved_config() {
    let project = Project::new(&[("sampler.draws", json!(10)), ("sampler.warmup", json!(50))]);
    let (stdout, _) = project.run(&["schema"], 0);
    let schema: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(schema["title"], json!("unshuffle config"));
    project.run(&["fit", "config.json", "--quiet"], 0);
    let saved = fs::read_to_string(project.path("out/config.json")).unwrap();
    let saved: Value = serde_json::from_str(&saved).unwrap();
    for key in saved.as_object().unwrap().keys() {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    assert_eq!(
        saved["sampler"]["max_depth"],
        json!(10),
        "defaults are written out"
    );
}

#[test]
fn init_makes_a_project_that_fits_and_is_not_overwritten() {
    let project = Project::new(&[]);
    let (stdout, _) = project.run(&["init", "mine"], 0);
    assert!(
        stdout.contains("unshuffle fit mine/config.json"),
        "{stdout}"
    );
    let short = [
        "--set",
        "sampler.draws=20",
        "--set",
        "sampler.warmup=100",
        "--quiet",
    ];
    project.run(
        &[["fit", "mine/config.json"].as_slice(), &short].concat(),
        0,
    );
    assert!(project.path("mine/out/linear/summary.csv").is_file());
    project.write("mine/linear.stan", "my own work");
    let (_, stderr) = project.run(&["init", "mine"], 2);
    assert!(stderr.contains("linear.stan is already there"), "{stderr}");
    assert!(stderr.contains("--force"), "{stderr}");
    let kept = fs::read_to_string(project.path("mine/linear.stan")).unwrap();
    assert_eq!(kept, "my own work");
    project.run(&["init", "mine", "--force"], 0);
    let (_, stderr) = project.run(&["init", "other", "--model", "cubic"], 2);
    assert!(stderr.contains("no shipped model `cubic`"), "{stderr}");
}

#[test]
fn strict_ends_with_1_when_there_is_a_finding() {
    let project = Project::new(&[("sampler.draws", json!(12))]);
    let (stdout, _) = project.run(&["fit", "config.json", "--strict"], 1);
    assert!(!stdout.contains("No problems found"), "{stdout}");
    assert!(
        project.path("out/summary.csv").is_file(),
        "the fit is saved all the same"
    );
    project.run(&["diagnose", "out", "--strict"], 1);
    project.run(&["diagnose", "out"], 0);
    project.run(&["fit", "config.json", "--force"], 0);
}

#[test]
fn a_wrong_key_ends_with_2_and_the_nearest_key() {
    let project = Project::new(&[("sampler.warmpu", json!(10))]);
    let (_, stderr) = project.run(&["fit", "config.json"], 2);
    assert!(
        stderr.contains("warmpu") && stderr.contains("`warmup`"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let (_, stderr) = project.run(&["fit", "config.json", "--set", "sampler.warmpu=1"], 2);
    assert!(stderr.contains("`warmup`"), "{stderr}");
    let (_, stderr) = project.run(&["fit", "none.json"], 2);
    assert!(stderr.contains("none.json"), "{stderr}");
    project.write("config.json", "{ \"model\": }");
    let (_, stderr) = project.run(&["fit", "config.json"], 2);
    assert!(stderr.contains("line 1"), "{stderr}");
}

#[test]
fn a_bad_csv_ends_with_2_and_its_line() {
    let project = Project::new(&[]);
    project.write("data.csv", "x,y\n1,2\n2,three\n3,4\n4,5\n");
    let (_, stderr) = project.run(&["fit", "config.json"], 2);
    assert!(
        stderr.contains("line 3") && stderr.contains("three"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    fs::remove_file(project.path("data.csv")).unwrap();
    let (_, stderr) = project.run(&["fit", "config.json"], 2);
    assert!(stderr.contains("cannot find the data file"), "{stderr}");
    assert!(
        !project.path("out").exists(),
        "a failed start leaves no output"
    );
}

#[test]
fn a_broken_program_ends_with_2_and_stancs_words() {
    let project = Project::new(&[("model.stan", json!("broken.stan"))]);
    project.write("broken.stan", "parameters {\n  real x\n}\n");
    for command in ["fit", "check"] {
        let (_, stderr) = project.run(&[command, "config.json"], 2);
        assert!(stderr.contains("Syntax error in"), "{stderr}");
        assert!(stderr.contains("broken.stan', line 3"), "{stderr}");
    }
    let (_, stderr) = project.run(&["compile", "broken.stan"], 2);
    assert!(stderr.contains("broken.stan', line 3"), "{stderr}");
    let (_, stderr) = project.run(&["compile", "none.stan"], 2);
    assert!(
        stderr.contains("cannot read the Stan file none.stan"),
        "{stderr}"
    );
}

#[test]
fn summary_of_something_else_ends_with_2() {
    let project = Project::new(&[]);
    for command in ["summary", "diagnose"] {
        let (_, stderr) = project.run(&[command, "."], 2);
        assert!(stderr.contains("not the output of a fit"), "{stderr}");
        project.run(&[command, "nowhere"], 2);
    }
}

#[test]
fn a_toolchain_that_is_not_there_ends_with_3() {
    // A program that no cache has: compiled ones need no compiler.
    let project = Project::new(&[("model.stan", json!("new.stan"))]);
    let linear = include_str!("../../stan/linear.stan");
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    project.write("new.stan", &format!("{linear}// {now}\n"));
    for command in [
        &["fit", "config.json"][..],
        &["check", "config.json"],
        &["compile", "new.stan"],
    ] {
        let mut without = project.unshuffle(command);
        let (_, stderr) = ended_with(without.env("CXX", "/nonexistent/g++"), 3);
        assert!(stderr.contains("cannot run `/nonexistent/g++`"), "{stderr}");
        assert!(stderr.contains("install a C++17 compiler"), "{stderr}");
        let named = [command, &["--bridgestan", "/nonexistent"]].concat();
        let (_, stderr) = project.run(&named, 3);
        assert!(
            stderr.contains("/nonexistent is not a BridgeStan folder"),
            "{stderr}"
        );
    }
    let mut doctor = project.unshuffle(&["doctor"]);
    let (stdout, _) = ended_with(doctor.env("CXX", "/nonexistent/g++"), 3);
    assert!(stdout.contains("FAILED  C++ compiler"), "{stdout}");
    assert!(stdout.contains("install a C++17 compiler"), "{stdout}");
}

#[test]
fn a_cache_that_cannot_be_written_ends_with_3_and_the_remedy() {
    let project = Project::new(&[]);
    // Even root cannot make a folder below a file.
    let file = project.write("file", "");
    let mut compile = project.unshuffle(&["compile", "linear"]);
    let (_, stderr) = ended_with(compile.env("UNSHUFFLE_CACHE", file.join("cache")), 3);
    assert!(stderr.contains("file/cache"), "{stderr}");
    assert!(
        stderr.contains("set UNSHUFFLE_CACHE to a folder you may write to"),
        "{stderr}"
    );
    let mut doctor = project.unshuffle(&["doctor"]);
    let (stdout, _) = ended_with(doctor.env("UNSHUFFLE_CACHE", file.join("cache")), 3);
    assert!(stdout.contains("FAILED  cache folder"), "{stdout}");
}

#[test]
fn without_arguments_there_is_help_with_the_exit_codes() {
    let project = Project::new(&[]);
    let (_, stderr) = project.run(&[], 2);
    assert!(stderr.contains("Exit codes: 0 done"), "{stderr}");
    let (stdout, _) = project.run(&["--version"], 0);
    assert!(stdout.starts_with("unshuffle "), "{stdout}");
    assert!(stdout.contains("toolchain: Stan 2."), "{stdout}");
    let (short, _) = project.run(&["-V"], 0);
    assert_eq!(short.lines().count(), 1, "{short}");
}

#[test]
fn shells_and_the_manual_know_every_command() {
    let project = Project::new(&[]);
    for (shell, mark) in [
        ("bash", "complete -F _unshuffle"),
        ("zsh", "#compdef unshuffle"),
        ("fish", "complete -c unshuffle"),
    ] {
        let (stdout, _) = project.run(&["completions", shell], 0);
        assert!(stdout.contains(mark), "{shell}");
        for word in ["diagnose", "aggregate", "bridgestan"] {
            assert!(stdout.contains(word), "{shell} {word}");
        }
    }
    let (_, stderr) = project.run(&["completions", "csh"], 2);
    assert!(stderr.contains("bash, zsh, fish"), "{stderr}");
    let (stdout, _) = project.run(&["man", "pages"], 0);
    for name in [
        "unshuffle",
        "unshuffle-fit",
        "unshuffle-report",
        "unshuffle-study-run",
    ] {
        let page = std::fs::read_to_string(project.path(&format!("pages/{name}.1"))).unwrap();
        assert!(
            page.contains(".TH ") && stdout.contains(&format!("{name}.1")),
            "{name}"
        );
        assert!(page.contains(&name.replace('-', "\\-")), "{page}");
    }
}

#[test]
fn a_config_for_a_file_of_ones_own_is_ready_to_fit() {
    let project = Project::new(&[]);
    let mut text = String::from("\u{feff}id;town;age;pay\n");
    for k in 0..40 {
        let town = ["north", "south"][k % 2];
        text += &format!(
            "{};{town};{};{}.{}\n",
            100 + k,
            20 + (k * 7) % 31,
            10 + k % 9,
            k % 10
        );
    }
    project.write("my.csv", &text);
    let (stdout, _) = project.run(&["init", "--from", "my.csv"], 0);
    for line in ["response  pay", "predictors town, age", "id        id"] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let config = std::fs::read_to_string(project.path("my.json")).unwrap();
    assert!(config.contains("\"file\": \"my.csv\""), "{config}");
    project.run(&["check", "my.json"], 0);
    let (_, stderr) = project.run(&["init", "--from", "my.csv"], 2);
    assert!(
        stderr.contains("already there") && stderr.contains("--force"),
        "{stderr}"
    );
    project.run(
        &["init", "--from", "my.csv", "--response", "age", "--force"],
        0,
    );
    let (_, stderr) = project.run(&["init", "--from", "none.csv"], 2);
    assert!(stderr.contains("none.csv"), "{stderr}");
}

#[test]
fn on_a_terminal_chains_wait_and_one_bar_has_the_time_that_is_left() {
    let project = Project::new(&[("sampler.draws", json!(400))]);
    let fit = format!("{} fit config.json --threads 1", crate::common::binary());
    // `script` gives it a terminal.
    let mut command = assert_cmd::Command::new("script");
    command
        .args(["-qec", &fit, "/dev/null"])
        .current_dir(project.path(""))
        .env_remove("BRIDGESTAN");
    let (stdout, _) = ended_with(&mut command, 0);
    let waits = stdout.find("Chain 2 waiting");
    let runs = stdout.find("Chain 2 [");
    assert!(waits.is_some() && waits < runs, "{stdout}");
    assert!(
        stdout.contains("about ") && stdout.contains("All 1400 iterations ["),
        "{stdout}"
    );
    assert!(!stdout.contains("0/0"), "{stdout}");
}
