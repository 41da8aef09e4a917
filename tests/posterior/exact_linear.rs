//! The linear model's posterior through the real chain, against the exact one, at a family error rate of 1e-3.

use std::sync::atomic::AtomicBool;

use rand_chacha::ChaCha8Rng;
use serde_json::json;
use unshuffle::hmc::{
    Adaptation, AdaptationSettings, EvalError, Kernel, LogDensity, MetricKind, MovingTarget, State,
    Trajectory,
};
use unshuffle::internals::fit::{Prepared, prepare};
use unshuffle::internals::model::ThetaGivenPi;
use unshuffle::internals::numerics::rng;
use unshuffle::internals::posterior::read_output;
use unshuffle::internals::sampler::chain::Silent;

use crate::common::{Project, compiler, rows};
use crate::exact::{Checks, Exact, NAMES};

const NUM_CHAINS: usize = 4;
const NUM_DRAWS: usize = 4000;
const ALPHAS: [f64; 2] = [1.0, 0.5];

/// One vector of draws for each chain, for each of beta.1, beta.2, sigma2.
type Draws = [Vec<Vec<f64>>; 3];

fn project(alpha: f64, trajectory: &str, metric: &str) -> (Project, Prepared) {
    let project = Project::new(&[
        ("model.priors", json!("paper")),
        ("temperature", json!(alpha)),
        ("sampler.chains", json!(NUM_CHAINS)),
        ("sampler.warmup", json!(1000)),
        ("sampler.draws", json!(NUM_DRAWS)),
        ("sampler.seed", json!(20)),
        ("sampler.trajectory", json!(trajectory)),
        ("sampler.metric", json!(metric)),
    ]);
    let prepared = prepare(project.config(), &compiler()).unwrap();
    (project, prepared)
}

/// Draws of a whole fit, as they were saved.
fn fitted(alpha: f64, trajectory: &str, metric: &str) -> Draws {
    let (_project, prepared) = project(alpha, trajectory, metric);
    prepared
        .sample(2, &AtomicBool::new(false), &Silent)
        .unwrap();
    let chains = read_output(&prepared.config.output).unwrap();
    NAMES.map(|name| {
        chains
            .iter()
            .map(|chain| chain.column(name).unwrap().to_vec())
            .collect()
    })
}

#[test]
fn the_chain_samples_the_exact_posterior() {
    let kernels = ["nuts", "static"].map(|t| ["dense", "diagonal"].map(|m| (t, m)));
    let kernels = kernels.as_flattened();
    let mut worst: f64 = 0.0;
    let mut wrong = Vec::new();
    let num_checks = kernels.len() * ALPHAS.len() * crate::exact::CHECKS_PER_FIT;
    let critical = crate::exact::critical_z(1e-3, num_checks);
    for alpha in ALPHAS {
        let exact = Exact::new(&rows(), alpha);
        for (trajectory, metric) in kernels {
            let checks = Checks::new(&exact, &fitted(alpha, trajectory, metric));
            println!("alpha {alpha} {trajectory} {metric}: {checks}");
            worst = worst.max(checks.worst());
            wrong.extend(checks.beyond(critical));
        }
    }
    println!("{num_checks} z-tests, critical |z| {critical:.2}, largest |z| {worst:.2}");
    assert!(wrong.is_empty(), "beyond {critical:.2}: {wrong:?}");
}

/// The density of theta, with the log Jacobian of sigma2 = exp(u) taken away when planted to be wrong.
struct Planted<'m> {
    right: ThetaGivenPi<'m>,
    without_jacobian: bool,
}

/// Where log sigma2 stands in theta.
const LOG_SIGMA2: usize = 2;

impl LogDensity for Planted<'_> {
    fn dim(&self) -> usize {
        self.right.dim()
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let value = self.right.log_density_gradient(q, gradient)?;
        if !self.without_jacobian {
            return Ok(value);
        }
        gradient[LOG_SIGMA2] -= 1.0;
        Ok(value - q[LOG_SIGMA2])
    }
}

fn sample(prepared: &Prepared, without_jacobian: bool) -> Draws {
    let mut draws: Draws = Default::default();
    for chain in 1..=NUM_CHAINS {
        let mut rng: ChaCha8Rng = rng::stream(30, chain);
        let right = ThetaGivenPi::new(&prepared.model, &prepared.data.response);
        let mut target = MovingTarget::new(Planted {
            right,
            without_jacobian,
        });
        let mut state = State::new(vec![1.0, 2.0, 0.0], &mut target).unwrap();
        let mut kernel = Kernel::nuts(3, 10);
        let settings = AdaptationSettings {
            num_warmup: 1000,
            target_accept: 0.8,
            metric: MetricKind::Dense,
            trajectory: Trajectory::Nuts,
        };
        let mut adaptation =
            Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng).unwrap();
        draws.iter_mut().for_each(|chains| chains.push(Vec::new()));
        for iteration in 0..1000 + NUM_DRAWS {
            let info = kernel.step(&mut target, &mut state, &mut rng).unwrap();
            adaptation
                .after_step(&info, &state, &mut kernel, &mut target, &mut rng)
                .unwrap();
            if iteration >= 1000 {
                let q = state.position();
                let theta = [q[0], q[1], q[LOG_SIGMA2].exp()];
                for (chains, value) in draws.iter_mut().zip(theta) {
                    chains[chain - 1].push(value);
                }
            }
        }
    }
    draws
}

#[test]
fn a_target_without_its_jacobian_is_rejected() {
    let (_project, prepared) = project(1.0, "nuts", "dense");
    let exact = Exact::new(&rows(), 1.0);
    let critical = crate::exact::critical_z(1e-3, 2 * crate::exact::CHECKS_PER_FIT);
    let right = Checks::new(&exact, &sample(&prepared, false));
    println!("right: {right}");
    assert!(
        right.beyond(critical).is_empty(),
        "{:?}",
        right.beyond(critical)
    );
    let wrong = Checks::new(&exact, &sample(&prepared, true));
    println!("without Jacobian: {wrong}");
    assert!(wrong.worst() > 2.0 * critical, "{wrong}");
}

#[test]
fn a_forgotten_temperature_is_rejected() {
    let draws = fitted(1.0, "nuts", "dense");
    let checks = Checks::new(&Exact::new(&rows(), 0.5), &draws);
    println!("alpha 1 against alpha 0.5: {checks}");
    assert!(checks.worst() > 2.0 * crate::exact::critical_z(1e-3, crate::exact::CHECKS_PER_FIT));
}
