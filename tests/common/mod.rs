//! What the integration tests share: a small project on disk, the binary, and the compiler with the user's cache.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

pub mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use unshuffle::internals::config::{self, Config};
use unshuffle::internals::model::stan::{Compiler, SilentBuild, StanSource};

/// A linear trend with fixed "errors", so that every run sees the same 20 rows.
pub fn rows() -> Vec<(f64, f64)> {
    let wave = |k: usize| ((k * k) as f64 * 0.7).sin() + 0.5 * (k as f64 * 1.9).cos();
    (0..20)
        .map(|k| {
            let x = (k as f64 - 7.0) / 5.0;
            (x, 1.0 + 2.0 * x + 0.9 * wave(k))
        })
        .collect()
}

pub fn csv_of(rows: &[(f64, f64)]) -> String {
    let lines: String = rows.iter().map(|(x, y)| format!("{x},{y}\n")).collect();
    format!("x,y\n{lines}")
}

/// A folder with `data.csv` and `config.json`, removed at the end.
pub struct Project {
    dir: TempDir,
}

impl Project {
    /// The linear model with two short chains; `changes` are (dotted key, value).
    pub fn new(changes: &[(&str, Value)]) -> Project {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("data.csv"), csv_of(&rows())).unwrap();
        let project = Project { dir };
        project.configure(changes);
        project
    }

    /// Writes the config anew.
    pub fn configure(&self, changes: &[(&str, Value)]) {
        let mut config = json!({
            "model": { "stan": "linear" },
            "data": { "file": "data.csv", "response": "y", "predictors": ["x"] },
            "permutation": { "update": { "name": "none" } },
            "sampler": { "chains": 2, "warmup": 300, "draws": 200, "seed": 7 },
            "output": "out",
        });
        for (key, value) in changes {
            let pointer = format!("/{}", key.replace('.', "/"));
            match config.pointer_mut(&pointer) {
                Some(place) => *place = value.clone(),
                None => {
                    let (parent, name) = pointer.rsplit_once('/').unwrap();
                    config.pointer_mut(parent).unwrap()[name] = value.clone();
                }
            }
        }
        fs::write(self.path("config.json"), config.to_string()).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn config(&self) -> Config {
        config::load(&self.path("config.json"), &[]).unwrap()
    }

    /// The binary, in this folder.
    pub fn unshuffle(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(binary());
        command
            .args(args)
            .current_dir(self.dir.path())
            .env_remove("BRIDGESTAN");
        command
    }

    /// Runs the binary, which must end with `code`; returns stdout and stderr.
    pub fn run(&self, args: &[&str], code: i32) -> (String, String) {
        ended_with(&mut self.unshuffle(args), code)
    }

    /// The draws of each chain in `folder`.
    pub fn draws(&self, folder: &str) -> Vec<String> {
        let files = (1..).map(|chain| self.path(folder).join(format!("draws_{chain}.csv")));
        let files = files.take_while(|path| path.exists());
        files.map(|path| without_comments(&path)).collect()
    }
}

/// A fit in the background that would take hours, to be interrupted.
pub struct Endless<'p> {
    project: &'p Project,
    child: Child,
}

impl Endless<'_> {
    pub fn start(project: &Project, num_threads: usize) -> Endless<'_> {
        let child = Command::new(binary())
            .args(["fit", "config.json", "--quiet"])
            .args(["--set", "sampler.draws=20000000"])
            .args(["--set", "sampler.thin=2"])
            .args(["--threads", &num_threads.to_string()])
            .current_dir(project.path(""))
            .env_remove("BRIDGESTAN")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Endless { project, child }
    }

    /// Waits for a dozen rows.
    pub fn wait_for_rows(&self, chain: usize) {
        self.wait_for(chain, 12);
    }

    /// Waits for so many rows; the limit only keeps a broken program from hanging the tests.
    pub fn wait_for(&self, chain: usize, num_rows: usize) {
        let path = self.project.path(&format!("out/draws_{chain}.csv"));
        let start = Instant::now();
        while !path.exists() || without_comments(&path).lines().count() < num_rows {
            assert!(start.elapsed() < Duration::from_secs(900), "no draws came");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until both chains have about as many rows: on a busy machine one of them may begin late.
    pub fn wait_until_level(&self) {
        let num_rows = |chain: usize| {
            let path = self.project.path(&format!("out/draws_{chain}.csv"));
            match path.exists() {
                true => without_comments(&path).lines().count(),
                false => 0,
            }
        };
        let start = Instant::now();
        loop {
            let [first, second] = [1, 2].map(num_rows);
            if 4 * first.min(second) > 3 * first.max(second) {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(900), "no draws came");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ctrl-C; returns the exit code and stderr.
    pub fn interrupt(self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.unwrap().success());
        let output = self.child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    }
}

pub fn ended_with(command: &mut assert_cmd::Command, code: i32) -> (String, String) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let found = output.status.code();
    assert_eq!(
        found,
        Some(code),
        "{command:?}\nstdout: {stdout}\nstderr: {stderr}"
    );
    (stdout, stderr)
}

pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_unshuffle")
}

/// Header and rows; the comments hold times.
pub fn without_comments(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A script of tests/python, by the Python that `make test` sets up.
pub fn python(script: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/python/bin/python");
    assert!(
        python.exists(),
        "{} is missing: `make test` makes it",
        python.display()
    );
    let mut command = Command::new(python);
    command.arg(root.join("tests/python").join(script));
    command
}

/// The column `name` of the chain in `text`, as `Project::draws` gives it.
pub fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let k = header.split(',').position(|known| known == name).unwrap();
    lines
        .map(|line| line.split(',').nth(k).unwrap().parse().unwrap())
        .collect()
}

/// The compiler that the binary uses, with the user's own cache.
pub fn compiler() -> Compiler<'static> {
    Compiler::find(None, &SilentBuild, 2).unwrap()
}

/// The linear model.
pub const LINEAR: &str = include_str!("../../stan/linear.stan");

/// Writes `including.stan`, which is the linear model with a prior in `prior,of.stan`; returns the text of the whole.
pub fn including(project: &Project) -> &'static str {
    let line = "  centred ~ normal(beta_location, beta_scale);\n";
    assert!(LINEAR.contains(line));
    let text = LINEAR.replace(line, "#include prior,of.stan\n");
    project.write("including.stan", &text);
    project.write("prior,of.stan", line);
    LINEAR
}

/// The linear model with all coefficients near 5, which takes at most 50 rows.
pub fn near_five() -> String {
    let prior = "  centred ~ normal(beta_location, beta_scale);\n";
    let other = "  beta ~ normal(5, 0.01);\n  if (N > 50) reject(\"too many rows\");\n";
    let text = LINEAR.replace(prior, other);
    assert_ne!(text, LINEAR);
    text
}

/// The linear model with coefficients above 0.
pub fn positive_linear() -> String {
    let text = LINEAR.replace("vector[D] beta;", "vector<lower=0>[D] beta;");
    assert_ne!(text, LINEAR);
    text
}

/// A program of tests/stan. Tests that name and write it alike share what is compiled.
pub fn program(name: &str) -> StanSource {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stan");
    StanSource::from_file(&folder.join(name)).unwrap()
}
