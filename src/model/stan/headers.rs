//! Which of Stan's headers a generated program is compiled with, precompiled or not.
//!
//! Reading the headers is most of the time of a compile. Precompiling them takes longer than one model, so it is done when a
//! second model is compiled. A precompiled header is an image of the compiler's memory, five times as large as all the rest of
//! the cache: it is kept compressed, and unpacked while a model is compiled.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::StanError;
use super::cache::cache_error;
use super::shipped::{MODEL_BASE_CRTP, WITHOUT_SOLVERS};

/// What a generated program includes, and what is worth precompiling.
pub(super) const MODEL_HEADER: &str = "stan/model/model_header.hpp";

/// The precompiled header as it is kept.
pub(super) const PACKED: &str = "stan/model/model_header.hpp.gch.gz";

/// The precompiled header as the compiler looks for it.
const PRECOMPILED: &str = "stan/model/model_header.hpp.gch";

/// What the functions begin with, in C++, that headers without solvers lack.
const SOLVERS: [&str; 9] = [
    "stan::math::ode_",
    "stan::math::integrate_",
    "stan::math::algebra_solver",
    "stan::math::solve_newton",
    "stan::math::solve_powell",
    "stan::math::dae",
    "stan::math::map_rect",
    "stan::math::hcubature",
    "stan::math::finite_diff",
];

/// Whether a generated program needs all of Stan's headers.
pub(super) fn uses_solvers(hpp: &Path) -> Result<bool, StanError> {
    let text = fs::read_to_string(hpp).map_err(|source| cache_error("read", hpp, source))?;
    Ok(SOLVERS.iter().any(|solver| text.contains(solver)))
}

/// Writes the headers that take the place of Stan's own into `folder`, which then goes first when headers are searched.
pub(super) fn write_replacements(folder: &Path, has_solvers: bool) -> Result<(), StanError> {
    let slim = WITHOUT_SOLVERS.iter().filter(|_| !has_solvers);
    for (name, text) in slim.chain([&MODEL_BASE_CRTP]) {
        let path = folder.join(name);
        let parent = path.parent().expect("it is in a folder");
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|source| cache_error("write to", folder, source))?;
    }
    Ok(())
}

/// Compresses the precompiled header in `folder`.
pub(super) fn pack(folder: &Path) -> Result<(), StanError> {
    let [from, to] = [PRECOMPILED, PACKED].map(|name| folder.join(name));
    let packed = || -> io::Result<()> {
        let mut encoder = GzEncoder::new(File::create(&to)?, Compression::fast());
        io::copy(&mut File::open(&from)?, &mut encoder)?;
        encoder.finish()?;
        fs::remove_file(&from)
    };
    packed().map_err(|source| cache_error("write to", &to, source))
}

/// Copies the headers of a cache entry into `folder`, the precompiled one ready for the compiler.
pub(super) fn unpack(entry: &Path, folder: &Path) -> Result<(), StanError> {
    write_replacements(folder, false)?;
    let to = folder.join(PRECOMPILED);
    let unpacked = || -> io::Result<()> {
        fs::copy(entry.join(MODEL_HEADER), folder.join(MODEL_HEADER))?;
        let mut decoder = GzDecoder::new(io::BufReader::new(File::open(entry.join(PACKED))?));
        io::copy(&mut decoder, &mut File::create(&to)?)?;
        Ok(())
    };
    unpacked().map_err(|source| cache_error("write to", &to, source))
}

/// The folder of the headers while one model is compiled.
pub(super) fn beside(model: &Path) -> PathBuf {
    model.join("headers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_solvers_are_known_by_their_calls() {
        let folder = tempfile::tempdir().unwrap();
        let hpp = folder.path().join("model.hpp");
        let uses = |text: &str| {
            fs::write(&hpp, text).unwrap();
            uses_solvers(&hpp).unwrap()
        };
        assert!(uses("x = stan::math::ode_rk45(f, y0, t0, ts, pstream__);"));
        assert!(uses("stan::math::map_rect<1, f>(phi, theta)"));
        assert!(!uses(
            "stan::math::normal_lpdf<propto__>(y, mu, sigma); method_of_ode_"
        ));
    }

    #[test]
    fn a_precompiled_header_is_kept_small_and_comes_out_as_it_was() {
        let [entry, work] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let image = b"image of the compiler's memory ".repeat(10_000);
        fs::create_dir_all(entry.path().join("stan/model")).unwrap();
        fs::write(entry.path().join(MODEL_HEADER), "#pragma once").unwrap();
        fs::write(entry.path().join(PRECOMPILED), &image).unwrap();
        pack(entry.path()).unwrap();
        assert!(!entry.path().join(PRECOMPILED).exists());
        let size = fs::metadata(entry.path().join(PACKED)).unwrap().len();
        assert!(size < image.len() as u64 / 10, "{size}");
        let folder = beside(work.path());
        unpack(entry.path(), &folder).unwrap();
        assert_eq!(fs::read(folder.join(PRECOMPILED)).unwrap(), image);
        assert!(folder.join(MODEL_HEADER).exists());
        // A damaged one is an error, never a header of another length.
        fs::write(entry.path().join(PACKED), "not gzip").unwrap();
        assert!(unpack(entry.path(), &folder).is_err());
    }

    #[test]
    fn headers_without_solvers_leave_out_nothing_else() {
        for (name, text) in WITHOUT_SOLVERS {
            let kept = text.lines().filter(|line| line.starts_with("#include"));
            assert!(kept.clone().count() >= 8, "{name}");
            assert!(kept.clone().any(|line| line.contains("reduce_sum")));
            for solver in ["ode", "integrate", "algebra", "solve_", "dae", "map_rect"] {
                assert!(!kept.clone().any(|line| line.contains(solver)), "{name}");
            }
        }
    }
}
