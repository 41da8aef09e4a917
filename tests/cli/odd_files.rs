//! Files that are not what their names say, and names that lead elsewhere: each is told in a sentence, and none is lost.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::common::{Project, binary, csv_of, ended_with, rows};

const FIT: [&str; 3] = ["fit", "config.json", "--quiet"];

/// One sentence, and no output folder.
fn refused(project: &Project, args: &[&str], says: &str) {
    let (_, stderr) = project.run(args, 2);
    assert!(stderr.contains(says), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn compressed_data_and_text_of_another_encoding_are_named() {
    let project = Project::new(&[]);
    let text = csv_of(&rows());
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(wide).collect();
    for (bytes, says) in [
        (
            packed.finish().unwrap(),
            "data.csv is compressed (gzip); unpack it",
        ),
        (wide, "data.csv is UTF-16 text, not UTF-8; save"),
    ] {
        fs::write(project.path("data.csv"), bytes).unwrap();
        refused(&project, &FIT, says);
    }
}

#[test]
fn a_pipe_is_refused_before_anybody_waits_for_it() {
    let project = Project::new(&[]);
    let pipe = project.path("pipe.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let from_pipe = [&FIT[..], &["--set", "data.file=pipe.csv"]].concat();
    let says = "pipe.csv is a pipe or a device, and the data of a fit are read more than once; save them as a file";
    refused(&project, &from_pipe, says);
    let candidates = [&FIT[..], &["--set", "data.candidates=pipe.csv"]].concat();
    refused(&project, &candidates, says);
}

/// Runs a line of sh in the project with the program as `$U` and no more than so many kilobytes of memory.
fn with_memory(project: &Project, kilobytes: usize, line: &str) -> (Option<i32>, String) {
    let output = Command::new("bash")
        .args(["-c", &format!("ulimit -v {kilobytes}; {line}")])
        .env("U", binary())
        .env_remove("BRIDGESTAN")
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr)
}

#[test]
fn tables_that_memory_cannot_hold_are_refused_and_others_are_read() {
    const KILOBYTES: usize = 1_000_000;
    let project = Project::new(&[]);
    let says = "takes more memory than 1.0 GB, which is all that is free; ";
    let told = |line: &str| {
        let (code, stderr) = with_memory(&project, KILOBYTES, line);
        assert_eq!(code, Some(2), "{line}: {stderr}");
        assert!(stderr.contains(says), "{line}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
    };
    // Without an end.
    told("(echo set,name,estimate,variance; yes 1,a,1,1) | $U pool /dev/stdin");
    // The cells of so many short rows take thirty times as much as the text.
    let rows = "1,2\n".repeat(10_000_000);
    project.write("short.csv", &format!("x,y\n{rows}"));
    told("$U check config.json --set data.file=short.csv");
    // As many bytes in longer rows have room.
    let row = ["0.1234567890123456"; 20].join(",") + "\n";
    let header: Vec<String> = (0..20).map(|k| format!("x{k}")).collect();
    let rows = row.repeat(100_000);
    project.write("long.csv", &format!("{}\n{rows}", header.join(",")));
    let line = "$U check config.json --set data.file=long.csv";
    let (code, stderr) = with_memory(&project, KILOBYTES, line);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("no column `y`"), "{stderr}");
}

#[test]
fn a_pipe_in_place_of_a_saved_file_is_not_waited_for() {
    let project = Project::new(&[]);
    project.run(&FIT, 0);
    for name in ["draws_1.csv", "status.json"] {
        let path = project.path("out").join(name);
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let mut summary = project.unshuffle(&["summary", "out"]);
        let (_, stderr) = ended_with(summary.timeout(Duration::from_secs(60)), 2);
        let says = format!("cannot read out/{name}: it is a pipe or a device and no file");
        assert!(stderr.contains(&says), "{stderr}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    }
    project.run(&["summary", "out"], 0);
}

#[test]
fn outputs_that_no_folder_can_be_made_for_are_refused_before_sampling() {
    let project = Project::new(&[]);
    let long = format!("output={}", "a".repeat(300));
    symlink("nowhere", project.path("link")).unwrap();
    for (output, says) in [
        (
            long.as_str(),
            "(File name too long (os error 36)); choose another `output`",
        ),
        (
            "output=link",
            "link (it is a link to nothing); choose another `output`",
        ),
        (r#"output="a\u0000b""#, "choose another `output`"),
    ] {
        refused(&project, &[&FIT[..], &["--set", output]].concat(), says);
    }
    assert!(!project.path("nowhere").exists());
}

#[test]
fn a_folder_whose_name_is_not_text_is_refused() {
    let project = Project::new(&[]);
    let folder = project.path("").join(OsStr::from_bytes(b"q\xff"));
    fs::create_dir(&folder).unwrap();
    for file in ["config.json", "data.csv"] {
        fs::copy(project.path(file), folder.join(file)).unwrap();
    }
    for args in [
        &FIT[..],
        &["check", "config.json"],
        &["fit", "plan", "config.json"],
    ] {
        let mut command = project.unshuffle(args);
        let (_, stderr) = ended_with(command.current_dir(&folder), 2);
        assert!(
            stderr.contains("is not UTF-8 text, so no results could name it"),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn a_link_in_the_output_folder_is_somebody_elses() {
    let project = Project::new(&[]);
    let thesis = project.write("thesis.tex", "mine");
    fs::create_dir(project.path("out")).unwrap();
    for name in ["summary.csv", "draws_1.csv", "checkpoint_1.json.partial"] {
        let link = project.path("out").join(name);
        // Whether it leads to a file or to nothing.
        for target in [&thesis, &project.path("nothing.tex")] {
            symlink(target, &link).unwrap();
            let says = format!("out/{name} was not written by an earlier run");
            refused(&project, &FIT, &says);
            fs::remove_file(&link).unwrap();
        }
    }
    // What a fit that was killed at its first write leaves is replaced, but not through a link.
    symlink(&thesis, project.path("out/status.json.partial")).unwrap();
    project.run(&FIT, 0);
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "mine");
    assert!(!project.path("nothing.tex").exists());
}

#[test]
fn a_fit_whose_status_is_damaged_can_be_resumed_or_replaced() {
    let project = Project::new(&[]);
    project.run(&FIT, 0);
    let draws = project.draws("out");
    for more in ["--resume", "--force"] {
        for damaged in [&b"{\"fit\": "[..], &[0xff, 0xfe, 0xfd], b""] {
            fs::write(project.path("out/status.json"), damaged).unwrap();
            let (_, stderr) = project.run(&["summary", "out"], 2);
            assert!(stderr.contains("out/status.json is damaged"), "{stderr}");
            refused(&project, &FIT, "already holds a fit");
            project.run(&[&FIT[..], &[more]].concat(), 0);
            assert_eq!(project.draws("out"), draws, "{more}");
            project.run(&["summary", "out"], 0);
        }
    }
    // A lost one is a problem, as the fit may have been killed at its end.
    fs::remove_file(project.path("out/status.json")).unwrap();
    let (_, stderr) = project.run(&["diagnose", "out", "--strict"], 1);
    assert!(stderr.contains("has lost its status.json"), "{stderr}");
    project.run(&[&FIT[..], &["--resume"]].concat(), 0);
    let (_, stderr) = project.run(&["summary", "out"], 0);
    assert!(!stderr.contains("status.json"), "{stderr}");
    // Without a config that vouches for the fit, nobody knows whose files these are.
    fs::write(project.path("out/status.json"), "{").unwrap();
    fs::remove_file(project.path("out/config.json")).unwrap();
    let force = [&FIT[..], &["--force"]].concat();
    refused(&project, &force, "out/status.json is damaged");
    assert_eq!(project.draws("out"), draws);
}

#[test]
fn a_chain_whose_checkpoint_is_damaged_starts_again_when_asked() {
    let project = Project::new(&[]);
    let more = [&FIT[..], &["--set", "sampler.draws=400"]].concat();
    project.run(&[&more[..], &["--set", "output=whole"]].concat(), 0);
    project.run(&FIT, 0);
    let resume = [&more[..], &["--resume"]].concat();
    for damaged in [&b"{\"format\": 2"[..], &[0xff, 0xfe]] {
        fs::write(project.path("out/checkpoint_1.json"), damaged).unwrap();
        let says = "out/checkpoint_1.json is damaged: remove it, and `unshuffle fit --resume` samples chain 1 again from its beginning";
        refused(&project, &resume, says);
    }
    fs::remove_file(project.path("out/checkpoint_1.json")).unwrap();
    project.run(&resume, 0);
    assert_eq!(project.draws("out"), project.draws("whole"));
}
