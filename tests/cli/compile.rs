//! The compile cache from outside: what is compiled again and what is not, two at once, and a BridgeStan folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{LINEAR, Project, binary, column, ended_with, including, near_five};
use serde_json::json;

/// The line of the linear model with the prior of the coefficients.
const PRIOR: &str = "centred ~ normal(beta_location, beta_scale);";

/// The library's path, which the last line of `compile` ends with.
fn library(stdout: &str) -> PathBuf {
    PathBuf::from(stdout.trim_end().rsplit(": ").next().unwrap())
}

fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

#[test]
fn an_edited_program_is_compiled_again_and_changes_the_posterior() {
    let project = Project::new(&[("model.stan", json!("linear.stan"))]);
    project.write("linear.stan", LINEAR);
    let (stdout, _) = project.run(&["compile", "linear.stan"], 0);
    let before = library(&stdout);
    let (stdout, _) = project.run(&["compile", "linear.stan"], 0);
    assert!(
        stdout.contains("linear.stan: unchanged, already compiled"),
        "{stdout}"
    );
    assert_eq!(library(&stdout), before);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let slope = mean(&column(&project.draws("out")[0], "beta.2"));
    assert!((slope - 2.0).abs() < 0.3, "{slope}");

    project.write("linear.stan", &near_five());
    project.run(&["fit", "config.json", "--quiet", "--force"], 0);
    let slope = mean(&column(&project.draws("out")[0], "beta.2"));
    assert!((slope - 5.0).abs() < 0.1, "{slope}");
    let (stdout, _) = project.run(&["compile", "linear.stan"], 0);
    assert!(stdout.contains("unchanged, already compiled"), "{stdout}");
    assert_ne!(library(&stdout), before);

    project.write("linear.stan", LINEAR);
    let (stdout, _) = project.run(&["compile", "linear.stan"], 0);
    assert_eq!(
        library(&stdout),
        before,
        "undoing the edit finds the old library"
    );
}

/// Removes a cache entry that no later run can use.
struct Remove(PathBuf);

impl Drop for Remove {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_edited_include_is_compiled_again_and_two_at_once_compile_it_once() {
    let project = Project::new(&[]);
    including(&project);
    let (stdout, _) = project.run(&["compile", "including.stan"], 0);
    let before = library(&stdout);
    let (stdout, _) = project.run(&["compile", "including.stan"], 0);
    assert!(stdout.contains("unchanged, already compiled"), "{stdout}");

    // A comment that no cache has seen makes it new.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    project.write(
        "prior,of.stan",
        &format!("{PRIOR} // {now} {}\n", std::process::id()),
    );
    let start = || {
        Command::new(binary())
            .args(["compile", "including.stan"])
            .current_dir(project.path(""))
            .env_remove("BRIDGESTAN")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
    let mut num_compilations = 0;
    let mut num_waits = 0;
    let mut libraries = Vec::new();
    for output in both {
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(output.status.success(), "{stderr}");
        num_compilations += stderr.matches("Compiling including.stan: done").count();
        let waits = "Waiting for another process, which is making including.stan";
        num_waits += stderr.matches(waits).count();
        libraries.push(library(&stdout));
    }
    let _remove = Remove(libraries[0].parent().unwrap().to_path_buf());
    assert_eq!((num_compilations, num_waits), (1, 1));
    assert_eq!(libraries[0], libraries[1]);
    assert_ne!(libraries[0], before);
    assert!(libraries[0].is_file());
    let (stdout, _) = project.run(&["compile", "including.stan"], 0);
    assert!(stdout.contains("unchanged, already compiled"), "{stdout}");
    assert_eq!(library(&stdout), libraries[0]);
}

const VERSION: &str =
    "#define BRIDGESTAN_MAJOR 2\n#define BRIDGESTAN_MINOR 9\n#define BRIDGESTAN_PATCH 0\n";

/// A folder that looks like BridgeStan and "compiles" by copying `library`, leaving a note.
fn fake_bridgestan(project: &Project, library: &Path) -> PathBuf {
    let folder = project.path("bridgestan-2.9.0");
    project.write("bridgestan-2.9.0/src/version.hpp", VERSION);
    for submodule in ["src/stan/version.hpp", "lib/stan_math/stan/math.hpp"] {
        project.write(&format!("bridgestan-2.9.0/stan/{submodule}"), "");
    }
    let rule = format!(
        "%_model.so: %.stan\n\tcp {} $@\n\techo $@ $(STAN_THREADS) >> made\n",
        library.display()
    );
    fs::write(folder.join("Makefile"), rule).unwrap();
    folder
}

#[test]
fn a_bridgestan_folder_compiles_by_its_own_makefile() {
    let project = Project::new(&[]);
    let (stdout, _) = project.run(&["compile", "linear"], 0);
    let wheels = library(&stdout);
    let folder = fake_bridgestan(&project, &wheels);
    // A genuine library knows where its TBB is; this copy has left it behind.
    let tbb = wheels
        .parent()
        .unwrap()
        .join("../../toolchains/httpstan-4.13.0/httpstan/lib");
    let made = || fs::read_to_string(folder.join("made")).unwrap_or_default();
    let cache = project.path("cache");
    let run = |args: &[&str], by_variable: bool| {
        let mut command = project.unshuffle(args);
        command
            .env("UNSHUFFLE_CACHE", &cache)
            .env("LD_LIBRARY_PATH", &tbb);
        if by_variable {
            command.env("BRIDGESTAN", &folder);
        } else {
            command.arg("--bridgestan").arg(&folder);
        }
        ended_with(&mut command, 0)
    };
    let (stdout, _) = run(&["compile", "linear"], false);
    assert!(stdout.contains("linear.stan: compiled in"), "{stdout}");
    assert!(library(&stdout).starts_with(&cache), "{stdout}");
    assert!(made().contains("linear_model.so true"), "{}", made());
    let (stdout, _) = run(&["compile", "linear"], true);
    assert!(stdout.contains("unchanged, already compiled"), "{stdout}");
    run(&["fit", "config.json", "--quiet"], true);
    assert_eq!(made().lines().count(), 1, "{}", made());
    project.run(
        &["fit", "config.json", "--quiet", "--set", "output=wheel"],
        0,
    );
    assert_eq!(project.draws("out"), project.draws("wheel"));
    let saved = fs::read_to_string(project.path("out/config.json")).unwrap();
    assert!(saved.contains("BridgeStan in "), "{saved}");
    assert!(!cache.join("toolchains").exists(), "nothing was fetched");
    let (stdout, _) = run(&["doctor"], true);
    assert!(stdout.contains("BridgeStan in "), "{stdout}");

    project.write("bridgestan-2.9.0/make/local", "CXXFLAGS += -g\n");
    let (stdout, _) = run(&["compile", "linear"], true);
    assert!(stdout.contains("linear.stan: compiled in"), "{stdout}");
    assert_eq!(made().lines().count(), 2, "a changed folder is seen");
}

#[test]
fn what_a_bridgestan_folder_lacks_is_said_before_make_runs() {
    let project = Project::new(&[]);
    let folder = fake_bridgestan(&project, Path::new("/nonexistent.so"));
    let run = |path: Option<&str>| {
        let mut command = project.unshuffle(&["compile", "linear"]);
        command.env("UNSHUFFLE_CACHE", project.path("cache"));
        command.env("BRIDGESTAN", &folder);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        ended_with(&mut command, 3).1
    };
    let stderr = run(None);
    assert!(stderr.contains("lacks bin/stanc"), "{stderr}");
    let stderr = run(Some("/nonexistent"));
    assert!(stderr.contains("`make`, which cannot be run"), "{stderr}");
    fs::remove_file(folder.join("stan/lib/stan_math/stan/math.hpp")).unwrap();
    let stderr = run(None);
    assert!(stderr.contains("git submodule update --init"), "{stderr}");
    let older = VERSION.replace("MINOR 9", "MINOR 7");
    project.write("bridgestan-2.9.0/src/version.hpp", &older);
    let stderr = run(None);
    assert!(
        stderr.contains("is BridgeStan 2.7.0, not 2.9.0"),
        "{stderr}"
    );
}

#[test]
fn an_empty_bridgestan_variable_is_none() {
    let project = Project::new(&[]);
    for command in [&["compile", "linear"][..], &["doctor"]] {
        let mut command = project.unshuffle(command);
        let (stdout, _) = ended_with(command.env("BRIDGESTAN", ""), 0);
        assert!(!stdout.contains("FAILED"), "{stdout}");
    }
}

#[test]
fn a_bridgestan_makefile_that_fails_ends_with_3_or_with_stancs_words() {
    let project = Project::new(&[]);
    let folder = fake_bridgestan(&project, Path::new("/nonexistent.so"));
    project.write("bridgestan-2.9.0/bin/stanc", "");
    let args = [
        "compile",
        "linear",
        "--bridgestan",
        folder.to_str().unwrap(),
    ];
    let run = |code| {
        let mut command = project.unshuffle(&args);
        ended_with(command.env("UNSHUFFLE_CACHE", project.path("cache")), code).1
    };
    let stderr = run(3);
    assert!(
        stderr.contains("the C++ compiler failed on the model"),
        "{stderr}"
    );
    let log = stderr.split("see ").nth(1).unwrap();
    let log = log.split(" (or").next().unwrap();
    assert!(
        fs::read_to_string(log).unwrap().contains("/nonexistent.so"),
        "{stderr}"
    );
    let complaint = "Semantic error in 'linear.stan', line 3, column 1";
    let rule = format!("%_model.so: %.stan\n\t@echo \"{complaint}\" >&2; exit 1\n");
    fs::write(folder.join("Makefile"), rule).unwrap();
    let stderr = run(2);
    assert!(stderr.contains(complaint), "{stderr}");
}

#[test]
fn a_missing_include_ends_with_2_and_its_line() {
    let project = Project::new(&[]);
    project.write("lost.stan", "functions {\n#include gone.stan\n}\n");
    let (_, stderr) = project.run(&["compile", "lost.stan"], 2);
    assert!(stderr.contains("lost.stan, line 2"), "{stderr}");
    assert!(stderr.contains("`gone.stan`"), "{stderr}");
}
