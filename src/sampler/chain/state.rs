//! A chain as data, to be saved and resumed.

use serde::{Deserialize, Serialize};

use super::collapsed::CollapsedState;
use super::outcome::ChainOutcome;
use super::step_two::StepTwoState;
use crate::numerics::floats;
use crate::numerics::rng::ChainRng;
use crate::sampler::hmc::KernelState;
use crate::sampler::hmc::warmup::Adaptation;

/// Everything that changes from iteration to iteration. A chain that is resumed from it continues with the same draws,
/// bit for bit; log density, gradient and the proposals of the links are computed anew.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChainState {
    /// The number of iterations done, warm-up included.
    pub iteration: usize,
    /// The position of HMC.
    #[serde(with = "floats")]
    pub position: Vec<f64>,
    /// None where every link stays as it is.
    pub links: Option<StepTwoState>,
    /// None where theta cannot be integrated out.
    pub collapsed: Option<CollapsedState>,
    pub kernel: KernelState,
    pub adaptation: Adaptation,
    pub rng: ChainRng,
    /// The number of moved rows after each iteration of warm-up.
    pub warmup_moved: Vec<usize>,
    /// Counts and times so far.
    pub outcome: ChainOutcome,
}
