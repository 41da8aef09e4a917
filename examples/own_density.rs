//! A density of one's own in the HMC kernel, inside a Gibbs loop: the mean of responses whose variance another step draws.
//!
//!     cargo run --release --example own_density

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution};
use unshuffle::hmc::{
    Adaptation, AdaptationSettings, EvalError, Kernel, LogDensity, MetricKind, MovingTarget, State,
    Trajectory,
};

/// y ~ Normal(mean, variance) with a flat prior: the density of the mean given the variance.
struct MeanGivenVariance {
    y: Vec<f64>,
    variance: f64,
}

impl LogDensity for MeanGivenVariance {
    fn dim(&self) -> usize {
        1
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        gradient[0] = self.y.iter().map(|y| (y - q[0]) / self.variance).sum();
        let squares: f64 = self.y.iter().map(|y| (y - q[0]).powi(2)).sum();
        Ok(-0.5 * squares / self.variance)
    }
}

fn main() -> Result<(), EvalError> {
    let (y, variance) = (vec![2.1, 1.4, 3.3, 2.6, 1.9, 2.2], 1.0);
    let (num_warmup, num_draws) = (500, 4000);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut target = MovingTarget::new(MeanGivenVariance { y, variance });
    let mut state = State::new(vec![0.0], &mut target)?;
    let mut kernel = Kernel::nuts(target.dim(), 10);
    let settings = AdaptationSettings {
        num_warmup,
        target_accept: 0.8,
        metric: MetricKind::Diagonal,
        trajectory: Trajectory::Nuts,
    };
    let mut adaptation = Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng)?;
    let chi_squared = ChiSquared::new(6.0).expect("six responses");
    let mut sum = 0.0;
    for iteration in 0..num_warmup + num_draws {
        let info = kernel.step(&mut target, &mut state, &mut rng)?; // the mean, by NUTS
        adaptation.after_step(&info, &state, &mut kernel, &mut target, &mut rng)?;
        let density = target.change(); // the variance, by its own conditional distribution
        let squares: f64 = density
            .y
            .iter()
            .map(|y| (y - state.position()[0]).powi(2))
            .sum();
        density.variance = squares / chi_squared.sample(&mut rng);
        state.refresh(&mut target)?; // without this line the next step panics
        sum += if iteration < num_warmup {
            0.0
        } else {
            state.position()[0]
        };
    }
    println!(
        "posterior mean {:.2}; the average is 2.25",
        sum / num_draws as f64
    );
    Ok(())
}
