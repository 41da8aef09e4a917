//! The cache of compiled models: damaged ones, other paths, no compiler, read-only, and bundles for other machines.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::common::{Project, binary, ended_with};

/// A cache of the project's own, with a copy of the compiled linear model; Stan is reached through a link.
struct Private {
    root: PathBuf,
    model: PathBuf,
}

impl Private {
    fn new(project: &Project) -> Private {
        let library = compiled_linear(project);
        let entry = library.parent().unwrap();
        let shared = entry.parent().unwrap().parent().unwrap();
        let root = project.path("cache");
        let copy = root.join("models").join(entry.file_name().unwrap());
        fs::create_dir_all(&copy).unwrap();
        for name in ["model.so", "ok"] {
            fs::copy(entry.join(name), copy.join(name)).unwrap();
        }
        symlink(shared.join("toolchains"), root.join("toolchains")).unwrap();
        let model = copy.join("model.so");
        Private { root, model }
    }
}

fn compiled_linear(project: &Project) -> PathBuf {
    let (stdout, _) = project.run(&["compile", "linear"], 0);
    PathBuf::from(stdout.trim_end().rsplit(": ").next().unwrap())
}

/// Every file and folder with the time of its last change.
fn snapshot(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        found.push((
            folder.clone(),
            folder.metadata().unwrap().modified().unwrap(),
        ));
        for child in fs::read_dir(folder).unwrap() {
            let path = child.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() {
                folders.push(path);
            } else {
                found.push((path, metadata.modified().unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn fit_in(project: &Project, cache: &Path, output: &str) -> assert_cmd::Command {
    let setting = format!("output={output}");
    let mut fit = project.unshuffle(&["fit", "config.json", "--quiet", "--set", &setting]);
    fit.env("UNSHUFFLE_CACHE", cache).env_remove("CXX");
    fit
}

#[test]
fn a_damaged_model_is_never_loaded() {
    let project = Project::new(&[]);
    let Private { root, model } = Private::new(&project);
    let whole = fs::read(&model).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() / 2], &flipped, &[]] {
        fs::write(&model, damaged).unwrap();
        let mut fit = fit_in(&project, &root, "out");
        let (_, stderr) = ended_with(fit.env("CXX", "/nonexistent/g++"), 3);
        let expected = format!("{} is damaged: linear.stan is made again.", model.display());
        assert!(stderr.contains(&expected), "{stderr}");
        assert!(stderr.contains("cannot run `/nonexistent/g++`"), "{stderr}");
    }
    fs::write(&model, whole).unwrap();
    ended_with(&mut fit_in(&project, &root, "out"), 0);
}

/// One bit of one of eight thousand headers, in a cache whose files are links to those of the shared one.
#[test]
fn a_damaged_header_is_named_before_a_compile_and_by_doctor() {
    let project = Project::new(&[]);
    let root = project.path("cache");
    let shared = compiled_linear(&project);
    let shared = shared.ancestors().nth(3).unwrap().join("toolchains");
    fs::create_dir(&root).unwrap();
    let copy = |from: &Path, to: &Path| Command::new("cp").args(["-rl"]).args([from, to]).status();
    // Another file system has no links.
    if !copy(&shared, &root.join("toolchains")).unwrap().success() {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(&shared)
            .arg(&root)
            .status();
        assert!(copied.unwrap().success());
    }
    let name = "httpstan/include/boost/math/special_functions/gamma.hpp";
    let header = root.join("toolchains/httpstan-4.13.0").join(name);
    let mut bytes = fs::read(&header).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::remove_file(&header).unwrap();
    fs::write(&header, bytes).unwrap();
    let compiler = Command::new("which").arg("g++").output().unwrap().stdout;
    let compiler = String::from_utf8(compiler).unwrap();
    let run = |words: &[&str], code| {
        let mut command = project.unshuffle(words);
        let command = command
            .env("UNSHUFFLE_CACHE", &root)
            .env_remove("UNSHUFFLE_BUNDLE");
        // Neither python3 to fetch Stan again nor an assembler.
        ended_with(
            command
                .env("PATH", "/nonexistent")
                .env("CXX", compiler.trim()),
            code,
        )
    };
    let (_, stderr) = run(&["compile", "linear"], 3);
    let says = format!("{} is damaged: Stan is made again.", header.display());
    assert!(stderr.contains(&says), "{stderr}");
    assert!(stderr.contains("cannot run `python3`"), "{stderr}");
    let (stdout, _) = run(&["doctor"], 3);
    let says = format!("{} is damaged: ", header.display());
    assert!(
        stdout.contains(&format!("FAILED  headers            {says}")),
        "{stdout}"
    );
    let (stdout, _) = run(&["cache", "list"], 0);
    assert!(stdout.contains("(damaged)"), "{stdout}");
}

#[test]
fn models_that_came_with_the_program_need_neither_compiler_nor_cache() {
    let project = Project::new(&[]);
    let Private { root, .. } = Private::new(&project);
    let empty = project.path("empty");
    let mut fit = fit_in(&project, &empty, "bundled");
    let bare = fit
        .env("UNSHUFFLE_BUNDLE", &root)
        .env("PATH", "/nonexistent");
    ended_with(bare, 0);
    assert!(!empty.exists(), "a fit of a bundled model writes no cache");
    // A program of one's own asks for a compiler, in one sentence.
    let linear = fs::read_to_string("stan/linear.stan").unwrap();
    project.write("own.stan", &format!("{linear}// my own\n"));
    let mut compile = project.unshuffle(&["compile", "own.stan"]);
    let bare = compile.env("UNSHUFFLE_CACHE", &empty).env_remove("CXX");
    let bare = bare
        .env("UNSHUFFLE_BUNDLE", &root)
        .env("PATH", "/nonexistent");
    let (_, stderr) = ended_with(bare, 3);
    assert!(
        stderr.contains("install a C++17 compiler (Debian: g++)"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    // Packing takes a bundled model as any other.
    let pack = ["cache", "pack", "again.tar.gz", "linear"];
    let mut pack = project.unshuffle(&pack);
    let (shown, _) = ended_with(
        pack.env("UNSHUFFLE_CACHE", &empty)
            .env("UNSHUFFLE_BUNDLE", &root),
        0,
    );
    assert!(shown.contains("linear.stan"), "{shown}");
}

#[test]
fn a_cached_model_needs_no_compiler_and_may_lie_at_another_path() {
    let project = Project::new(&[]);
    let Private { root, .. } = Private::new(&project);
    // A comma and a colon separate paths in the linker's options.
    let moved = project.path("a, b:c");
    fs::rename(&root, &moved).unwrap();
    let before = snapshot(&moved);
    let mut fit = fit_in(&project, &moved, "moved");
    ended_with(fit.env("PATH", "/nonexistent"), 0);
    assert_eq!(
        snapshot(&moved),
        before,
        "a fit writes nothing to its cache"
    );
    project.run(
        &["fit", "config.json", "--quiet", "--set", "output=here"],
        0,
    );
    assert_eq!(project.draws("moved"), project.draws("here"));
}

#[test]
fn a_cache_that_everyone_can_write_to_is_not_used() {
    let project = Project::new(&[]);
    let Private { root, .. } = Private::new(&project);
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(&root, open).unwrap();
    let (_, stderr) = ended_with(&mut fit_in(&project, &root, "out"), 3);
    assert!(
        stderr.contains("everyone can write to the cache"),
        "{stderr}"
    );
    assert!(stderr.contains("run `chmod o-w "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o775)).unwrap();
    ended_with(&mut fit_in(&project, &root, "out"), 0);
}

#[test]
fn a_compiler_that_is_none_is_named() {
    let project = Project::new(&[]);
    let Private { root, model } = Private::new(&project);
    fs::remove_dir_all(model.parent().unwrap()).unwrap();
    for (program, says) in [
        (
            "/bin/false",
            "`/bin/false` does not answer `--version` as a compiler does",
        ),
        // It answers, and makes nothing.
        ("/bin/true", "the C++ compiler failed on the "),
    ] {
        let mut fit = fit_in(&project, &root, "out");
        let (_, stderr) = ended_with(fit.env("CXX", program), 3);
        assert!(stderr.contains(says), "{stderr}");
    }
}

/// A compiler that answers, and then fails with these words.
fn failing_compiler(project: &Project, words: &str) -> PathBuf {
    let script = format!(
        "#!/bin/sh\n[ $1 = --version ] && echo g++ && exit 0\necho '{words}' >&2\nexit 1\n"
    );
    let path = project.write("failing_g++", &script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_machine_that_is_too_small_to_compile_is_told_from_a_program_that_is_wrong() {
    let project = Project::new(&[]);
    let Private { root, model } = Private::new(&project);
    fs::remove_dir_all(model.parent().unwrap()).unwrap();
    for (words, says) in [
        (
            "fatal error: error writing to /tmp/cc1.s: No space left on device",
            "the disk is full, here or in the folder for temporary files (TMPDIR); its words are in ",
        ),
        (
            "g++: fatal error: Killed signal terminated program cc1plus",
            "it was killed, for want of memory as a rule; its words are in ",
        ),
        (
            "error: expected a semicolon",
            "the model itself passed Stan",
        ),
    ] {
        let compiler = failing_compiler(&project, words);
        let mut fit = fit_in(&project, &root, "out");
        let (_, stderr) = ended_with(fit.env("CXX", compiler), 3);
        assert!(stderr.contains(says), "{stderr}");
        let log = stderr
            .split_whitespace()
            .find(|word| word.ends_with("compile.log"));
        let log = fs::read_to_string(log.unwrap()).unwrap();
        assert!(log.contains(words), "{log}");
        assert!(!root.join("failed").join("headers").exists());
    }
}

#[test]
fn sixty_models_load_in_one_process() {
    let project = Project::new(&[]);
    let Private { root, model } = Private::new(&project);
    let copies: Vec<String> = (0..60)
        .map(|k| {
            let folder = root.join("models").join(format!("copy{k}"));
            fs::create_dir_all(&folder).unwrap();
            let copy = folder.join("model.so");
            fs::copy(&model, &copy).unwrap();
            copy.display().to_string()
        })
        .collect();
    let mut args = vec!["doctor", "--load"];
    args.extend(copies.iter().map(String::as_str));
    let (stdout, _) = project.run(&args, 0);
    assert_eq!(stdout.trim(), "60 loaded");
}

#[test]
fn doctor_survives_a_model_that_ends_the_process() {
    let project = Project::new(&[]);
    let Private { root, model } = Private::new(&project);
    let whole = fs::read(&model).unwrap();
    let half = &whole[..whole.len() / 2];
    fs::write(&model, half).unwrap();
    // A record that fits: as if it had been made like this.
    let hash: String = Sha256::digest(half)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let marker = model.with_file_name("ok");
    let mut record: serde_json::Value =
        serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
    record["files"]["model.so"] = serde_json::json!({"size": half.len(), "sha256": hash});
    fs::write(&marker, record.to_string()).unwrap();
    let mut doctor = project.unshuffle(&["doctor"]);
    let (stdout, _) = ended_with(doctor.env("UNSHUFFLE_CACHE", &root), 3);
    assert!(stdout.contains("FAILED  test compile"), "{stdout}");
    assert!(stdout.contains("model.so ended the process"), "{stdout}");
    assert!(stdout.contains("delete its folder"), "{stdout}");
}

/// A bundle with the linear model, and a new cache that it is unpacked to.
fn unpacked(project: &Project) -> PathBuf {
    project.run(&["cache", "pack", "linear.tar.gz", "linear"], 0);
    let root = project.path("new/cache");
    let mut unpack = project.unshuffle(&["cache", "unpack", "linear.tar.gz"]);
    let (stdout, _) = ended_with(unpack.env("UNSHUFFLE_CACHE", &root), 0);
    assert!(stdout.contains("linear.stan"), "{stdout}");
    root
}

#[test]
fn a_bundle_fits_where_there_is_neither_compiler_nor_network() {
    let project = Project::new(&[]);
    let root = unpacked(&project);
    let mode = fs::metadata(&root).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let mut fit = fit_in(&project, &root, "bundled");
    ended_with(fit.env("PATH", "/nonexistent"), 0);
    project.run(
        &["fit", "config.json", "--quiet", "--set", "output=here"],
        0,
    );
    assert_eq!(project.draws("bundled"), project.draws("here"));

    let run = |args: &[&str], code| {
        let mut command = project.unshuffle(args);
        ended_with(command.env("UNSHUFFLE_CACHE", &root), code)
    };
    let (stdout, _) = run(&["cache", "unpack", "linear.tar.gz"], 0);
    assert!(
        stdout.contains("Entries that were there already: 2"),
        "{stdout}"
    );
    let (_, stderr) = run(&["cache", "pack", "linear.tar.gz"], 2);
    assert!(stderr.contains("linear.tar.gz: already exists"), "{stderr}");
    let (stdout, _) = run(&["cache", "pack", "again.tar.gz"], 0);
    assert!(stdout.ends_with("MB): linear.stan\n"), "{stdout}");
    let [first, again] =
        ["linear.tar.gz", "again.tar.gz"].map(|name| fs::read(project.path(name)).unwrap());
    assert!(
        first == again,
        "a bundle of the same models has the same bytes"
    );
}

/// Says its version, keeps the arguments of every other call, and fails.
const FAILING_CXX: &str =
    "#!/bin/sh\nif [ \"$1\" = --version ]; then echo g++; else echo \"$@\" >> args; exit 1; fi\n";

#[test]
fn flags_of_ones_own_reach_the_compiler_and_keep_models_apart() {
    let project = Project::new(&[]);
    let Private { root, .. } = Private::new(&project);
    let cxx = project.write("cxx", FAILING_CXX);
    fs::set_permissions(&cxx, fs::Permissions::from_mode(0o700)).unwrap();
    // Those that the tests run with.
    let usual = std::env::var("UNSHUFFLE_CXXFLAGS").unwrap_or_default();
    let compile = |flags: &str, code| {
        let mut command = project.unshuffle(&["compile", "linear"]);
        command.env("UNSHUFFLE_CACHE", &root).env("CXX", &cxx);
        ended_with(command.env("UNSHUFFLE_CXXFLAGS", flags), code)
    };
    let (stdout, _) = compile(&format!("  {usual} "), 0);
    assert!(stdout.contains("already compiled"), "{stdout}");
    assert!(!project.path("args").exists());
    compile(&format!("{usual} -O2 -DMINE"), 3);
    let calls = fs::read_to_string(project.path("args")).unwrap();
    for call in calls.lines() {
        let place = |flag: &str| call.find(flag).unwrap();
        assert!(place("-O3") < place("-O2 -DMINE"), "{call}");
    }
}

#[test]
fn old_and_failed_entries_are_listed_and_cleaned() {
    let project = Project::new(&[]);
    let root = unpacked(&project);
    let run = |args: &[&str]| {
        let mut command = project.unshuffle(args);
        ended_with(command.env("UNSHUFFLE_CACHE", &root), 0).0
    };
    let old = root.join("models/0123");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("ok"), "").unwrap();
    let mine = root.join("notes.txt");
    fs::write(&mine, "").unwrap();
    let stdout = run(&["cache", "list"]);
    assert!(stdout.contains("MB  linear.stan: "), "{stdout}");
    assert!(stdout.contains("0123 (of another version)"), "{stdout}");
    assert!(stdout.contains("Total: "), "{stdout}");
    let stdout = run(&["cache", "clean"]);
    assert!(stdout.contains(": 1 ("), "{stdout}");
    assert!(!old.exists());
    let stdout = run(&["cache", "list"]);
    assert!(stdout.contains("linear.stan"), "{stdout}");
    run(&["cache", "clean", "--all"]);
    let stdout = run(&["cache", "list"]);
    assert!(!stdout.contains("linear.stan"), "{stdout}");
    assert!(mine.exists());
}

/// The bundle with one member changed, packed again without a mistake of gzip or tar.
fn with_changed_model(bundle: &Path, to: &Path) {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(bundle).unwrap()));
    let encoder = GzEncoder::new(File::create(to).unwrap(), Compression::fast());
    let mut changed = tar::Builder::new(encoder);
    for member in archive.entries().unwrap() {
        let mut member = member.unwrap();
        let path = member.path().unwrap().into_owned();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut member, &mut bytes).unwrap();
        if path.ends_with("model.so") {
            bytes[5000] ^= 1;
        }
        let mut header = member.header().clone();
        changed
            .append_data(&mut header, path, bytes.as_slice())
            .unwrap();
    }
    changed.into_inner().unwrap().finish().unwrap();
}

#[test]
fn a_damaged_bundle_is_refused_whole() {
    let project = Project::new(&[]);
    project.run(&["cache", "pack", "linear.tar.gz", "linear"], 0);
    let bundle = project.path("linear.tar.gz");
    let bytes = fs::read(&bundle).unwrap();
    fs::write(project.path("cut.tar.gz"), &bytes[..bytes.len() / 2]).unwrap();
    with_changed_model(&bundle, &project.path("changed.tar.gz"));
    project.write("text.tar.gz", "not a bundle");
    for (name, words) in [
        ("cut.tar.gz", "cut.tar.gz: cannot read the bundle"),
        ("changed.tar.gz", "model.so of linear.stan is damaged"),
        ("text.tar.gz", "cannot read the bundle"),
        ("absent.tar.gz", "cannot read the bundle"),
    ] {
        let root = project.path("new");
        let mut unpack = project.unshuffle(&["cache", "unpack", name]);
        let (_, stderr) = ended_with(unpack.env("UNSHUFFLE_CACHE", &root), 2);
        assert!(stderr.contains(words), "{stderr}");
        let left = fs::read_dir(&root).unwrap().count();
        assert_eq!(left, 0, "{name} left something");
    }
}

#[test]
fn a_shared_cache_can_be_read_only() {
    let project = Project::new(&[]);
    let root = unpacked(&project);
    // Root may write anywhere, so another user runs a copy of the program that she can reach.
    let program = project.path("unshuffle");
    fs::copy(binary(), &program).unwrap();
    project.write("other.stan", "parameters { real x; }\n");
    let mut folders = vec![root.clone(), project.path("new"), project.path("")];
    folders.extend(snapshot(&root).into_iter().map(|(path, _)| path));
    for path in folders {
        fs::set_permissions(path, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let is_root = fs::metadata("/proc/self").is_ok_and(|found| {
        use std::os::unix::fs::MetadataExt;
        found.uid() == 0
    });
    let run = |args: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(args)
            .current_dir(project.path(""))
            .env("UNSHUFFLE_CACHE", &root)
            .env_remove("BRIDGESTAN");
        if is_root {
            command.uid(65534);
        }
        let output = command.output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), stdout, stderr)
    };
    let cached = run(&["compile", "linear"]);
    let other = run(&["compile", "other.stan"]);
    let (_, doctor, _) = run(&["doctor"]);
    for path in [project.path(""), project.path("new")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (path, _) in snapshot(&root) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(cached.0, Some(0), "{}", cached.2);
    assert!(cached.1.contains("already compiled"), "{}", cached.1);
    assert_eq!(other.0, Some(3), "{}", other.2);
    let sentence = "has no undamaged other.stan and cannot be written to; have its owner run `unshuffle compile`";
    assert!(other.2.contains(sentence), "{}", other.2);
    assert!(
        doctor.contains("(read-only: its models can be fitted)"),
        "{doctor}"
    );
    assert!(
        doctor.contains("linear.stan was compiled before, and loads"),
        "{doctor}"
    );
}
