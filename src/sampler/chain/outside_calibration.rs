//! Simulation-based calibration (Talts et al. 2018) of chains in which responses may come from outside the file, and in which
//! the rates of wrong links depend on covariates.
//!
//! Parameters and links are drawn from their prior, responses given them, and a chain is run. The rank of each quantity among
//! its thinned draws is uniform if the chain samples the posterior. z is as in `links::exactness`.

use std::convert::Infallible;

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::gaussian_pairs::GaussianPairs;
use super::*;
use crate::numerics::rng::stream;
use crate::sampler::hmc::warmup::Trajectory;
use crate::sampler::hmc::{LogDensity, MetricKind};
use crate::sampler::links::exactness::{Enumeration, LIMIT, wilson_hilferty};
use crate::sampler::links::outside_exactness::{Case, cases, kind_of};
use crate::sampler::links::{
    ActiveSet, LinkKernel, OUTSIDE, OutsidePrior, Permutation, Prior, RatePrior, RateRegression,
};

const SETTINGS: ChainSettings = ChainSettings {
    adaptation: AdaptationSettings {
        num_warmup: 150,
        target_accept: 0.8,
        metric: MetricKind::Dense,
        trajectory: Trajectory::Nuts,
    },
    num_draws: 190,
    thin: 10,
    max_depth: 8,
};
/// Ranks are 0 to 19.
const NUM_RANKS: usize = 20;
const REPLICATES: usize = 120;
/// A response that belongs to nobody is normal with this standard deviation.
const SD_OUTSIDE: f64 = 1.5;
/// theta = (beta, log sigma) ~ normal(1, 1) and normal(-1, 0.5).
const LOG_SCALE: (f64, f64) = (-1.0, 0.5);

fn predictors(num_rows: usize) -> Vec<f64> {
    (0..num_rows).map(|i| 0.8 * i as f64 - 1.3).collect()
}

struct Regression {
    x: Vec<f64>,
    response: Vec<f64>,
    weights: Vec<f64>,
}

impl LogDensity for Regression {
    fn dim(&self) -> usize {
        2
    }

    fn log_density_gradient(
        &mut self,
        theta: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError> {
        let (beta, log_scale) = (theta[0] - 1.0, (theta[1] - LOG_SCALE.0) / LOG_SCALE.1);
        let mut sum = -0.5 * (beta * beta + log_scale * log_scale);
        gradient[0] = -beta;
        gradient[1] = -log_scale / LOG_SCALE.1;
        let precision = (-2.0 * theta[1]).exp();
        for ((x, y), weight) in self.x.iter().zip(&self.response).zip(&self.weights) {
            let residual = y - x * theta[0];
            sum -= weight * (theta[1] + 0.5 * residual * residual * precision);
            gradient[0] += weight * residual * x * precision;
            gradient[1] += weight * (residual * residual * precision - 1.0);
        }
        Ok(sum)
    }
}

impl LinkedDensity for Regression {
    fn response(&self) -> &[f64] {
        &self.response
    }

    fn align(&mut self, permutation: &Permutation, responses: &[f64]) {
        permutation.align(responses, &mut self.response);
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn weights_mut(&mut self) -> &mut [f64] {
        &mut self.weights
    }

    fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(position);
    }

    fn position_of(&self, theta: Vec<f64>) -> Vec<f64> {
        theta
    }
}

struct Theta;

impl DrawOutputs for Theta {
    type Error = Infallible;

    fn append(
        &mut self,
        _: usize,
        theta: &[f64],
        _: &[f64],
        _: &[f64],
        row: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        row.extend_from_slice(theta);
        Ok(())
    }
}

/// What is simulated, and what a chain assumes of it.
#[derive(Clone, Copy)]
struct Setup<'a> {
    case: &'a Case,
    /// None where every response belongs to a row of the file; else the probability that it is so all the same.
    none_outside: Option<f64>,
    has_feedback: bool,
    /// Of the rates of wrong links.
    covariates: Option<&'a RateRegression>,
    /// Added to the log odds of the simulated links: a planted mistake.
    odds_shift: f64,
    /// Added to the log density of a response that belongs to nobody: a planted mistake.
    shift: f64,
}

/// The links as they may be, and their priors.
struct Links {
    all: Vec<Permutation>,
    partial: OutsidePrior,
    whole: Prior,
    has_outside: bool,
    has_rates: bool,
}

impl Links {
    fn new(setup: &Setup) -> Links {
        let mut case = setup.case.clone();
        if setup.covariates.is_some() {
            // Odds that are replaced.
            case.set_matches(0.5);
        }
        let share = RatePrior {
            a: 1.0,
            b: 1.0,
            no_error: setup.none_outside.unwrap_or(0.0),
        };
        let (kind, has_outside) = (kind_of(&case), setup.none_outside.is_some());
        let is_possible = |pi: &Permutation| has_outside || pi.num_outside() == 0;
        let all = case.partial_permutations().into_iter();
        Links {
            all: all.filter(is_possible).collect(),
            partial: case.outside(kind, share),
            whole: case.whole(kind),
            has_rates: case.has_rates(),
            has_outside,
        }
    }

    fn enumeration(&self) -> Enumeration {
        Enumeration::of_list(self.all.clone(), |pi| match self.has_outside {
            true => self.partial.log_prior(&self.whole, pi),
            false => self.whole.log_prior(pi),
        })
    }

    /// The rates of the blocks given the links, where each has its own.
    fn block_rates(&self, pi: &Permutation, rng: &mut ChaCha8Rng) -> Vec<f64> {
        if !self.has_rates {
            return Vec::new();
        }
        let may_be = self.has_outside && self.partial.draw_may_be_outside(&self.whole, pi, rng);
        let drawn = match may_be {
            true => self.partial.draw_block_rates(pi, rng),
            false => self.whole.draw_block_rates(pi, rng),
        };
        drawn.map_or_else(Vec::new, |(rates, _)| rates)
    }

    fn set_log_odds(&mut self, log_odds: &[f64]) {
        self.partial.set_log_odds(log_odds);
        self.whole.set_log_odds(log_odds);
    }
}

/// One data set with what is true of it.
struct Simulated {
    truth: Vec<f64>,
    responses: Vec<f64>,
}

fn simulate(setup: &Setup, links: &mut Links, rng: &mut ChaCha8Rng) -> Simulated {
    let mut normal =
        |mean: f64, sd: f64| -> f64 { mean + sd * rng.sample::<f64, _>(StandardNormal) };
    let theta = [normal(1.0, 1.0), normal(LOG_SCALE.0, LOG_SCALE.1)];
    let fresh = [(); 16].map(|()| normal(0.0, 1.0));
    let mut gamma = Vec::new();
    if let Some(regression) = setup.covariates {
        gamma = regression.start();
        gamma
            .iter_mut()
            .for_each(|gamma| *gamma = normal(*gamma, 1.5));
        let mut log_odds = regression.log_odds(&gamma);
        log_odds
            .iter_mut()
            .for_each(|odds| *odds += setup.odds_shift);
        links.set_log_odds(&log_odds);
        gamma = regression.in_units(&gamma).collect();
    }
    let pi = links.enumeration().draw(rng).clone();
    let x = predictors(pi.len());
    let response = |row: usize| match pi.column_of(row) {
        _ if row >= pi.num_present() => 0.0,
        OUTSIDE => SD_OUTSIDE * fresh[row],
        column if column != row && !setup.has_feedback => SD_OUTSIDE * fresh[row],
        column => x[column] * theta[0] + theta[1].exp() * fresh[row],
    };
    let mut truth = vec![pi.num_moved() as f64, pi.num_outside() as f64];
    truth.extend(theta.into_iter().chain(gamma));
    truth.extend(links.block_rates(&pi, rng));
    Simulated {
        responses: (0..pi.len()).map(response).collect(),
        truth,
    }
}

/// (n_moved, n_outside, theta, coefficients of the rates) of each draw.
fn draws(data: &Simulated, setup: &Setup, links: &Links, seed: u64) -> Vec<Vec<f64>> {
    let x = predictors(data.responses.len());
    let marginal = |y: &f64| {
        let z = y / SD_OUTSIDE;
        let log_scale = SD_OUTSIDE.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
        setup.shift - 0.5 * z * z - log_scale
    };
    let marginal: Vec<f64> = data.responses.iter().map(marginal).collect();
    let pairs = GaussianPairs::with_log_scale(&x, &data.responses);
    let kernel = LinkKernel::ActiveSet(ActiveSet::default());
    let mut step_two = StepTwo::new(&data.responses, &links.whole, kernel, pairs);
    if !setup.has_feedback {
        step_two = step_two.without_feedback(&marginal);
    }
    if links.has_outside {
        step_two = step_two.with_outside(&links.partial, &marginal);
    }
    if let Some(regression) = setup.covariates {
        step_two = step_two.with_rate_regression(regression);
    }
    let parts = ChainParts {
        density: Regression {
            weights: vec![1.0; x.len()],
            response: data.responses.clone(),
            x,
        },
        step_two: Some(step_two),
        collapsed: None,
        outputs: Theta,
    };
    let theta = vec![1.0, LOG_SCALE.0];
    let mut chain = Chain::new(1, SETTINGS, parts, theta, stream(seed, 1)).unwrap();
    let mut sink = DrawsInMemory::default();
    chain
        .run(&mut sink, &AtomicBool::new(false), &Silent)
        .unwrap();
    let first = SAMPLER_COLUMNS.len();
    let behind = first + LINK_COLUMNS.len();
    let quantities = |row: &Vec<f64>| {
        let (rates, theta) = row[behind..].split_at(row.len() - behind - 2);
        let (outside, rates) = match links.has_outside {
            true => (rates[0], &rates[OUTSIDE_COLUMNS.len()..]),
            false => (0.0, rates),
        };
        [&[row[first], outside], theta, rates].concat()
    };
    sink.values.iter().map(quantities).collect()
}

/// The largest z over the quantities.
fn calibration(setup: Setup) -> f64 {
    calibration_where(setup, Links::new(&setup))
}

/// The same where the chains assume `assumed` of the links; rates by covariates are set in those that are simulated.
fn calibration_where(setup: Setup, assumed: Links) -> f64 {
    let mut links = Links::new(&setup);
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut counts: Vec<[f64; NUM_RANKS]> = Vec::new();
    for replicate in 0..REPLICATES {
        let data = simulate(&setup, &mut links, &mut rng);
        let draws = draws(&data, &setup, &assumed, replicate as u64);
        assert_eq!(draws.len(), NUM_RANKS - 1);
        counts.resize(data.truth.len(), [0.0; NUM_RANKS]);
        for (k, counts) in counts.iter_mut().enumerate() {
            let truth = data.truth[k];
            let below = draws.iter().filter(|draw| draw[k] < truth).count();
            let equal = draws.iter().filter(|draw| draw[k] == truth).count();
            counts[below + rng.random_range(0..=equal)] += 1.0;
        }
    }
    let expected = REPLICATES as f64 / NUM_RANKS as f64;
    let z = counts.iter().map(|counts| {
        let chi_square = counts.iter().map(|n| (n - expected).powi(2) / expected);
        wilson_hilferty(chi_square.sum(), NUM_RANKS as f64 - 1.0)
    });
    // Without feedback the links are drawn by a likelihood that wrong rows do not have in the row mixture.
    let has_links = |k: usize| k != 1 || setup.has_feedback;
    let z = z.enumerate().filter(|(k, _)| has_links(*k));
    z.map(|(_, z)| z).fold(f64::MIN, f64::max)
}

fn with_outside(case: &Case) -> Setup<'_> {
    let has_all = case.num_present == case.num_rows;
    Setup {
        case,
        none_outside: Some(if has_all { 0.3 } else { 0.0 }),
        has_feedback: true,
        covariates: None,
        odds_shift: 0.0,
        shift: 0.0,
    }
}

fn without_feedback(case: &Case) -> Setup<'_> {
    Setup {
        none_outside: Some(0.0),
        has_feedback: false,
        ..with_outside(case)
    }
}

fn without_feedback_and_outside(case: &Case) -> Setup<'_> {
    Setup {
        none_outside: None,
        ..without_feedback(case)
    }
}

/// Alone; with blocks, a safe row and both; with match probabilities; with candidates; and with places without a response.
#[test]
fn posteriors_with_responses_from_outside_are_calibrated() {
    for (k, case) in cases().iter().enumerate() {
        let z = calibration(with_outside(case));
        assert!(z < LIMIT, "case {k}: z = {z}");
    }
}

#[test]
fn posteriors_without_feedback_are_calibrated() {
    for k in [0, 4, 6, 8] {
        let z = calibration(without_feedback(&cases()[k]));
        assert!(z < LIMIT, "case {k}: z = {z}");
    }
}

/// Whole permutations: alone, in blocks, with a safe row, with match probabilities and with candidates.
#[test]
fn posteriors_of_whole_permutations_without_feedback_are_calibrated() {
    for k in [0, 2, 3, 5, 6] {
        let z = calibration(without_feedback_and_outside(&cases()[k]));
        assert!(z < LIMIT, "case {k}: z = {z}");
    }
}

#[test]
fn a_wrong_law_of_responses_from_outside_is_noticed() {
    let case = &cases()[0];
    for setup in [
        with_outside(case),
        without_feedback(case),
        without_feedback_and_outside(case),
    ] {
        let shift = 3.0;
        let z = calibration(Setup { shift, ..setup });
        assert!(z > LIMIT, "z = {z}");
    }
}

/// Blocks with rates of their own, one of them audited: whole permutations, with a safe row, and without feedback. With responses
/// from outside they are among the cases above.
#[test]
fn posteriors_of_rates_by_block_are_calibrated() {
    for (k, has_feedback) in [(12, true), (13, true), (12, false)] {
        let case = &cases()[k];
        let z = calibration(Setup {
            none_outside: None,
            has_feedback,
            ..with_outside(case)
        });
        assert!(z < LIMIT, "case {k}, {has_feedback}: z = {z}");
    }
}

#[test]
fn the_audit_of_another_block_is_noticed() {
    let case = &cases()[12];
    let other = case.with_rates_exchanged();
    for none_outside in [None, Some(0.3)] {
        let setup = Setup {
            none_outside,
            ..with_outside(case)
        };
        let assumed = Links::new(&Setup {
            case: &other,
            ..setup
        });
        let z = calibration_where(setup, assumed);
        assert!(z > LIMIT, "{none_outside:?}: z = {z}");
    }
}

/// Two columns: one of three values, one of two.
fn covariates(num_rows: usize, of_row: impl Fn(usize) -> usize) -> RateRegression {
    RateRegression::new(&Array2::from_shape_fn((num_rows, 3), |(row, k)| {
        match (k, of_row(row)) {
            (0, _) => 1.0,
            (1, row) => (row % 3) as f64,
            (_, row) => f64::from(u8::from(row > 1)),
        }
    }))
}

/// Rates that depend on covariates, alone, with blocks and a safe row, without feedback, with responses from outside, and with
/// places without a response.
#[test]
fn posteriors_of_rates_by_covariates_are_calibrated() {
    for (k, outside, has_feedback) in [
        (0, None, true),
        (2, None, true),
        (4, None, true),
        (0, None, false),
        (4, None, false),
        (0, Some(0.3), true),
        (4, Some(0.3), true),
        (8, Some(0.0), true),
        (0, Some(0.0), false),
        (8, Some(0.0), false),
    ] {
        let case = &cases()[k];
        let regression = covariates(case.num_rows, |row| row);
        let z = calibration(Setup {
            none_outside: outside,
            has_feedback,
            covariates: Some(&regression),
            ..with_outside(case)
        });
        assert!(z < LIMIT, "case {k}, {outside:?}, {has_feedback}: z = {z}");
    }
}

#[test]
fn other_rates_than_the_coefficients_say_are_noticed() {
    let case = &cases()[0];
    let regression = covariates(case.num_rows, |row| row);
    for has_feedback in [true, false] {
        let z = calibration(Setup {
            none_outside: None,
            has_feedback,
            covariates: Some(&regression),
            odds_shift: 4.0,
            ..with_outside(case)
        });
        assert!(z > LIMIT, "{has_feedback}: z = {z}");
    }
}
