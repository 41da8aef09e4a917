//! The results of the five studies.

use std::path::Path;

use anyhow::Result;

pub use crate::support::tables::{About, Rows, Table};

/// Writes what is read here.
const COMMAND: &str = "make paper";

/// The results of every study.
pub struct Inputs {
    pub linear: Study,
    pub quantile: Study,
    pub timing: Study,
    pub contraction: Study,
    pub when_it_pays: Study,
}

pub struct Study {
    pub about: About,
    pub results: Table,
    pub timing: Table,
    pub coefficients: Table,
    pub corner: Table,
}

impl Inputs {
    pub fn read(from: &Path) -> Result<Inputs> {
        let by_n = ["n", "temperature"];
        Ok(Inputs {
            linear: Study::read(&from.join("linear"), &by_n)?,
            quantile: Study::read(&from.join("quantile"), &by_n)?,
            timing: Study::read(&from.join("timing"), &by_n)?,
            contraction: Study::read(&from.join("contraction"), &by_n)?,
            when_it_pays: Study::read(&from.join("when_it_pays"), &["r2", "mislinked"])?,
        })
    }
}

impl Study {
    fn read(folder: &Path, axes: &[&str]) -> Result<Study> {
        let table = |name: &str, columns: &[&str]| {
            let needed = ["method", "repeat"].iter().chain(axes).chain(columns);
            Table::read(&folder.join(name), needed.copied(), COMMAND)
        };
        Ok(Study {
            about: About::read(&folder.join("study.json"), COMMAND)?,
            results: table(
                "results.csv",
                &["beta_error", "coverage", "sigma", "pi_error", "r_hat"],
            )?,
            timing: table(
                "timing.csv",
                &["iteration_ms", "step_one_ms", "step_two_ms"],
            )?,
            coefficients: table("coefficients.csv", &["coefficient", "5%", "50%", "95%"])?,
            corner: table("pi_corner.csv", &["row", "column", "probability"])?,
        })
    }
}
