//! Which of Stan's headers a generated program is compiled with, precompiled or not.
//!
//! Reading the headers is most of the time of a compile. Precompiling them takes longer than one model, and as much disk as
//! all the rest, so it is done when a second model is compiled.

use std::fs;
use std::path::{Path, PathBuf};

use super::StanError;
use super::cache::cache_error;
use super::shipped::{MODEL_BASE_CRTP, WITHOUT_SOLVERS};

/// What a generated program includes, and what is worth precompiling.
pub(super) const MODEL_HEADER: &str = "stan/model/model_header.hpp";

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

/// The folder of the replacements while one model is compiled.
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
