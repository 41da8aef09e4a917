//! Data with a known truth: regressions whose rows are linked wrongly on purpose.
//!
//! Row i of the result holds `y[i]` and `x[i]` as linked; `y[i]` belongs to `x[pi(i)]`. All random numbers come from one
//! ChaCha8 stream of the seed, in this order: the predictors row by row, the responses row by row, times of
//! observation where times are censored, the mislinked rows, and what they are linked to. So the same seed with another fraction mislinks the same data.

mod design;
mod error;
mod file;
mod mislink;
mod planted;
mod settings;
mod write;

#[cfg(test)]
mod tests;

use ndarray::{Array2, s};
use rand::Rng;
use rand_distr::{Distribution, Open01, StandardNormal};

pub(crate) use design::model_of;
pub use design::{Design, Links, Times};
pub use error::SimulateError;
pub use file::{Source, mislink_file};
pub use planted::Planting;
pub use settings::{DEFAULT_MISLINKED, DesignName, Kind, Settings, TimesName};
pub(crate) use settings::{errors_name, needed};
pub use write::{config_text, write_files};

pub use crate::data::Truth;

use crate::data::{Blocks, Dataset, INTERCEPT};
use crate::model::{Family, TimeLaw};
use crate::sampler::links::OUTSIDE;

/// Chains have the streams from 1, so data and chains of one seed never share a number.
const STREAM: usize = 0;

/// Larger means are no counts that a double holds exactly, and no one's data.
const LARGEST_LOG_MEAN: f64 = 30.0;

/// The columns of a time and of whether its event was seen.
const TIME_AND_EVENT: [&str; 2] = ["time", "event"];

/// The rows in the paper's design that are reversed; the next row is a copy of the first.
pub const PAPER_REVERSED: usize = 6;

/// Simulated rows as they were linked, and what is true of them.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// Rows by predictors, without a column for the intercept.
    pub x: Array2<f64>,
    pub y: Vec<f64>,
    /// Of times, whether the event was seen then (1) or the time is censored (0).
    pub events: Option<Vec<f64>>,
    /// The block of each row, from 0, when links are wrong within blocks only.
    pub blocks: Option<Vec<usize>>,
    pub truth: Truth,
}

pub fn simulate(design: &Design, seed: u64) -> Result<Simulated, SimulateError> {
    design.check()?;
    let mut rng = crate::numerics::rng::stream(seed, STREAM);
    let shape = (design.num_rows, design.num_predictors);
    let mut x = Array2::from_shape_simple_fn(shape, || {
        let z: f64 = StandardNormal.sample(&mut rng);
        design.x_scale * z
    });
    let linear = x.rows().into_iter();
    let linear: Vec<f64> = linear
        .map(|row| design.intercept.unwrap_or(0.0) + design.beta * row.sum())
        .collect();
    let largest = linear.iter().copied().fold(f64::MIN, f64::max);
    if design.has_log_link() && largest > LARGEST_LOG_MEAN {
        return Err(SimulateError::LargeMeans { largest });
    }
    let responses = linear.iter();
    let mut right_y: Vec<f64> = responses
        .map(|&linear| design.draw(linear, &mut rng))
        .collect();
    let times = design.times.as_ref();
    let right_events = times.map(|times| censor(&mut right_y, times.censored, &mut rng));
    if !right_y.iter().chain(&x).all(|value| value.is_finite()) {
        return Err(SimulateError::NotFinite);
    }
    let blocks = match design.links {
        Links::Blocks { num_blocks, .. } => Some(even_blocks(design.num_rows, num_blocks)),
        _ => None,
    };
    let mut pi: Vec<usize> = (0..design.num_rows).collect();
    let mut copied = None;
    match design.links {
        Links::Paper => {
            // Row 1 is copied as it was drawn; afterwards its x stands where the reversal puts it.
            let first = x.row(0).to_owned();
            x.row_mut(PAPER_REVERSED).assign(&first);
            right_y[PAPER_REVERSED] = right_y[0];
            pi[..PAPER_REVERSED].reverse();
            copied = Some((0, PAPER_REVERSED));
            let reversed = x.slice(s![..PAPER_REVERSED;-1, ..]).to_owned();
            x.slice_mut(s![..PAPER_REVERSED, ..]).assign(&reversed);
        }
        Links::Random { fraction } => {
            let one_block = vec![0; design.num_rows];
            mislink::within_blocks(&mut pi, &one_block, design.count(fraction)?, &mut rng)?;
        }
        Links::Blocks { fraction, .. } => {
            let of_row = blocks.as_deref().expect("drawn above");
            mislink::within_blocks(&mut pi, of_row, design.count(fraction)?, &mut rng)?;
        }
        Links::Adjacent { fraction } => {
            mislink::adjacent(&mut pi, design.count(fraction)?, &mut rng);
        }
    }
    if design.outside > 0.0 {
        let one_block = vec![0; design.num_rows];
        let of_row = blocks.as_deref().unwrap_or(&one_block);
        mislink::outside(&mut pi, of_row, design.outside, &mut rng);
    }
    // The paper moves the rows of x; the other designs move the responses.
    let y = match design.links {
        Links::Paper => right_y,
        _ => {
            let mut of_nobody = || response_of_nobody(design, &mut rng);
            let mut response = |&j: &usize| match j {
                OUTSIDE => of_nobody(),
                j => right_y[j],
            };
            pi.iter().map(&mut response).collect()
        }
    };
    if !y.iter().all(|value| value.is_finite()) {
        return Err(SimulateError::NotFinite);
    }
    let events = right_events.map(|events| pi.iter().map(|&j| events[j]).collect());
    let mut beta = vec![design.beta; design.num_predictors];
    let mut coefficients = predictor_names(design.num_predictors);
    if let Some(intercept) = design.intercept {
        beta.insert(0, intercept);
        coefficients.insert(0, INTERCEPT.into());
    }
    let sigma = design.errors.facts().is_additive.then_some(design.sigma);
    let mut truth = Truth::new(coefficients, beta, sigma, pi, copied);
    if let Some(TimeLaw::Weibull { shape }) = times.map(|times| times.law) {
        (truth.sigma, truth.shape) = (None, Some(shape));
    }
    match design.errors {
        Family::NegativeBinomial { phi } => truth.phi = Some(phi),
        Family::Gamma { shape } => truth.shape = Some(shape),
        _ => {}
    }
    Ok(Simulated {
        x,
        y,
        events,
        blocks,
        truth,
    })
}

/// Cuts times at times of observation, which are uniform between 0 and a time at which just this share is cut; says which
/// events were seen.
fn censor(times: &mut [f64], share: f64, rng: &mut impl Rng) -> Vec<f64> {
    let num_censored = (share * times.len() as f64).round() as usize;
    if num_censored == 0 {
        return vec![1.0; times.len()];
    }
    let observed: Vec<f64> = times.iter().map(|_| Open01.sample(rng)).collect();
    // The event is seen where time <= end * observed.
    let mut ratios: Vec<f64> = times.iter().zip(&observed).map(|(t, u)| t / u).collect();
    ratios.sort_by(f64::total_cmp);
    let last_seen = ratios.len().checked_sub(num_censored + 1);
    let end = match last_seen {
        Some(last) => 0.5 * (ratios[last] + ratios[last + 1]),
        None => 0.5 * ratios[0],
    };
    let rows = times.iter_mut().zip(&observed);
    rows.map(|(time, observed)| {
        let until = end * observed;
        let is_seen = *time <= until;
        *time = time.min(until);
        f64::from(u8::from(is_seen))
    })
    .collect()
}

/// The response of another person of the same population.
fn response_of_nobody(design: &Design, rng: &mut impl Rng) -> f64 {
    let x = (0..design.num_predictors).map(|_| -> f64 { StandardNormal.sample(rng) });
    let sum = design.x_scale * x.sum::<f64>();
    let mean = design.intercept.unwrap_or(0.0) + design.beta * sum;
    design.draw(mean, rng)
}

impl Simulated {
    /// As `data::read` gives it for the files that `write_files` writes.
    pub fn dataset(&self) -> Dataset {
        let (num_rows, num_predictors) = self.x.dim();
        let with_intercept = self.truth.beta.len() > num_predictors;
        let skipped = usize::from(with_intercept);
        let mut x = Array2::ones((num_rows, num_predictors + skipped));
        x.slice_mut(s![.., skipped..]).assign(&self.x);
        Dataset {
            row_ids: Some((1..=num_rows).map(|row| row.to_string()).collect()),
            blocks: self.blocks.as_ref().map(|of_row| Blocks {
                labels: (1..=of_row[num_rows - 1] + 1)
                    .map(|block| block.to_string())
                    .collect(),
                of_row: of_row.clone(),
            }),
            further_responses: self.events.iter().cloned().collect(),
            response_names: self
                .events
                .as_ref()
                .map(|_| TIME_AND_EVENT.map(String::from).to_vec()),
            ..Dataset::new(self.truth.coefficients.clone(), x, self.y.clone())
        }
    }
}

fn predictor_names(count: usize) -> Vec<String> {
    (1..=count).map(|k| format!("x{k}")).collect()
}

/// Rows in order, cut into blocks whose sizes differ by at most one.
fn even_blocks(num_rows: usize, num_blocks: usize) -> Vec<usize> {
    (0..num_rows).map(|i| i * num_blocks / num_rows).collect()
}
