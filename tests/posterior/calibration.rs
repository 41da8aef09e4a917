//! Simulation-based calibration (Talts et al. 2018) of whole fits: where parameters and links come from the prior and
//! the data from the model, the rank of the truth among posterior draws is uniform.
//!
//! Each quantity is judged by a chi-square test of its ranks. The error rate of the whole file is declared as 1e-3 and
//! shared by its 29 tests (Bonferroni). A sampler that leaves out the prior of the links, or a part of it, must fail.

use crate::study::{Study, in_parallel, pooled};
use ndarray::Array2;
use rand::Rng;
use rand_distr::{Distribution, Open01, Poisson, StandardNormal};
use serde_json::{Value, json};
use unshuffle::Posterior;
use unshuffle::internals::data::{Blocks, Dataset};
use unshuffle::internals::numerics::rng;
use unshuffle::links::Permutation;

const NUM_ROWS: usize = 8;
const NUM_PREDICTORS: usize = 2;
const NUM_REPLICATIONS: usize = 240;
/// 99 draws give 100 ranks, five to a bin.
const NUM_DRAWS: usize = 99;
const NUM_BINS: usize = 20;
/// Iterations between two draws, so that they are nearly independent.
const THIN: usize = 12;
/// Chi-square with 19 degrees of freedom exceeds this with probability 3.4e-5 = 1e-3 / 29.
const LIMIT: f64 = 53.9;
const TAU: f64 = 0.3;

/// The model whose prior and likelihood the data follow.
#[derive(Clone, Copy, PartialEq)]
enum Model {
    Linear,
    Quantile,
    Poisson,
    Logistic,
}

impl Model {
    /// The text of a shipped program, with priors narrow enough to simulate from.
    fn settings(self) -> Value {
        let (name, family) = match self {
            Model::Linear => ("linear", json!({"name": "gaussian"})),
            Model::Quantile => (
                "quantile",
                json!({"name": "asymmetric_laplace", "tau": TAU}),
            ),
            Model::Poisson => ("poisson", json!({"name": "poisson"})),
            Model::Logistic => ("logistic", json!({"name": "logistic"})),
        };
        let mut data = json!({
            "X_centre": vec![0; NUM_PREDICTORS],
            "beta_location": vec![0; NUM_PREDICTORS],
            "beta_scale": vec![1; NUM_PREDICTORS]
        });
        if let Some(scale) = self.scale() {
            data[format!("{scale}_scale")] = json!(1);
        }
        let file = format!("{}/stan/{name}.stan", env!("CARGO_MANIFEST_DIR"));
        json!({"stan": file, "family": family, "data": data})
    }

    /// The scale parameter's column, where there is one: a variance for the linear model.
    fn scale(self) -> Option<&'static str> {
        match self {
            Model::Linear => Some("sigma2"),
            Model::Quantile => Some("sigma"),
            Model::Poisson | Model::Logistic => None,
        }
    }

    fn respond(self, fitted: f64, scale: f64, rng: &mut impl Rng) -> f64 {
        match self {
            Model::Linear => fitted + scale.sqrt() * normal(rng),
            Model::Quantile => {
                // u = (E1 / tau - E2 / (1 - tau)) sigma with standard exponentials.
                let mut exponential = || -f64::ln(Open01.sample(rng));
                fitted + scale * (exponential() / TAU - exponential() / (1.0 - TAU))
            }
            Model::Poisson => Poisson::new(fitted.exp()).unwrap().sample(rng),
            Model::Logistic => f64::from(u8::from(
                rng.random::<f64>() * (1.0 + (-fitted).exp()) < 1.0,
            )),
        }
    }
}

fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The blocks of the rows, where links are known to stay inside blocks.
const BLOCKS: [usize; NUM_ROWS] = [0, 1, 2, 0, 1, 2, 1, 2];

/// One draw of everything from the prior and the model.
struct Truth {
    beta: Vec<f64>,
    scale: f64,
    num_moved: usize,
    /// The probability of being mislinked.
    rate: f64,
    data: Dataset,
}

impl Truth {
    fn draw(model: Model, links: Links, rate: Rate, rng: &mut impl Rng) -> Truth {
        let beta: Vec<f64> = (0..NUM_PREDICTORS).map(|_| normal(rng)).collect();
        let scale = normal(rng).abs();
        let x = Array2::from_shape_simple_fn((NUM_ROWS, NUM_PREDICTORS), || normal(rng));
        let no_error = rng.random::<f64>() < rate.no_error();
        let (rate, pi) = match links {
            _ if no_error => (0.0, Permutation::identity(NUM_ROWS)),
            Links::Anywhere => links_anywhere(rate, rng),
            Links::InBlocks => links_in_blocks(rate, rng),
        };
        let response = (0..NUM_ROWS).map(|i| {
            let row = x.row(pi.column_of(i));
            let fitted: f64 = row.iter().zip(&beta).map(|(x, b)| x * b).sum();
            model.respond(fitted, scale, rng)
        });
        let response = response.collect();
        Truth {
            beta,
            scale,
            num_moved: pi.num_moved(),
            rate,
            data: Dataset::new(
                (1..=NUM_PREDICTORS).map(|k| format!("x{k}")).collect(),
                x,
                response,
            ),
        }
    }
}

/// The prior of the mismatch rate.
#[derive(Clone, Copy, PartialEq)]
enum Rate {
    /// Uniform.
    Flat,
    /// The default of configs: 0 with probability one half, and Beta(1, 9) otherwise.
    Doubting,
}

impl Rate {
    fn settings(self) -> Value {
        match self {
            Rate::Flat => json!({"prior": crate::study::flat_rate()}),
            Rate::Doubting => json!({}),
        }
    }

    fn no_error(self) -> f64 {
        match self {
            Rate::Flat => 0.0,
            Rate::Doubting => 0.5,
        }
    }

    /// A rate where errors were made. P(rate > r) = (1 - r)^9 for Beta(1, 9).
    fn draw(self, rng: &mut impl Rng) -> f64 {
        let uniform: f64 = rng.random();
        match self {
            Rate::Flat => uniform,
            Rate::Doubting => 1.0 - uniform.powf(1.0 / 9.0),
        }
    }
}

/// Links from the beta-binomial as it is defined: rho from its prior, each row mislinked with probability rho (one row
/// alone cannot be), and a uniform derangement of the mislinked rows.
fn links_anywhere(rate: Rate, rng: &mut impl Rng) -> (f64, Permutation) {
    loop {
        let rho = rate.draw(rng);
        let mislinked: Vec<usize> = (0..NUM_ROWS).filter(|_| rng.random_bool(rho)).collect();
        if mislinked.len() == 1 {
            continue;
        }
        let mut forward: Vec<usize> = (0..NUM_ROWS).collect();
        derange(&mislinked, &mut forward, rng);
        return (rho, Permutation::from_vec(forward).unwrap());
    }
}

/// Links inside blocks, and the rate at which rows are mislinked. Given it, there is one rho with that rate at which
/// rows are mislinked independently, no block having one such row alone.
fn links_in_blocks(rate: Rate, rng: &mut impl Rng) -> (f64, Permutation) {
    let rate = rate.draw(rng);
    let rows_of = |block: usize| (0..NUM_ROWS).filter(move |&row| BLOCKS[row] == block);
    // By the definition of the law: the sum over k of k P(k rows of the block are mislinked), without k = 1.
    let rate_at = |rho: f64| {
        let in_block = |block: usize| {
            let size = rows_of(block).count();
            let ways = [[1.0, 2.0, 1.0, 0.0], [1.0, 3.0, 3.0, 1.0]][size - 2];
            let law = [0, 2, 3].map(|k| {
                (
                    k as f64,
                    ways[k] * rho.powi(k as i32) * (1.0 - rho).powi(size as i32 - k as i32),
                )
            });
            let (sum, mean) = law
                .iter()
                .filter(|(k, _)| *k <= size as f64)
                .fold((0.0, 0.0), |(sum, mean), (k, p)| (sum + p, mean + k * p));
            mean / sum
        };
        (0..3).map(in_block).sum::<f64>() / NUM_ROWS as f64
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if rate_at(middle) < rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut forward: Vec<usize> = (0..NUM_ROWS).collect();
    for block in 0..3 {
        let mislinked = loop {
            let rows: Vec<usize> = rows_of(block).filter(|_| rng.random_bool(low)).collect();
            if rows.len() != 1 {
                break rows;
            }
        };
        derange(&mislinked, &mut forward, rng);
    }
    (rate, Permutation::from_vec(forward).unwrap())
}

fn derange(rows: &[usize], forward: &mut [usize], rng: &mut impl Rng) {
    let mut images = rows.to_vec();
    while rows.iter().zip(&images).any(|(row, image)| row == image) {
        rand::seq::SliceRandom::shuffle(images.as_mut_slice(), rng);
    }
    for (&row, image) in rows.iter().zip(images) {
        forward[row] = image;
    }
}

/// The rank of `truth` among the draws; equal ones are put in random order.
fn rank(truth: f64, fit: &Posterior, column: &str, rng: &mut impl Rng) -> usize {
    let draws = pooled(fit, column);
    assert_eq!(draws.len(), NUM_DRAWS);
    let below = draws.iter().filter(|draw| **draw < truth).count();
    let equal = draws.iter().filter(|draw| **draw == truth).count();
    below + rng.random_range(0..=equal)
}

/// Where links may go.
#[derive(Clone, Copy, PartialEq)]
enum Links {
    Anywhere,
    InBlocks,
}

/// Chi-square of the ranks of each quantity over all replications.
fn calibration(
    model: Model,
    links: Links,
    rate: Rate,
    permutation: Value,
) -> Vec<(&'static str, f64)> {
    let study = Study::new(json!({
        "model": model.settings(),
        "permutation": permutation,
        "sampler": {"chains": 1, "warmup": 200, "draws": NUM_DRAWS * THIN, "thin": THIN}
    }));
    let mut names = vec!["beta.1", "beta.2", "n_moved__"];
    names.extend(model.scale());
    let in_blocks = links == Links::InBlocks;
    let ranks_rate = in_blocks || rate == Rate::Doubting;
    names.extend(ranks_rate.then_some("mismatch_rate__"));
    let ranks = in_parallel(NUM_REPLICATIONS, |replication| {
        let mut rng = rng::stream(20, replication);
        let mut truth = Truth::draw(model, links, rate, &mut rng);
        truth.data.blocks = in_blocks.then(|| Blocks {
            of_row: BLOCKS.to_vec(),
            labels: ["a", "b", "c"].map(String::from).to_vec(),
        });
        let fit = study.fit(&truth.data, replication as u64);
        let value = |name: &str| match name {
            "beta.1" => truth.beta[0],
            "beta.2" => truth.beta[1],
            "n_moved__" => truth.num_moved as f64,
            "mismatch_rate__" => truth.rate,
            _ => truth.scale,
        };
        let columns = names.iter();
        columns
            .map(|name| rank(value(name), &fit, name, &mut rng))
            .collect::<Vec<_>>()
    });
    let chi_square = |k: usize| {
        let mut counts = [0usize; NUM_BINS];
        for ranks in &ranks {
            counts[ranks[k] * NUM_BINS / (NUM_DRAWS + 1)] += 1;
        }

        let expected = NUM_REPLICATIONS as f64 / NUM_BINS as f64;
        let squares = counts
            .iter()
            .map(|count| (*count as f64 - expected).powi(2));
        squares.sum::<f64>() / expected
    };
    let scores = (0..names.len())
        .map(|k| (names[k], chi_square(k)))
        .collect();
    println!(
        "chi-square with {} degrees of freedom: {scores:?}",
        NUM_BINS - 1
    );
    scores
}

/// The same of a sampler that has the prior which the truth was drawn from.
fn calibrated(model: Model, links: Links, rate: Rate) -> Vec<(&'static str, f64)> {
    calibration(model, links, rate, rate.settings())
}

fn is_uniform(scores: &[(&str, f64)]) -> bool {
    scores.iter().all(|(_, chi_square)| *chi_square < LIMIT)
}

#[test]
fn linear_fits_are_calibrated() {
    let scores = calibrated(Model::Linear, Links::Anywhere, Rate::Flat);
    assert!(is_uniform(&scores), "{scores:?}");
}

#[test]
fn quantile_fits_are_calibrated() {
    let scores = calibrated(Model::Quantile, Links::Anywhere, Rate::Flat);
    assert!(is_uniform(&scores), "{scores:?}");
}

#[test]
fn poisson_fits_are_calibrated() {
    let scores = calibrated(Model::Poisson, Links::Anywhere, Rate::Flat);
    assert!(is_uniform(&scores), "{scores:?}");
}

#[test]
fn logistic_fits_are_calibrated() {
    let scores = calibrated(Model::Logistic, Links::Anywhere, Rate::Flat);
    assert!(is_uniform(&scores), "{scores:?}");
}

#[test]
fn fits_in_blocks_are_calibrated() {
    let scores = calibrated(Model::Linear, Links::InBlocks, Rate::Flat);
    assert!(is_uniform(&scores), "{scores:?}");
}

#[test]
fn leaving_out_the_prior_of_the_links_is_found() {
    for (model, links) in [
        (Model::Linear, Links::Anywhere),
        (Model::Linear, Links::InBlocks),
        (Model::Poisson, Links::Anywhere),
    ] {
        let flat = json!({"prior": {"name": "hamming", "theta": 0}});
        let scores = calibration(model, links, Rate::Flat, flat);
        assert!(
            !is_uniform(&scores),
            "the planted error was not found: {scores:?}"
        );
    }
}

#[test]
fn fits_with_the_default_prior_are_calibrated() {
    for links in [Links::Anywhere, Links::InBlocks] {
        let scores = calibrated(Model::Linear, links, Rate::Doubting);
        assert!(is_uniform(&scores), "{scores:?}");
    }
}

#[test]
fn leaving_out_the_probability_of_no_error_is_found() {
    let without = json!({"prior": {"name": "beta_binomial", "a": 1, "b": 9, "no_error": 0}});
    for links in [Links::Anywhere, Links::InBlocks] {
        let scores = calibration(Model::Linear, links, Rate::Doubting, without.clone());
        assert!(
            !is_uniform(&scores),
            "the planted error was not found: {scores:?}"
        );
    }
}
