//! Chains on a model without Stan: resumed ones give the draws of those that were never interrupted.

use std::convert::Infallible;

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde_json::{Value, json};

use super::gaussian_pairs::GaussianPairs;
use super::*;
use crate::numerics::rng::{DrawSeeds, stream};
use crate::sampler::hmc::warmup::Trajectory;
use crate::sampler::hmc::{LogDensity, MetricKind};
use crate::sampler::links::{
    ActiveSet, Checkerboard, Collapsed, LinkFacts, LinkKernel, LinkSpace, ModeSearch, Permutation,
    Prior, PriorKind, RatePrior, Restart,
};

const N: usize = 40;
const SETTINGS: ChainSettings = ChainSettings {
    adaptation: AdaptationSettings {
        num_warmup: 60,
        target_accept: 0.8,
        metric: MetricKind::Dense,
        trajectory: Trajectory::Nuts,
    },
    num_draws: 40,
    thin: 3,
    max_depth: 8,
};
const TOTAL: usize = 100;
/// Before anything happened, before, while and after the metric is learnt, with warm-up just done, and in sampling.
const STOPS: [usize; 6] = [0, 5, 33, 57, 60, 77];

/// y ~ normal(x beta, sigma2) with theta = (beta, log sigma2) and position = (2 beta, log sigma2).
struct Regression<'m> {
    x: &'m [f64],
    response: Vec<f64>,
    weights: Vec<f64>,
}

impl LogDensity for Regression<'_> {
    fn dim(&self) -> usize {
        2
    }

    fn log_density_gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let (beta, log_variance) = (0.5 * z[0], z[1]);
        let precision = (-log_variance).exp();
        let mut sum = -0.005 * beta * beta - 0.05 * log_variance * log_variance;
        gradient[0] = -0.01 * beta;
        gradient[1] = -0.1 * log_variance;
        for ((x, y), weight) in self.x.iter().zip(&self.response).zip(&self.weights) {
            let residual = y - x * beta;
            sum -= 0.5 * weight * (log_variance + residual * residual * precision);
            gradient[0] += weight * residual * x * precision;
            gradient[1] -= 0.5 * weight * (1.0 - residual * residual * precision);
        }
        gradient[0] *= 0.5;
        Ok(sum)
    }
}

impl LinkedDensity for Regression<'_> {
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
        theta.copy_from_slice(&[0.5 * position[0], position[1]]);
    }

    fn position_of(&self, theta: Vec<f64>) -> Vec<f64> {
        vec![2.0 * theta[0], theta[1]]
    }
}

/// Theta, what it sees of the links, and a number from a generator of the draw's own.
struct RandomOutputs;

impl DrawOutputs for RandomOutputs {
    type Error = Infallible;

    fn append(
        &mut self,
        draw: usize,
        theta: &[f64],
        response: &[f64],
        weights: &[f64],
        row: &mut Vec<f64>,
    ) -> Result<(), Infallible> {
        row.extend_from_slice(theta);
        let seen = response.iter().zip(weights).enumerate();
        row.push(seen.map(|(k, (y, weight))| k as f64 * y * weight).sum());
        row.push(f64::from(DrawSeeds::new(3, 1).of_draw(draw)));
        Ok(())
    }
}

/// One way to sample the same data.
struct Case {
    name: &'static str,
    x: Vec<f64>,
    y: Vec<f64>,
    prior: Prior,
    /// None where every link stays as it is.
    update: Option<LinkKernel>,
    has_feedback: bool,
    is_collapsed: bool,
    is_large: bool,
    settings: ChainSettings,
}

type TestChain<'m> = Chain<'m, Regression<'m>, GaussianPairs, RandomOutputs>;

impl Case {
    fn new(name: &'static str, facts: LinkFacts, update: Option<LinkKernel>) -> Case {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut normal = || rng.sample::<f64, _>(StandardNormal);
        let x: Vec<f64> = (0..N).map(|_| normal()).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 1.5 * x + 0.4 * normal()).collect();
        // Rows k and k + 20 are of one block and exchange their responses.
        (0..6).for_each(|k| y.swap(k, k + 20));
        let rate = RatePrior {
            a: 1.0,
            b: 3.0,
            no_error: 0.0,
        };
        Case {
            name,
            x,
            y,
            prior: Prior::new(PriorKind::BetaBinomial(rate), LinkSpace::new(N, facts)),
            update,
            has_feedback: true,
            is_collapsed: false,
            is_large: false,
            settings: SETTINGS,
        }
    }

    fn parts(&self) -> ChainParts<'_, Regression<'_>, GaussianPairs, RandomOutputs> {
        let step_two = self.update.clone().map(|update| {
            let pairs = GaussianPairs::with_log_variance(&self.x, &self.y);
            let mut step_two = StepTwo::new(&self.y, &self.prior, update, pairs);
            if self.is_large {
                step_two = step_two.large();
            }
            match self.has_feedback {
                true => step_two,
                false => step_two.without_feedback(&[-1.5; N]),
            }
        });
        let x = Array2::from_shape_vec((N, 1), self.x.clone()).unwrap();
        let kernel = Collapsed::new(x.view(), &self.y, 1.0, self.prior.space());
        let places = GaussianTheta::new(0..1, 1, 2.0);
        let num_warmup = self.settings.adaptation.num_warmup;
        let kernel = kernel.filter(|_| self.is_collapsed);
        ChainParts {
            density: Regression {
                x: &self.x,
                response: self.y.clone(),
                weights: vec![1.0; N],
            },
            step_two,
            collapsed: kernel.map(|kernel| CollapsedMove::new(kernel, places, num_warmup)),
            outputs: RandomOutputs,
        }
    }

    fn start(&self) -> TestChain<'_> {
        let mut rng = stream(7, 1);
        let mut parts = self.parts();
        let theta = vec![0.7, 0.3];
        if let Some(step_two) = &mut parts.step_two {
            step_two.disperse(3, &theta, &mut rng).unwrap();
        }
        Chain::new(1, self.settings, parts, theta, rng).unwrap()
    }

    fn resume(&self, text: &str) -> Result<TestChain<'_>, ChainError<Infallible>> {
        let state = serde_json::from_str(text).unwrap();
        Chain::resume(self.settings, self.parts(), state)
    }
}

fn cases() -> Vec<Case> {
    let none = LinkFacts::default;
    let blocks: Vec<usize> = (0..N).map(|row| row % 4).collect();
    let in_blocks = LinkFacts {
        block_of_row: Some(&blocks),
        ..LinkFacts::default()
    };
    let near = [1, 3, 20, N - 20, N - 3, N - 1];
    let pairs = (0..N).flat_map(|row| near.map(|step| (row, (row + step) % N, 1.0 + step as f64)));
    let mut pairs: Vec<(usize, usize, f64)> = pairs.collect();
    pairs.dedup_by_key(|pair| (pair.0, pair.1));
    let candidates = LinkFacts {
        candidates: Some(&pairs),
        ..LinkFacts::default()
    };
    let active_set = || Some(LinkKernel::ActiveSet(ActiveSet::default()));
    let from_mode = Checkerboard::new(400, Restart::Mode);
    let from_current = Checkerboard::new(400, Restart::Current);
    let mut cases = vec![
        Case::new("links kept", none(), None),
        Case::new("active set", none(), active_set()),
        Case::new("blocks", in_blocks, active_set()),
        Case::new("candidates", candidates, active_set()),
        Case::new(
            "mode",
            none(),
            Some(LinkKernel::Mode(ModeSearch::default())),
        ),
        Case::new(
            "swaps",
            none(),
            Some(LinkKernel::Checkerboard(from_current)),
        ),
        Case {
            is_collapsed: true,
            ..Case::new("collapsed", none(), active_set())
        },
        Case {
            is_large: true,
            ..Case::new("large file", none(), active_set())
        },
        Case {
            has_feedback: false,
            ..Case::new("no feedback", none(), active_set())
        },
        Case {
            has_feedback: false,
            ..Case::new("no feedback in blocks", in_blocks, active_set())
        },
    ];
    let mut paper = Case::new("paper", none(), Some(LinkKernel::Checkerboard(from_mode)));
    paper.settings.adaptation.trajectory = Trajectory::Static;
    paper.settings.adaptation.metric = MetricKind::Diagonal;
    cases.push(paper);
    cases
}

/// A draw, with floats as bits.
type Bits = (Vec<u64>, Option<Vec<usize>>);

/// Steps to the end: the draws by the iteration that made them, and the states at `STOPS`.
fn finish(chain: &mut TestChain) -> (Vec<(usize, Bits)>, Vec<String>) {
    let (mut draws, mut states) = (Vec::new(), Vec::new());
    while chain.iteration() < TOTAL {
        if STOPS.contains(&chain.iteration()) {
            states.push(serde_json::to_string(&chain.state()).unwrap());
        }
        let iteration = chain.iteration();
        let draw = chain.step().unwrap();
        draws.extend(draw.map(|draw| {
            let bits = draw.values.iter().map(|value| value.to_bits()).collect();
            let links = draw.links.map(|links| links.as_slice().to_vec());
            (iteration, (bits, links))
        }));
    }
    (draws, states)
}

/// The state without its times.
fn state_of(chain: &TestChain) -> Value {
    let mut state = serde_json::to_value(chain.state()).unwrap();
    for name in ["warmup", "sampling", "step_one", "step_two"] {
        state["outcome"][format!("{name}_seconds")] = json!(0);
    }
    state
}

#[test]
fn a_resumed_chain_gives_the_same_draws() {
    for case in cases() {
        let mut whole = case.start();
        let (draws, states) = finish(&mut whole);
        assert_eq!((draws.len(), states.len()), (14, STOPS.len()));
        let mut sets: Vec<_> = draws.iter().map(|(_, draw)| draw).collect();
        sets.dedup();
        assert!(sets.len() > 10, "{}: the chain moves", case.name);
        for (text, stop) in states.iter().zip(STOPS) {
            let mut resumed = case.resume(text).unwrap();
            let (again, _) = finish(&mut resumed);
            let rest: Vec<_> = draws.iter().filter(|(k, _)| *k >= stop).cloned().collect();
            assert!(again == rest, "{} at {stop}", case.name);
            assert_eq!(
                state_of(&resumed),
                state_of(&whole),
                "{} at {stop}",
                case.name
            );
        }
    }
}

/// A case, where it is saved, and what is changed in its state.
type Spoilt<'s> = (&'s str, usize, &'s dyn Fn(&mut Value));

/// The comparison sees every part of a state that is not restored.
#[test]
fn a_state_that_lacks_something_gives_other_draws() {
    let case_of = |name: &str| cases().into_iter().find(|case| case.name == name).unwrap();
    let plus = |value: &mut Value, step: f64| *value = json!(value.as_f64().unwrap() + step);
    let spoil: [Spoilt; 11] = [
        ("active set", 5, &|s| {
            s["rng"]["word_pos"] = json!(s["rng"]["word_pos"].as_u64().unwrap() + 1)
        }),
        ("active set", 77, &|s| {
            s["links"]["permutation"]["moved"]
                .as_array_mut()
                .unwrap()
                .reverse()
        }),
        ("links kept", 77, &|s| {
            plus(&mut s["kernel"]["step_size"], 1e-3)
        }),
        ("links kept", 77, &|s| plus(&mut s["position"][0], 1e-9)),
        ("paper", 77, &|s| {
            plus(&mut s["kernel"]["integration_time"], 9.0)
        }),
        ("links kept", 33, &|s| {
            plus(&mut s["adaptation"]["metric"]["second_moment"][0], 0.5)
        }),
        ("links kept", 33, &|s| {
            plus(&mut s["adaptation"]["step_size"]["mean_error"], 1e-3)
        }),
        ("collapsed", 57, &|s| {
            plus(&mut s["collapsed"]["proposals"]["theta"][0], 0.5)
        }),
        ("large file", 57, &|s| {
            plus(&mut s["links"]["kept_at"][0], 0.5)
        }),
        ("large file", 77, &|s| s["links"]["kept_at"] = json!([])),
        ("no feedback", 77, &|s| {
            s["links"]["reported"]["moved"]
                .as_array_mut()
                .unwrap()
                .reverse()
        }),
    ];
    for (number, (name, stop, spoil)) in spoil.into_iter().enumerate() {
        let case = case_of(name);
        let (draws, states) = finish(&mut case.start());
        let at = STOPS.iter().position(|known| *known == stop).unwrap();
        let mut state = serde_json::from_str(&states[at]).unwrap();
        spoil(&mut state);
        let (again, _) = finish(&mut case.resume(&state.to_string()).unwrap());
        let rest: Vec<_> = draws.iter().filter(|(k, _)| *k >= stop).cloned().collect();
        assert!(again != rest, "number {number}: {name}");
    }
}

#[test]
fn a_state_of_another_fit_is_refused() {
    let cases = cases();
    let find = |name: &str| cases.iter().find(|case| case.name == name).unwrap();
    let text = |case: &Case| serde_json::to_string(&case.start().state()).unwrap();
    for (saved, resumed, problem) in [
        ("links kept", "active set", "updates the links"),
        ("active set", "collapsed", "integrates theta out"),
        ("active set", "no feedback", "feedback"),
        ("paper", "swaps", "warm-up"),
    ] {
        let error = find(resumed).resume(&text(find(saved))).err().unwrap();
        assert!(error.to_string().contains(problem), "{error}");
    }
}

/// Stops a run after some iterations.
struct StopAfter<'s>(usize, &'s AtomicBool);

impl Observer for StopAfter<'_> {
    fn iteration(&self, progress: Progress) {
        assert_eq!(progress.warming_up, progress.done <= 60);
        self.1.store(progress.done == self.0, Ordering::Relaxed);
    }
}

#[test]
fn an_interrupted_run_is_continued_into_another_sink() {
    let cases = cases();
    let case = &cases[7];
    let never = AtomicBool::new(false);
    let mut whole = DrawsInMemory::default();
    let outcome = case.start().run(&mut whole, &never, &Silent).unwrap();
    assert!(!outcome.interrupted && outcome.num_draws == 14);
    assert_eq!((whole.values.len(), whole.links.len()), (14, 14));
    for after in [20, 60, 70] {
        let (mut first, mut second) = (DrawsInMemory::default(), DrawsInMemory::default());
        let mut chain = case.start();
        let stop = AtomicBool::new(false);
        let observer = StopAfter(after, &stop);
        let outcome = chain.run(&mut first, &stop, &observer).unwrap();
        assert!(outcome.interrupted && chain.iteration() == after);
        let text = serde_json::to_string(&chain.state()).unwrap();
        let mut resumed = case.resume(&text).unwrap();
        let outcome = resumed.run(&mut second, &never, &Silent).unwrap();
        assert!(!outcome.interrupted && outcome.num_draws == 14);
        assert!(outcome.warmup_seconds > 0.0 && second.sampling_seconds > 0.0);
        assert_eq!([first.values, second.values].concat(), whole.values);
        assert_eq!([first.links, second.links].concat(), whole.links);
    }
}
