//! nuts-rs on the density of Step 1 with every link kept, through the library that unshuffle compiled for the same config.
//!
//!     nuts-rs-peer WARMUP DRAWS CONFIG.json...
//!
//! Prints, for each config and each metric of nuts-rs, the smallest bulk ESS of the parameters for each second of processor time
//! after warm-up. ESS is unshuffle's, of unconstrained parameters; as it goes by ranks, it is that of the parameters.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use nuts_rs::rand::SeedableRng;
use nuts_rs::rand::rngs::SmallRng;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError,
    LowRankNutsSettings, Settings,
};
use unshuffle::hmc::{EvalError, LogDensity};
use unshuffle::internals::config;
use unshuffle::internals::fit::prepare;
use unshuffle::internals::model::ThetaGivenPi;
use unshuffle::internals::model::stan::{Compiler, SilentBuild};
use unshuffle::internals::posterior::summarize;

struct Density<'m>(ThetaGivenPi<'m>);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoDensity(String);

impl LogpError for NoDensity {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Density<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".into(), self.0.dim() as u64)])
    }
}

impl CpuLogpFunc for Density<'_> {
    type LogpError = NoDensity;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NoDensity> {
        let value = self.0.log_density_gradient(position, gradient);
        value.map_err(|error: EvalError| NoDensity(format!("{error:?}")))
    }

    fn expand_vector<R: nuts_rs::rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        position: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(position.to_vec())
    }
}

fn processor_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

fn ess_per_second(
    settings: impl Settings,
    density: Density,
    counts: (usize, usize),
) -> Result<f64> {
    let (num_warmup, num_draws) = counts;
    let dim = density.0.dim();
    let mut rng = SmallRng::seed_from_u64(1);
    let mut chain = settings.new_chain(0, CpuMath::new(density), &mut rng)?;
    chain.set_position(&vec![0.1; dim])?;
    for _ in 0..num_warmup {
        chain.draw()?;
    }
    let start = processor_seconds();
    let mut draws = vec![Vec::with_capacity(num_draws); dim];
    for _ in 0..num_draws {
        let (position, _) = chain.draw()?;
        (draws.iter_mut().zip(&position)).for_each(|(all, value)| all.push(*value));
    }
    let seconds = processor_seconds() - start;
    let ess = |values: &Vec<f64>| summarize("", &[values], None).ess_bulk.unwrap_or(0.0);
    Ok(draws.iter().map(ess).fold(f64::INFINITY, f64::min) / seconds)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| {
        arguments
            .next()
            .with_context(|| format!("{what} is missing"))
    };
    let num_warmup: usize = next("WARMUP")?.parse()?;
    let num_draws: usize = next("DRAWS")?.parse()?;
    let compiler = Compiler::find(None, &SilentBuild, 2)?;
    for file in arguments {
        let prepared = prepare(config::load(Path::new(&file), &[])?, &compiler)?;
        let responses = prepared.data.responses();
        let density = || Density(ThetaGivenPi::new(&prepared.model, &responses));
        let mut diagonal = DiagNutsSettings::default();
        diagonal.num_tune = num_warmup as u64;
        let mut low_rank = LowRankNutsSettings::default();
        low_rank.num_tune = num_warmup as u64;
        let counts = (num_warmup, num_draws);
        let diagonal = ess_per_second(diagonal, density(), counts)?;
        let low_rank = ess_per_second(low_rank, density(), counts)?;
        println!("{file},{diagonal},{low_rank}");
    }
    Ok(())
}
