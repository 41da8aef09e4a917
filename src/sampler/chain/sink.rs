//! Where the draws of a chain go.

use std::io;
use std::time::Duration;

use super::ChainState;
use crate::sampler::hmc::Metric;
use crate::sampler::links::Permutation;

/// The first columns of every draw, under CmdStan's names. Readers go by `lp__` first and the `__` endings.
pub const SAMPLER_COLUMNS: [&str; 7] = [
    "lp__",
    "accept_stat__",
    "stepsize__",
    "treedepth__",
    "n_leapfrog__",
    "divergent__",
    "energy__",
];

/// The next columns, where the links are updated. The outputs of the model follow.
pub const LINK_COLUMNS: [&str; 4] = [
    "n_moved__",
    "mismatch_rate__",
    "log_prior_pi__",
    "accept_pi__",
];

/// The columns after these where responses may come from outside the file.
pub const OUTSIDE_COLUMNS: [&str; 2] = ["n_outside__", "outside_share__"];

/// One saved draw.
#[derive(Debug, Clone, Copy)]
pub struct Draw<'a> {
    /// The values of the draw, in the order of the columns.
    pub values: &'a [f64],
    /// None where every link stays as it is.
    pub links: Option<&'a Permutation>,
}

/// Takes the draws of one chain as they are sampled.
pub trait DrawSink {
    /// What warm-up arrived at; told once, before the first draw.
    fn adapted(&mut self, step_size: f64, metric: &Metric) -> io::Result<()>;

    fn draw(&mut self, draw: Draw) -> io::Result<()>;

    /// The chain is finished or was interrupted.
    fn finish(&mut self, warmup_seconds: f64, sampling_seconds: f64) -> io::Result<()>;

    /// Where the draws go, for messages.
    fn place(&self) -> String;

    /// The longest time between two checkpoints; None where the chain's state is not saved.
    fn checkpoint_every(&self) -> Option<Duration> {
        None
    }

    /// Saves the state of the chain, which vouches for the draws so far.
    fn checkpoint(&mut self, _state: ChainState) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the draws in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DrawsInMemory {
    /// The values of each draw.
    pub values: Vec<Vec<f64>>,
    /// For each draw the moved rows with their columns, by row; empty where every link stays as it is.
    pub links: Vec<Vec<(usize, usize)>>,
    pub warmup_seconds: f64,
    pub sampling_seconds: f64,
}

impl DrawSink for DrawsInMemory {
    fn adapted(&mut self, _step_size: f64, _metric: &Metric) -> io::Result<()> {
        Ok(())
    }

    fn draw(&mut self, draw: Draw) -> io::Result<()> {
        self.values.push(draw.values.to_vec());
        self.links.extend(draw.links.map(|pi| {
            let moved = pi.moved().iter().map(|&row| (row, pi.column_of(row)));
            let mut moved: Vec<_> = moved.collect();
            moved.sort_unstable();
            moved
        }));
        Ok(())
    }

    fn finish(&mut self, warmup_seconds: f64, sampling_seconds: f64) -> io::Result<()> {
        self.warmup_seconds = warmup_seconds;
        self.sampling_seconds = sampling_seconds;
        Ok(())
    }

    fn place(&self) -> String {
        "memory".into()
    }
}
