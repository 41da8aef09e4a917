//! Two fits into one folder, refits that fail or are interrupted, and files of others: nothing is overwritten by mistake.

use std::fs;

use serde_json::json;

use crate::common::{Endless, Project};
use crate::resume::{arguments, iteration, project, read, signal, start, state, wait};

#[test]
fn two_fits_do_not_share_a_folder() {
    let project = Project::new(&[]);
    let running = Endless::start(&project, 2);
    running.wait_for_rows(1);
    for more in [&[][..], &["--force"], &["--resume"]] {
        let arguments = [&["fit", "config.json", "--quiet"], more].concat();
        let (_, stderr) = project.run(&arguments, 2);
        assert!(stderr.contains("is fitting into"), "{stderr}");
        assert!(stderr.contains("process "), "{stderr}");
        assert_eq!(stderr.lines().count(), 1);
    }
    let (code, stderr) = running.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    assert!(!project.path("out/fit.lock").exists());

    // Started together, one of them has the folder.
    let mut both = [
        start(&project, "output=race", &[]),
        start(&project, "output=race", &[]),
    ];
    let mut codes = both.each_mut().map(|child| child.wait().unwrap().code());
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2)]);
}

#[test]
fn a_refit_that_fails_or_is_interrupted_leaves_the_fit_as_it_was() {
    let project = project();
    project.run(&arguments("output=out", &[]), 0);
    project.write("out/notes.txt", "mine");
    let files = || {
        let entries = fs::read_dir(project.path("out")).unwrap();
        let mut files: Vec<(String, String)> = entries
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, read(&entry.path()))
            })
            .collect();
        files.sort();
        files
    };
    let before = files();
    let bad = json!({"beta": [1e200, 1e200], "sigma2": 1e-300}).to_string();
    let bad = format!("sampler.init={bad}");
    let failing = project
        .unshuffle(&arguments("output=out", &["--force", "--set", &bad]))
        .output()
        .unwrap();
    assert!(!failing.status.success());
    assert!(files() == before);
    assert!(!project.path("out.new").exists());

    let mut child = start(
        &project,
        "output=out",
        &["--force", "--set", "sampler.draws=9999999"],
    );
    wait(|| iteration(&project, "out.new", 1) > 1600);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(files() == before);
    assert_eq!(state(&project, "out.new"), "interrupted");

    // The same config goes on there, and another one is refused.
    let more = ["--resume", "--set", "sampler.draws=9999999"];
    let other = [&more[..], &["--set", "sampler.seed=9"]].concat();
    let (_, stderr) = project.run(&arguments("output=out", &other), 2);
    assert!(stderr.contains("sampler.seed differs"), "{stderr}");
    let stood = iteration(&project, "out.new", 1);
    let mut child = start(&project, "output=out", &more);
    wait(|| iteration(&project, "out.new", 1) > stood);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(files() == before);

    project.run(
        &arguments("output=out", &["--force", "--set", "sampler.seed=8"]),
        0,
    );
    assert_eq!(read(&project.path("out/notes.txt")), "mine");
    let after = files();
    assert_eq!(after.len(), before.len());
    assert!(after != before && !project.path("out.new").exists());
    let report = read(&project.path("out/report.html"));
    assert!(!report.contains("out.new"));
}

#[test]
fn files_of_others_are_not_replaced() {
    let project = Project::new(&[]);
    for name in [
        "summary.csv",
        "draws_2.csv",
        "model.stan",
        "config.json",
        "rows.csv",
    ] {
        let folder = format!("with_{name}");
        project.write(&format!("{folder}/{name}"), "{}");
        for more in [&[][..], &["--force"], &["--resume"]] {
            let output = format!("output={folder}");
            let (_, stderr) = project.run(&arguments(&output, more), 2);
            let sentence = format!("{name} was not written by an earlier run");
            assert!(stderr.contains(&sentence), "{stderr}");
        }
        assert_eq!(read(&project.path(&folder).join(name)), "{}");
        assert_eq!(fs::read_dir(project.path(&folder)).unwrap().count(), 1);
    }
    // A third chain of somebody else.
    project.run(&arguments("output=out", &[]), 0);
    project.write("out/draws_3.csv", "mine");
    let three = ["--force", "--set", "sampler.chains=3"];
    let (_, stderr) = project.run(&arguments("output=out", &three), 2);
    assert!(stderr.contains("draws_3.csv was not written"), "{stderr}");
    assert_eq!(read(&project.path("out/draws_3.csv")), "mine");

    project.write("new.csv", "x\n0.5\n");
    project.write("p.csv", "mine");
    let predict = ["predict", "out", "new.csv", "--output"];
    let (_, stderr) = project.run(&[&predict[..], &["p.csv"]].concat(), 2);
    assert!(stderr.contains("p.csv already exists"), "{stderr}");
    let (_, stderr) = project.run(&[&predict[..], &["new.csv", "--force"]].concat(), 2);
    assert!(stderr.contains("is the file that is read"), "{stderr}");
    assert_eq!(read(&project.path("p.csv")), "mine");
    project.run(&[&predict[..], &["p.csv", "--force"]].concat(), 0);
    assert_ne!(read(&project.path("p.csv")), "mine");
    let estimates = "set,name,estimate,standard_error\n1,b,1,0.1\n2,b,2,0.1\n";
    project.write("estimates.csv", estimates);
    let pool = [
        "pool",
        "estimates.csv",
        "--force",
        "--output",
        "estimates.csv",
    ];
    let (_, stderr) = project.run(&pool, 2);
    assert!(stderr.contains("is the file that is read"), "{stderr}");
    assert_eq!(read(&project.path("estimates.csv")), estimates);
}

/// `init`, `simulate` and `convert` name their outputs, which may be what they read.
#[test]
fn no_command_writes_over_what_it_reads() {
    let project = Project::new(&[]);
    let data = read(&project.path("data.csv"));
    project.write("linked/linked.csv", "id,y\na,1\nb,2.5\nc,4\n");
    project.write("right.csv", "id,x\na,1\nb,2\nc,4\n");
    project.write("pairs.csv", "id_l,id_r\na,a\nb,b\nc,c\n");
    let left = read(&project.path("linked/linked.csv"));
    for line in [
        "init --from data.csv data.csv --response y --force",
        "simulate --design file --from data.csv --response y --predictors x --output . --force",
        "convert linked/linked.csv right.csv pairs.csv --id id --formula y~x --columns id_l id_r --force",
    ] {
        let (_, stderr) = project.run(&line.split(' ').collect::<Vec<_>>(), 2);
        assert!(stderr.contains("is the file that is read"), "{stderr}");
    }
    assert_eq!(read(&project.path("data.csv")), data);
    assert_eq!(read(&project.path("linked/linked.csv")), left);
}
