//! A whole fit against the exact joint posterior of links and parameters, enumerated at n = 6.
//!
//! Probabilities and means of the draws are compared by z-tests with MCSEs from `unshuffle::posterior::diagnostics`. The error rate
//! of the whole file is declared as 1e-3 and shared by the tests of 17 right runs, at most 40 each (Bonferroni): 1.5e-6 a test, two-sided.

use std::fmt;
use std::fs;

use crate::enumeration::{Enumeration, ThetaPrior, num_moved};
use crate::study::{Draws, sampled};
use serde_json::{Value, json};
use unshuffle::internals::config;
use unshuffle::internals::fit::prepare;
use unshuffle::internals::numerics::mean;
use unshuffle::internals::posterior::mcse_mean;
use unshuffle::internals::sampler::links::PriorKind;
use unshuffle::links::{LinkFacts, LinkSpace, Permutation, Prior, RatePrior};

/// The 1 - 0.74e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.815;
pub const MOST_TESTS: usize = 40;
/// Rows 2, 3 and 5 look like a cycle of three, so that links and their inverses differ. The line has no intercept but the
/// points would like one: no permutation fits so well that sigma2 has a narrow neck, which HMC enters too rarely.
pub const X: [f64; 6] = [-1.3, -0.6, 0.2, 0.7, 1.1, 1.9];
pub const Y: [f64; 6] = [-0.6, 1.8, 2.7, 1.9, 0.1, 3.9];

/// The posterior of every run of which nothing is known of the links, with a uniform rate of wrong links.
fn exact(alpha: f64) -> Enumeration {
    let prior = Prior::beta_binomial(X.len(), 1.0, 1.0);
    Enumeration::new(&X, &Y, alpha, |pi| prior.log_weight(num_moved(pi)))
}

/// Survey weights, which a fit has where it is told to.
pub const WEIGHTS: [f64; 6] = [0.5, 2.0, 1.1, 0.3, 1.6, 1.2];

/// Added to the linear predictor, where a fit is told to.
pub const OFFSET: [f64; 6] = [0.8, -1.1, 0.3, 1.4, -0.6, -0.9];

/// What the files of a fit say of the links, where it is told to use it.
const BLOCKS: [&str; 6] = ["a", "b", "b", "a", "b", "a"];
const SAFE: [bool; 6] = [false, false, false, false, false, true];
const MATCH: [f64; 6] = [0.8, 0.6, 0.5, 0.9, 0.35, 0.7];
/// 1 -> 2 -> 4 -> 1 closes only as a cycle of three.
const PAIRS: [(usize, usize, f64); 9] = [
    (1, 2, 2.0),
    (2, 4, 1.0),
    (4, 1, 3.0),
    (4, 2, 0.5),
    (0, 3, 1.0),
    (3, 0, 1.0),
    (3, 5, 2.0),
    (5, 0, 1.0),
    (0, 1, 1.0),
];

/// The facts that a fit is told, and its log prior written out from them alone.
#[derive(Clone, Copy)]
struct Known {
    blocks: bool,
    safe: bool,
    matches: bool,
    pairs: bool,
}

impl Known {
    fn settings(self) -> Value {
        json!({
            "block": self.blocks.then_some("block"),
            "safe": self.safe.then_some("checked"),
            "match_probability": self.matches.then_some("p"),
            "candidates": self.pairs.then_some("pairs.csv"),
        })
    }

    /// Rows that can exchange, by a walk over allowed links both ways: blocks, and parts of the graph of pairs.
    fn group(self, row: usize) -> Vec<usize> {
        let allowed = |i: usize, j: usize| {
            let same_block = !self.blocks || BLOCKS[i] == BLOCKS[j];
            let free = !self.safe || !(SAFE[i] || SAFE[j]);
            let listed = !self.pairs || PAIRS.iter().any(|pair| (pair.0, pair.1) == (i, j));
            i != j && same_block && free && listed
        };
        let reach = |from: usize| {
            let mut seen = vec![from];
            let mut k = 0;
            while k < seen.len() {
                let next = (0..X.len()).filter(|&j| allowed(seen[k], j) && !seen.contains(&j));
                let next: Vec<usize> = next.collect();
                seen.extend(next);
                k += 1;
            }
            seen
        };
        (0..X.len())
            .filter(|&other| reach(row).contains(&other) && reach(other).contains(&row))
            .collect()
    }

    /// -infinity where a link is not possible; otherwise odds, weights of pairs, and derangements by group.
    fn log_links(self, pi: &[usize]) -> f64 {
        let mut sum = 0.0;
        for row in (0..X.len()).filter(|&row| pi[row] != row) {
            let group = self.group(row);
            if !group.contains(&pi[row]) {
                return f64::NEG_INFINITY;
            }
            if self.matches {
                sum += ((1.0 - MATCH[row]) / MATCH[row]).ln();
            }
            if self.pairs {
                let of_row = PAIRS
                    .iter()
                    .filter(|pair| pair.0 == row && group.contains(&pair.1));
                let total: f64 = of_row.clone().map(|pair| pair.2).sum();
                let weight = of_row
                    .clone()
                    .find(|pair| pair.1 == pi[row])
                    .map_or(0.0, |pair| pair.2);
                sum += ((group.len() - 1) as f64 * weight / total).ln();
            }
            // D_k by recursion, shared among the group's moved rows.
            let moved = group.iter().filter(|&&other| pi[other] != other).count();
            let derangements = [1.0, 0.0, 1.0, 2.0, 9.0, 44.0, 265.0f64][moved];
            sum -= derangements.ln() / moved as f64;
        }
        sum
    }
}

/// A whole fit: config and data from files, output to files.
pub fn fit(seed: u64, settings: Value) -> Draws {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("x,y,block,checked,p,w,o\n");
    for row in 0..X.len() {
        let (block, safe, p) = (BLOCKS[row], SAFE[row], MATCH[row]);
        let (weight, offset) = (WEIGHTS[row], OFFSET[row]);
        text += &format!(
            "{},{},{block},{safe},{p},{weight},{offset}\n",
            X[row], Y[row]
        );
    }
    fs::write(folder.path().join("data.csv"), text).unwrap();
    let mut text = String::from("row,partner,weight\n");
    for (row, partner, weight) in PAIRS {
        text += &format!("{},{},{weight}\n", row + 1, partner + 1);
    }
    fs::write(folder.path().join("pairs.csv"), text).unwrap();
    let mut config = json!({
        "model": {"stan": "linear", "priors": "paper"},
        "data": {"file": "data.csv", "response": "y", "predictors": ["x"], "intercept": false},
        "sampler": {"chains": 4, "warmup": 1000, "draws": 15000, "seed": seed, "target_accept": 0.95},
        "output": "out"
    });
    for (key, value) in settings.as_object().unwrap() {
        match key.as_str() {
            "known" => {
                value
                    .as_object()
                    .unwrap()
                    .iter()
                    .for_each(|(key, value)| match value.is_null() {
                        true => drop(config["data"].as_object_mut().unwrap().remove(key)),
                        false => config["data"][key] = value.clone(),
                    })
            }
            _ => config[key] = value.clone(),
        }
    }
    let has_matches = config["data"]["match_probability"].is_string();
    if config["permutation"]["prior"].is_null() && !has_matches {
        config["permutation"]["prior"] = crate::study::flat_rate();
    }
    let file = folder.path().join("fit.json");
    let config = config::parse(&config.to_string(), &file, &[]).unwrap();
    let prepared =
        prepare(config, &crate::study::compiler()).unwrap_or_else(|error| panic!("{error}"));
    sampled(&prepared)
}

/// One comparison of the draws with the exact posterior.
pub struct Test {
    what: String,
    exact: f64,
    found: f64,
    pub z: f64,
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Test {
            what,
            exact,
            found,
            z,
        } = self;
        write!(f, "{what}: exact {exact:.4}, found {found:.4}, z = {z:.2}")
    }
}

impl Draws {
    fn tests(&self, exact: &Enumeration) -> Vec<Test> {
        let mut tests = vec![
            test("E beta", exact.slope, self.column("beta.1")),
            test("E sigma2", exact.variance, self.column("sigma2")),
        ];
        let mut probability = |what: String, event: &dyn Fn(&[usize]) -> bool| {
            let p = exact.probability_of(event);
            // Rarer events are too few among the draws for a normal approximation.
            if p > 0.002 {
                tests.push(test(&what, p, self.indicator(event)));
            }
        };
        for d in 0..=X.len() {
            probability(format!("P(d = {d})"), &|pi| num_moved(pi) == d);
        }
        for row in 0..X.len() {
            probability(format!("P(row {} moved)", row + 1), &|pi| pi[row] != row);
        }
        for best in exact.most_probable(12) {
            probability(format!("P({best:?})"), &|pi| pi == best);
        }
        // Exactly the same number, by another way: the sampler's own column.
        assert_eq!(
            self.column("n_moved__"),
            self.links
                .iter()
                .map(|chain| chain.iter().map(|pi| num_moved(pi) as f64).collect())
                .collect::<Vec<Vec<f64>>>()
        );
        tests
    }

    pub fn worst(&self, exact: &Enumeration) -> Test {
        let tests = self.tests(exact);
        assert!((5..=MOST_TESTS).contains(&tests.len()));
        let worst = tests
            .into_iter()
            .max_by(|a, b| a.z.abs().total_cmp(&b.z.abs()));
        worst.unwrap()
    }
}

fn test(what: &str, exact: f64, draws: Vec<Vec<f64>>) -> Test {
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    let found = mean(&draws.concat()).unwrap();
    // Draws that never vary have no MCSE: then no event of an exact probability above 0.002 occurred.
    let mcse = mcse_mean(&chains).unwrap_or(0.0);
    Test {
        what: what.to_string(),
        exact,
        found,
        z: (found - exact) / mcse,
    }
}

fn accepts(seed: u64, alpha: f64, settings: Value) {
    let worst = fit(seed, settings).worst(&exact(alpha));
    println!("worst of the tests: {worst}");
    assert!(worst.z.abs() < LIMIT, "{worst}");
}

fn rejects(seed: u64, alpha: f64, settings: Value) {
    let worst = fit(seed, settings).worst(&exact(alpha));
    println!("planted error found by: {worst}");
    assert!(
        worst.z.abs() > LIMIT,
        "the planted error was not found: {worst}"
    );
}

fn update(update: Value) -> Value {
    json!({"update": update})
}

#[test]
fn active_set() {
    accepts(1, 1.0, json!({}));
}

#[test]
fn active_set_tempered() {
    accepts(2, 0.5, json!({"temperature": 0.5}));
}

/// The proposals of the collapsed move know nothing of these priors: its correction must bring them in.
#[test]
fn informative_priors_of_the_program() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/stan/linear.stan");
    let priors =
        json!({"X_centre": [0], "beta_location": [0.5], "beta_scale": [0.4], "sigma2_scale": 1.5});
    let model = json!({"stan": program, "family": {"name": "gaussian"}, "data": priors});
    let theta = ThetaPrior {
        slope_mean: 0.5,
        slope_variance: 0.16,
        variance_variance: 2.25,
    };
    let links = Prior::beta_binomial(X.len(), 1.0, 1.0);
    let log_links = |pi: &[usize]| links.log_weight(num_moved(pi));
    let draws = fit(9, json!({"model": model}));
    let worst = draws.worst(&Enumeration::with_prior(theta, &X, &Y, 1.0, log_links));
    println!("worst of the tests: {worst}");
    assert!(worst.z.abs() < LIMIT, "{worst}");
    // The same draws are not those of the shipped priors.
    let worst = draws.worst(&exact(1.0));
    assert!(worst.z.abs() > LIMIT, "{worst}");
}

#[test]
fn checkerboard() {
    let permutation = update(json!({"name": "checkerboard"}));
    accepts(3, 1.0, json!({"permutation": permutation}));
}

#[test]
fn checkerboard_tempered() {
    let permutation = update(json!({"name": "checkerboard", "steps": 20}));
    accepts(
        4,
        0.5,
        json!({"temperature": 0.5, "permutation": permutation}),
    );
}

#[test]
fn pair_likelihoods_from_the_stan_program() {
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/stan/linear_log_lik.stan"
    );
    let model = json!({"stan": program, "family": {"name": "stan"}});
    accepts(5, 0.5, json!({"temperature": 0.5, "model": model}));
}

#[test]
fn another_temperature_in_one_step_is_found() {
    rejects(
        6,
        1.0,
        json!({"temperature": {"stan": 1, "permutation": 0.8}}),
    );
}

#[test]
fn another_prior_is_found() {
    let permutation = json!({"prior": {"name": "hamming", "theta": 1}});
    rejects(7, 1.0, json!({"permutation": permutation}));
}

/// What configs have by default, as they define it: with probability one half no link is wrong; otherwise the rate of
/// wrong links is Beta(1, 9).
fn exact_default(block_of_row: Option<&[usize]>) -> Enumeration {
    let facts = LinkFacts {
        block_of_row,
        ..LinkFacts::default()
    };
    let kind = PriorKind::BetaBinomial(RatePrior::beta(1.0, 9.0));
    let with_errors = Prior::new(kind, LinkSpace::new(X.len(), facts));
    Enumeration::new(&X, &Y, 1.0, |pi| {
        let links = Permutation::from_vec(pi.to_vec()).unwrap();
        let no_error = f64::from(u8::from(num_moved(pi) == 0));
        (0.5 * no_error + 0.5 * with_errors.log_prior(&links).exp()).ln()
    })
}

#[test]
fn the_default_prior_gives_no_error_a_probability() {
    let exact = exact_default(None);
    let default = json!({"name": "beta_binomial"});
    accepts_known(20, NOTHING, &exact, json!({"prior": default}));
    let swaps = json!({"prior": default, "update": {"name": "checkerboard"}});
    accepts_known(21, NOTHING, &exact, swaps);
    let blocks = Known {
        blocks: true,
        ..NOTHING
    };
    let exact_blocks = exact_default(Some(&[0, 1, 1, 0, 1, 0]));
    accepts_known(22, blocks, &exact_blocks, json!({"prior": default}));

    // The same Beta distribution without the probability of no error, and that probability without its Beta.
    let without = json!({"name": "beta_binomial", "a": 1, "b": 9, "no_error": 0});
    let flat = json!({"name": "beta_binomial", "a": 1, "b": 1});
    for (known, exact, prior) in [
        (NOTHING, &exact, &without),
        (blocks, &exact_blocks, &without),
        (NOTHING, &exact, &flat),
    ] {
        let settings = json!({"known": known.settings(), "permutation": {"prior": prior}});
        let worst = fit(23, settings).worst(exact);
        println!("planted error found by: {worst}");
        assert!(
            worst.z.abs() > LIMIT,
            "the planted error was not found: {worst}"
        );
    }
}

#[test]
fn restarts_from_the_mode_are_found() {
    let permutation = update(json!({"name": "checkerboard", "steps": 20, "restart": "mode"}));
    rejects(8, 1.0, json!({"permutation": permutation}));
}

/// The Hamming prior on whatever is possible: a constant for each moved row, without derangements.
fn exact_hamming(known: Known) -> Enumeration {
    let deranged = |pi: &[usize]| {
        let mut sum = 0.0;
        for row in (0..X.len()).filter(|&row| pi[row] != row) {
            let group = known.group(row);
            let moved = group.iter().filter(|&&other| pi[other] != other).count();
            sum += [1.0, 0.0, 1.0, 2.0, 9.0, 44.0, 265.0f64][moved].ln() / moved as f64;
        }
        sum
    };
    Enumeration::new(&X, &Y, 1.0, |pi| {
        known.log_links(pi) + deranged(pi) - 0.5 * num_moved(pi) as f64
    })
}

fn accepts_known(seed: u64, known: Known, exact: &Enumeration, permutation: Value) {
    let settings = json!({"known": known.settings(), "permutation": permutation});
    let worst = fit(seed, settings).worst(exact);
    println!("worst of the tests: {worst}");
    assert!(worst.z.abs() < LIMIT, "{worst}");
}

const NOTHING: Known = Known {
    blocks: false,
    safe: false,
    matches: false,
    pairs: false,
};

#[test]
fn blocks_by_swaps_and_active_set() {
    let known = Known {
        blocks: true,
        ..NOTHING
    };
    let exact = exact_hamming(known);
    let prior = json!({"name": "hamming", "theta": 0.5});
    accepts_known(11, known, &exact, json!({"prior": prior}));
    accepts_known(
        12,
        known,
        &exact,
        json!({"prior": prior, "update": {"name": "checkerboard"}}),
    );
}

#[test]
fn safe_rows() {
    let known = Known {
        safe: true,
        ..NOTHING
    };
    // One group: the beta-binomial of the five rows that can move.
    let prior = Prior::beta_binomial(5, 1.0, 1.0);
    let exact = Enumeration::new(&X, &Y, 1.0, |pi| {
        if pi[5] == 5 {
            prior.log_weight(num_moved(pi))
        } else {
            f64::NEG_INFINITY
        }
    });
    accepts_known(13, known, &exact, json!({}));
}

#[test]
fn match_probabilities() {
    let known = Known {
        matches: true,
        ..NOTHING
    };
    let exact = Enumeration::new(&X, &Y, 1.0, |pi| known.log_links(pi));
    accepts_known(14, known, &exact, json!({}));
    accepts_known(
        15,
        known,
        &exact,
        json!({"update": {"name": "checkerboard"}}),
    );
}

#[test]
fn candidate_pairs() {
    let known = Known {
        pairs: true,
        ..NOTHING
    };
    let prior = json!({"name": "hamming", "theta": 0.5});
    accepts_known(16, known, &exact_hamming(known), json!({"prior": prior}));
}

#[test]
fn all_that_can_be_known_together() {
    let known = Known {
        blocks: true,
        safe: true,
        matches: true,
        pairs: true,
    };
    let exact = Enumeration::new(&X, &Y, 1.0, |pi| known.log_links(pi));
    accepts_known(17, known, &exact, json!({}));
    let without_safe = Known {
        safe: false,
        ..known
    };
    let exact = Enumeration::new(&X, &Y, 1.0, |pi| without_safe.log_links(pi));
    accepts_known(18, without_safe, &exact, json!({}));
}

#[test]
fn forgotten_facts_are_found() {
    let facts = [
        Known {
            blocks: true,
            ..NOTHING
        },
        Known {
            matches: true,
            ..NOTHING
        },
        Known {
            pairs: true,
            ..NOTHING
        },
    ];
    for known in facts {
        let exact = Enumeration::new(&X, &Y, 1.0, |pi| known.log_links(pi));
        let worst = fit(19, json!({})).worst(&exact);
        println!("planted error found by: {worst}");
        assert!(
            worst.z.abs() > LIMIT,
            "the planted error was not found: {worst}"
        );
    }
}
