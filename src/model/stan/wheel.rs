//! Stan from a Python wheel: `httpstan` carries stanc, all headers and TBB; only its files are used.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cache::{Wanted, cache_error};
use super::record::{Record, sha256};
use super::wheel_record::damaged_file;
use super::{BuildObserver, Cache, StanError};

const PACKAGE: &str = "httpstan==4.13.0";
const SHA256: &str = "db96f12cacea0ae8efb6bddbf3061c3536b3503187befda936c6a36c1da7124d";
/// Also the cache key, so another wheel never meets files of this one.
pub(super) const ID: &str = "httpstan-4.13.0";
pub(super) const STAN_VERSION: &str = "2.35.0";

/// The unpacked wheel.
#[derive(Debug, Clone)]
pub struct Wheel {
    root: PathBuf,
}

impl Wheel {
    /// What fits of compiled models need, by path inside the wheel: all that a bundle has of it.
    pub(super) const FOR_FITS: &[&str] = &["httpstan/stanc", "httpstan/lib/libtbb.so.2"];

    /// What compiling needs besides; a file of each library stands for the others.
    const WHOLE: &[&str] = &[
        "httpstan/stanc",
        "httpstan/lib/libtbb.so.2",
        "httpstan/include/stan/model/model_header.hpp",
        "httpstan/include/Eigen/Dense",
    ];

    pub(super) fn wanted(files: &'static [&'static str]) -> Wanted<'static> {
        Wanted {
            kind: "toolchains",
            key: ID,
            what: "Stan",
            recipe: ID,
            files,
            damaged_file: |_| None,
        }
    }

    /// As much of Stan as fits of compiled models need; all of it where it is fetched.
    pub fn find_or_fetch(cache: &Cache, observer: &dyn BuildObserver) -> Result<Wheel, StanError> {
        match cache.find(&Self::wanted(Self::FOR_FITS)) {
            Some(root) => Ok(Wheel { root }),
            None => Self::whole(cache, observer),
        }
    }

    /// All of Stan, for compiling. A cache that was unpacked from a bundle has only a part of it.
    pub(super) fn whole(cache: &Cache, observer: &dyn BuildObserver) -> Result<Wheel, StanError> {
        let wanted = Wanted {
            damaged_file,
            ..Self::wanted(Self::WHOLE)
        };
        let root = cache.get_or_build(&wanted, observer, |work| fetch(work, observer))?;
        Ok(Wheel { root })
    }

    pub fn stanc(&self) -> PathBuf {
        self.root.join("httpstan/stanc")
    }

    pub fn include(&self) -> PathBuf {
        self.root.join("httpstan/include")
    }

    pub fn lib(&self) -> PathBuf {
        self.root.join("httpstan/lib")
    }

    /// Names the first file that is gone or damaged, or what is there.
    pub fn check_files(&self) -> Result<String, String> {
        let mut needed = Self::WHOLE.iter().map(|name| self.root.join(name));
        if let Some(missing) = needed.find(|path| !path.is_file()) {
            return Err(format!("{} is missing", missing.display()));
        }
        match damaged_file(&self.root) {
            Some(damaged) => Err(format!("{} is damaged", damaged.display())),
            None => Ok(self.include().display().to_string()),
        }
    }

    /// Whether a record is that of all of Stan, and not of the part that a bundle has.
    pub(super) fn is_whole(record: &Record) -> bool {
        Self::WHOLE
            .iter()
            .all(|name| record.files.contains_key(*name))
    }
}

fn fetch(work: &Path, observer: &dyn BuildObserver) -> Result<(), StanError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(StanError::Platform {
            platform: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
        });
    }
    observer.task("Fetching Stan 2.35.0 with pip (45 MB)", 10, &mut || {
        download(work)
    })?;
    let wheel = downloaded(work)?;
    verify(&wheel)?;
    observer.task("Unpacking Stan", 10, &mut || unpack(&wheel, work))?;
    fs::remove_file(&wheel).map_err(|source| cache_error("tidy", &wheel, source))
}

fn download(work: &Path) -> Result<(), StanError> {
    // The wheel is a container of files here, so the local Python's own version must not matter.
    let output = Command::new("python3")
        .args([
            "-I",
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
        ])
        .args(["--no-deps", "--only-binary=:all:", "--implementation", "cp"])
        .args([
            "--python-version",
            "3.11",
            "--platform",
            "manylinux2014_x86_64",
            "--dest",
        ])
        .arg(".")
        .arg(PACKAGE)
        // Neither the working directory nor PYTHONPATH decides what is run as pip.
        .current_dir(work)
        .output()
        .map_err(|source| StanError::MissingProgram {
            program: "python3".into(),
            remedy: "install Python 3 with pip (it only downloads Stan), or give --bridgestan DIR",
            source,
        })?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("No space left on device") {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        return Err(cache_error("write to", work, full));
    }
    let detail = stderr.lines().rev().find(|line| !line.trim().is_empty());
    Err(StanError::Download {
        package: PACKAGE.into(),
        detail: detail.unwrap_or("pip gave no reason").trim().to_string(),
    })
}

fn downloaded(work: &Path) -> Result<PathBuf, StanError> {
    let entries = fs::read_dir(work).map_err(|source| cache_error("read", work, source))?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .ok_or_else(|| StanError::Download {
            package: PACKAGE.into(),
            detail: "pip ended well but left no wheel".into(),
        })
}

fn verify(wheel: &Path) -> Result<(), StanError> {
    let found = sha256(wheel).map_err(|source| cache_error("read", wheel, source))?;
    if found == SHA256 {
        return Ok(());
    }
    Err(StanError::Checksum {
        package: PACKAGE.into(),
        expected: SHA256,
        found,
    })
}

fn unpack(wheel: &Path, work: &Path) -> Result<(), StanError> {
    let broken = |source| StanError::Unpack {
        path: wheel.to_path_buf(),
        source,
    };
    let file = File::open(wheel).map_err(|source| cache_error("read", wheel, source))?;
    let mut archive = zip::ZipArchive::new(io::BufReader::new(file)).map_err(broken)?;
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(broken)?;
        if file.is_dir() {
            continue;
        }
        // A name that would leave the folder is None.
        let Some(name) = file.enclosed_name().filter(|name| is_needed(name)) else {
            continue;
        };
        let path = work.join(&name);
        let parent = path.parent().expect("it is in a folder");
        fs::create_dir_all(parent)
            .and_then(|()| File::create(&path))
            .and_then(|mut to| io::copy(&mut file, &mut to))
            .map_err(|source| cache_error("write to", &path, source))?;
    }
    make_executable(&work.join("httpstan/stanc"))
}

/// Libraries of Boost that Stan's headers include, with those that these include.
const BOOST: [&str; 32] = [
    "algorithm",
    "assert",
    "bind",
    "concept",
    "config",
    "container",
    "core",
    "detail",
    "exception",
    "function",
    "function_types",
    "fusion",
    "integer",
    "io",
    "iterator",
    "lexical_cast",
    "math",
    "move",
    "mpl",
    "multi_array",
    "numeric",
    "optional",
    "predef",
    "preprocessor",
    "random",
    "range",
    "regex",
    "serialization",
    "type_traits",
    "typeof",
    "units",
    "utility",
];

/// Whether compiling or fitting needs a file of the wheel. More than half of it is for other uses: most of Boost, and a
/// compiled object of httpstan's own.
pub(super) fn is_needed(name: &Path) -> bool {
    let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        ["httpstan", "stanc"] => true,
        ["httpstan", "lib", file] => *file != "libtbb.so",
        ["httpstan", "include", "boost", _header] => true,
        ["httpstan", "include", "boost", library, ..] => BOOST.contains(library),
        ["httpstan", "include", "pybind11", ..] => false,
        ["httpstan", "include", ..] => true,
        // Licences.
        [folder, ..] => folder.ends_with(".dist-info"),
        [] => false,
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), StanError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(|source| cache_error("write to", path, source))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<(), StanError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_are_where_models_look_for_them() {
        let wheel = Wheel {
            root: Path::new("toolchains").join(ID),
        };
        let lib = wheel.lib();
        let flag = format!("-Wl,-rpath,$ORIGIN/../../{}", lib.display());
        assert!(super::super::cxx::LINK_FLAGS.contains(&flag.as_str()));
    }

    #[test]
    fn only_what_fits_need_is_unpacked() {
        for name in Wheel::WHOLE {
            assert!(is_needed(Path::new(name)), "{name}");
        }
        for name in [
            "httpstan/include/boost/math/constants/constants.hpp",
            "httpstan/include/boost/version.hpp",
            "httpstan/lib/libsundials_cvodes.a",
            "httpstan-4.13.0.dist-info/LICENSE",
        ] {
            assert!(is_needed(Path::new(name)), "{name}");
        }
        for name in [
            "httpstan/stan_services.o",
            "httpstan/lib/libtbb.so",
            "httpstan/models.py",
            "httpstan/include/boost/asio/read.hpp",
            "httpstan/include/pybind11/pybind11.h",
        ] {
            assert!(!is_needed(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn a_damaged_wheel_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let wheel = dir.path().join("httpstan.whl");
        fs::write(&wheel, "not the wheel").unwrap();
        let message = verify(&wheel).unwrap_err().to_string();
        assert!(message.contains("SHA-256"), "{message}");
        assert!(message.contains("nothing was installed"), "{message}");
    }
}
