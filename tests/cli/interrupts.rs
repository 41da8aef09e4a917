//! Signals before sampling begins: one sentence, the exit code of an interruption, and a folder as it was.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Project, binary};
use crate::resume::{signal, wait};
use serde_json::json;

/// Starts a command that reads a program from a pipe, sends it a signal while it waits there, and returns its exit code,
/// stdout and stderr.
fn interrupted(project: &Project, args: &[&str], name: &str) -> (Option<i32>, String, String) {
    let pipe = project.path("pipe.stan");
    let _ = fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut command = Command::new(binary());
    command
        .args(args)
        .args(["--set", "model.stan=pipe.stan"])
        .current_dir(project.path(""))
        .env_remove("BRIDGESTAN")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Tests that were started by nohup would hand on that SIGHUP is ignored.
    // SAFETY: sets the disposition of one signal to the default, which runs no code.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
    let child = command.spawn().unwrap();
    // A pipe without a reader cannot be opened like this: the command has come as far as its program.
    let open = |path: &Path| {
        let mut options = OpenOptions::new();
        options
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
    };
    let mut writer = None;
    wait(|| {
        writer = open(&pipe).ok();
        writer.is_some()
    });
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    drop(writer);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_signal_before_sampling_ends_with_a_sentence_and_leaves_the_folder_as_it_was() {
    const SAYS: &str =
        "Interrupted before sampling began: nothing is lost, and the same command starts again.";
    let project = Project::new(&[("sampler.draws", json!(20)), ("sampler.warmup", json!(50))]);
    for name in ["-INT", "-TERM", "-HUP"] {
        for command in [
            &["fit", "config.json"][..],
            &["check", "config.json"],
            &["fit", "plan", "config.json"],
        ] {
            let (code, stdout, stderr) = interrupted(&project, command, name);
            assert_eq!(code, Some(130), "{name} {command:?}: {stderr}");
            assert_eq!((stdout.as_str(), stderr.trim_end()), ("", SAYS));
            assert!(!project.path("out").exists());
        }
    }
    project.run(&["fit", "config.json", "--quiet"], 0);
    let before = fs::read_to_string(project.path("out/status.json")).unwrap();
    let (code, stdout, _) = interrupted(
        &project,
        &["fit", "config.json", "--force", "--json"],
        "-TERM",
    );
    assert_eq!(code, Some(130));
    let last: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["event"], &last["code"], &last["message"]),
        (&json!("error"), &json!(130), &json!(SAYS))
    );
    assert_eq!(
        fs::read_to_string(project.path("out/status.json")).unwrap(),
        before
    );
    assert!(!project.path("out.new").exists());
}
