//! The ten programs in the style of brms, adopted and fitted with every link kept, against the plain posterior of the same
//! program as it was, which NUTS samples without unshuffle's program in between.
//!
//! Shares of draws below quantiles of the plain posterior are compared by z-tests with MCSEs. The error rate of the whole file
//! is declared as 1e-3 and shared by ten right fits, at most 24 tests each (Bonferroni): 4.2e-6 a test, two-sided. Planted
//! wrong adoptions must fail.

use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use bridgestan::{Model, Rng, StanLibrary};
use serde_json::{Value, json};
use unshuffle::hmc::{
    Adaptation, AdaptationSettings, EvalError, Kernel, LogDensity, MetricKind, MovingTarget, State,
    Trajectory,
};
use unshuffle::internals::config;
use unshuffle::internals::fit::prepare;
use unshuffle::internals::numerics::mean;
use unshuffle::internals::numerics::rng::stream;
use unshuffle::internals::posterior::{ChainDraws, mcse_mean};
use unshuffle::internals::sampler::chain::Silent;

use crate::brms::{adopted, is_the_same_program, library, source};
use crate::common::compiler;

/// The 1 - 2.1e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.6;
const MOST_TESTS: usize = 24;
const QUANTILES: [f64; 3] = [0.05, 0.5, 0.95];
const NUM_ROWS: usize = 48;
const NUM_GROUPS: usize = 6;
const NUM_CHAINS: usize = 2;
const NUM_WARMUP: usize = 1000;
const NUM_DRAWS: usize = 5000;
const TARGET_ACCEPT: f64 = 0.95;

/// A predictor, a group and a response for each row.
struct Rows {
    x: Vec<f64>,
    group: Vec<usize>,
    y: Vec<f64>,
    is_integer: bool,
}

/// Numbers between 0 and 1 that look random and are always the same.
fn spread(k: usize, step: f64) -> f64 {
    ((k as f64 + 0.5) * step).fract()
}

impl Rows {
    /// `response` makes a response of the linear predictor and of a number between 0 and 1.
    fn new(is_integer: bool, response: impl Fn(f64, f64) -> f64) -> Rows {
        let x = |k| 4.0 * spread(k, 0.618_033_988_749_895) - 2.0;
        let group = |k| k % NUM_GROUPS;
        let of_group = |k| 1.2 * spread(group(k), 0.754_877_666) - 0.6;
        let slope = |k| 0.7 + 0.8 * (spread(group(k), 0.569_840_291) - 0.5);
        let y = |k| {
            let predictor = 0.4 + slope(k) * x(k) + of_group(k);
            response(predictor, spread(k, 0.414_213_562_373))
        };
        let rows = 0..NUM_ROWS;
        Rows {
            x: rows.clone().map(x).collect(),
            group: rows.clone().map(group).collect(),
            y: rows.map(y).collect(),
            is_integer,
        }
    }

    fn csv(&self) -> String {
        let line = |k: usize| format!("{},g{},{}\n", self.x[k], self.group[k], self.y[k]);
        format!("x,g,y\n{}", (0..NUM_ROWS).map(line).collect::<String>())
    }

    /// The data block of the program as brms fills it.
    fn of_brms(&self, num_coefficients: usize) -> Value {
        let x: Vec<[f64; 2]> = self.x.iter().map(|x| [1.0, *x]).collect();
        let y = match self.is_integer {
            true => json!(Vec::from_iter(self.y.iter().map(|y| *y as i64))),
            false => json!(self.y),
        };
        let codes: Vec<usize> = self.group.iter().map(|group| group + 1).collect();
        json!({
            "N": NUM_ROWS, "Y": y, "K": 2, "Kc": 1, "X": x, "prior_only": 0,
            "N_1": NUM_GROUPS, "M_1": num_coefficients, "NC_1": 1, "J_1": codes,
            "Z_1_1": vec![1; NUM_ROWS], "Z_1_2": self.x
        })
    }
}

/// The program as it was, with the response among its data.
struct Plain<'m> {
    model: &'m Model<&'m StanLibrary>,
}

impl LogDensity for Plain<'_> {
    fn dim(&self) -> usize {
        self.model.param_unc_num()
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let value = self.model.log_density_gradient(q, true, true, gradient);
        value.map_err(|error| EvalError::Rejected(error.to_string()))
    }
}

/// Draws by parameter, then by chain.
type ByName = Vec<(String, Vec<Vec<f64>>)>;

/// Draws of the original program, without the standardised effects of the single groups.
fn plain_posterior(name: &str, data: &Value) -> ByName {
    let library = library(&source(name));
    let data = CString::new(data.to_string()).unwrap();
    let model = Model::new(&library, Some(data), 1).unwrap();
    let names = model.param_names(false, false).split(',').map(String::from);
    let mut draws: ByName = names.map(|name| (name, Vec::new())).collect();
    let settings = AdaptationSettings {
        num_warmup: NUM_WARMUP,
        target_accept: TARGET_ACCEPT,
        metric: MetricKind::Dense,
        trajectory: Trajectory::Nuts,
    };
    for chain in 1..=NUM_CHAINS {
        let mut rng = stream(40, chain);
        let mut target = MovingTarget::new(Plain { model: &model });
        let mut state = State::new(vec![0.1; target.dim()], &mut target).unwrap();
        let mut kernel = Kernel::nuts(target.dim(), 10);
        let mut adaptation =
            Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng).unwrap();
        draws.iter_mut().for_each(|(_, all)| all.push(Vec::new()));
        for iteration in 0..NUM_WARMUP + NUM_DRAWS {
            let info = kernel.step(&mut target, &mut state, &mut rng).unwrap();
            adaptation
                .after_step(&info, &state, &mut kernel, &mut target, &mut rng)
                .unwrap();
            if iteration >= NUM_WARMUP {
                let mut values = vec![0.0; draws.len()];
                let none: Option<&mut Rng<&StanLibrary>> = None;
                model
                    .param_constrain(state.position(), false, false, &mut values, none)
                    .unwrap();
                for ((_, all), value) in draws.iter_mut().zip(values) {
                    all[chain - 1].push(value);
                }
            }
        }
    }
    let varies = |all: &[Vec<f64>]| all[0].iter().any(|value| *value != all[0][0]);
    draws.retain(|(name, all)| !name.starts_with("z_1.") && varies(all));
    draws
}

/// A fit of the adopted program, as a user completes the config, with every link kept.
fn fit(name: &str, rows: &Rows, num_coefficients: usize, temperature: f64) -> Vec<ChainDraws> {
    let folder = tempfile::tempdir().unwrap();
    let (program, entries, _) = adopted(name);
    let file = format!("{name}_unshuffle.stan");
    fs::write(folder.path().join(&file), &program.text).unwrap();
    fs::write(folder.path().join("rows.csv"), rows.csv()).unwrap();
    let known = json!({
        "J_1": {"column": "g"}, "N_1": {"levels": "g"}, "M_1": num_coefficients, "NC_1": 1,
        "Z_1_1": {"column": "1"}, "Z_1_2": {"column": "x"}
    });
    let entries = entries.iter().map(|key| (key.clone(), known[key].clone()));
    let settings = json!({
        "model": {
            "stan": file, "response": "Y", "family": {"name": "stan"},
            "data": entries.collect::<serde_json::Map<_, _>>()
        },
        "data": {"file": "rows.csv", "response": "y", "predictors": ["x"]},
        "permutation": {"update": {"name": "none"}},
        "temperature": temperature,
        "sampler": {
            "chains": NUM_CHAINS, "warmup": NUM_WARMUP, "draws": NUM_DRAWS, "seed": 7,
            "target_accept": TARGET_ACCEPT
        },
        "output": "out"
    });
    let place = Path::new(folder.path()).join("fit.json");
    let config = config::parse(&settings.to_string(), &place, &[]);
    let config = config.unwrap_or_else(|error| panic!("{name}: {error}"));
    let prepared = prepare(config, &compiler()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let stop = AtomicBool::new(false);
    prepared.sample(1, &stop, &Silent).unwrap().chains
}

/// The largest |z| of the shares of draws below quantiles of the plain posterior, with what was compared.
fn worst(plain: &ByName, found: &[ChainDraws]) -> (f64, String) {
    let mut tests = Vec::new();
    for (name, expected) in plain {
        let mut sorted = expected.concat();
        sorted.sort_by(f64::total_cmp);
        let found = found.iter().map(|chain| chain.column(name).unwrap());
        let found: Vec<Vec<f64>> = found.map(<[f64]>::to_vec).collect();
        for quantile in QUANTILES {
            let limit = sorted[(quantile * sorted.len() as f64) as usize];
            let below = |chains: &[Vec<f64>]| {
                let is_below = |value: &f64| f64::from(u8::from(*value < limit));
                let chains = chains.iter();
                let chains: Vec<Vec<f64>> = chains
                    .map(|chain| chain.iter().map(is_below).collect())
                    .collect();
                let views: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
                // Draws that never vary have no MCSE: theirs is then that of the other posterior alone.
                let error = mcse_mean(&views).unwrap_or(0.0);
                (mean(&chains.concat()).unwrap(), error)
            };
            let (expected, found) = (below(expected), below(&found));
            let z = (found.0 - expected.0) / expected.1.hypot(found.1);
            let what = format!(
                "P({name} < {limit:.3}): {:.3} and {:.3}",
                expected.0, found.0
            );
            tests.push((z.abs(), what));
        }
    }
    assert!((6..=MOST_TESTS).contains(&tests.len()), "{}", tests.len());
    let worst = tests.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    worst.unwrap()
}

/// Both programs have one density and one posterior; half of the likelihood, or the responses in another order, have not.
fn compare(name: &str, num_coefficients: usize, rows: &Rows) {
    let six: Vec<f64> = rows.y[..6].to_vec();
    is_the_same_program(name, six.try_into().unwrap(), num_coefficients);
    let plain = plain_posterior(name, &rows.of_brms(num_coefficients));
    let (z, what) = worst(&plain, &fit(name, rows, num_coefficients, 1.0));
    println!("{name}: largest |z| {z:.2}, {what}");
    assert!(z < LIMIT, "{name}: |z| = {z:.2}, {what}");
    let turned = Rows {
        x: rows.x.clone(),
        group: rows.group.clone(),
        y: rows.y.iter().rev().copied().collect(),
        ..*rows
    };
    for (wrong, temperature, rows) in [
        ("half of the likelihood", 0.5, rows),
        ("responses in another order", 1.0, &turned),
    ] {
        let (z, what) = worst(&plain, &fit(name, rows, num_coefficients, temperature));
        println!("{name}, {wrong}: largest |z| {z:.2}, {what}");
        assert!(z > 1.5 * LIMIT, "{name}, {wrong}: |z| = {z:.2}, {what}");
    }
}

/// An error around 0, between -0.85 and 0.85.
fn noise(share: f64) -> f64 {
    1.7 * (share - 0.5)
}

fn real() -> Rows {
    Rows::new(false, |predictor, share| predictor + noise(share))
}

fn positive() -> Rows {
    Rows::new(false, |predictor, share| (predictor + noise(share)).exp())
}

fn counts() -> Rows {
    Rows::new(true, |predictor, share| {
        (predictor + 0.5 + noise(share)).exp().floor()
    })
}

#[test]
fn a_normal_response() {
    compare("gaussian", 1, &real());
}

#[test]
fn groups() {
    compare("gaussian_group", 1, &real());
}

#[test]
fn correlated_slopes_by_group() {
    compare("gaussian_slopes", 2, &real());
}

#[test]
fn heavy_tails() {
    compare("student", 1, &real());
}

#[test]
fn a_yes_or_no_response_with_groups() {
    let yes =
        |predictor: f64, share: f64| f64::from(u8::from(share < 1.0 / (1.0 + (-predictor).exp())));
    compare("bernoulli", 1, &Rows::new(true, yes));
}

#[test]
fn counts_of_poisson() {
    compare("poisson", 1, &counts());
}

#[test]
fn counts_with_groups() {
    compare("negbinomial", 1, &counts());
}

#[test]
fn a_gamma_response() {
    compare("gamma", 1, &positive());
}

#[test]
fn a_log_normal_response_with_groups() {
    compare("lognormal", 1, &positive());
}

#[test]
fn a_share_as_response() {
    let share = |predictor: f64, share: f64| 1.0 / (1.0 + (-predictor - noise(share)).exp());
    compare("beta", 1, &Rows::new(false, share));
}
