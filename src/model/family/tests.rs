//! The densities against other formulas, and draws and scores against each other.

use super::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const ALL: [Family; 8] = [
    Family::Gaussian,
    Family::AsymmetricLaplace { tau: 0.3 },
    Family::StudentT { nu: 3.0 },
    Family::Poisson,
    Family::Logistic,
    Family::NegativeBinomial { phi: 2.5 },
    Family::Gamma { shape: 4.0 },
    Family::LogNormal,
];

/// Mean and variance of n standard normal numbers lie within 5 standard errors of 0 and 1, with sd 1/sqrt(n), sqrt(2/n).
fn moments(family: Family, scored_as: Family) -> (f64, f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let n = 40_000;
    let law = |family| Law {
        family,
        fitted: 0.8,
        scale: 0.6,
    };
    let scores: Vec<f64> = (0..n)
        .map(|_| {
            let y = law(family).draw(&mut rng);
            law(scored_as).normal_score(y, &mut rng)
        })
        .collect();
    let mean = scores.iter().sum::<f64>() / f64::from(n);
    let variance = scores.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / f64::from(n);
    let root = f64::from(n).sqrt();
    (mean * root, (variance - 1.0) * root / 2f64.sqrt())
}

#[test]
fn responses_of_the_law_itself_have_normal_scores() {
    for family in ALL {
        let (mean, variance) = moments(family, family);
        assert!(
            mean.abs() < 5.0 && variance.abs() < 5.0,
            "{family:?}: {mean} {variance}"
        );
    }
}

#[test]
fn responses_of_another_law_do_not() {
    let (_, variance) = moments(Family::StudentT { nu: 3.0 }, Family::Gaussian);
    assert!(variance > 20.0, "{variance}");
    let (_, variance) = moments(Family::NegativeBinomial { phi: 2.5 }, Family::Poisson);
    assert!(variance > 20.0, "{variance}");
}

#[test]
fn scores_in_the_linear_predictor_have_mean_zero() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let n = 20_000;
    for family in ALL
        .into_iter()
        .filter(|e| !matches!(e, Family::AsymmetricLaplace { .. }))
    {
        let law = Law {
            family,
            fitted: -0.4,
            scale: 1.3,
        };
        let scores: Vec<f64> = (0..n).map(|_| law.score(law.draw(&mut rng))).collect();
        let mean = scores.iter().sum::<f64>() / f64::from(n);
        let variance = scores.iter().map(|s| s * s).sum::<f64>() / f64::from(n);
        let z = mean / (variance / f64::from(n)).sqrt();
        assert!(z.abs() < 5.0, "{family:?}: {z}");
    }
}

#[test]
fn log_densities_agree_with_reference_numbers() {
    // R: dnorm(1.3, 0.4, 0.7, log = TRUE); dt(0.9 / 0.7, 4, log = TRUE) - log(0.7);
    // log(tau (1 - tau) / s) - rho / s by hand.
    let normal = Family::Gaussian.at(0.4, 0.7).log_density(1.3);
    assert!(
        (normal - (-1.388_794_201_510_838)).abs() < 1e-12,
        "{normal}"
    );
    let student = Family::StudentT { nu: 4.0 }.at(0.4, 0.7).log_density(1.3);
    let by_hand = (0.375f64).ln() - 2.5 * (1.0 + (0.9f64 / 0.7).powi(2) / 4.0).ln() - 0.7f64.ln();
    assert!((student - by_hand).abs() < 1e-12, "{student}");
    // R: dlnorm(1.3, 0.4, 0.7, log = TRUE).
    let log_normal = Family::LogNormal.at(0.4, 0.7).log_density(1.3);
    let by_hand = -(1.3 * 0.7 * (2.0 * PI).sqrt()).ln() - ((1.3f64.ln() - 0.4) / 0.7).powi(2) / 2.0;
    assert!((log_normal - by_hand).abs() < 1e-12, "{log_normal}");
    let laplace = Family::AsymmetricLaplace { tau: 0.25 };
    let expected = (0.25f64 * 0.75 / 0.7).ln();
    let above = laplace.at(0.4, 0.7).log_density(1.3);
    let below = laplace.at(1.3, 0.7).log_density(0.4);
    assert!((above - (expected - 0.9 * 0.25 / 0.7)).abs() < 1e-12);
    assert!((below - (expected - 0.9 * 0.75 / 0.7)).abs() < 1e-12);
}

#[test]
fn densities_integrate_to_one() {
    for family in [
        Family::Gaussian,
        Family::AsymmetricLaplace { tau: 0.3 },
        Family::StudentT { nu: 3.0 },
    ] {
        // y = t / (1 - t^2) maps (-1, 1) to the line; midpoints.
        let steps = 20_000;
        let sum: f64 = (0..steps)
            .map(|k| {
                let t = -1.0 + (f64::from(k) + 0.5) * 2.0 / f64::from(steps);
                let rest = 1.0 - t * t;
                let jacobian = (1.0 + t * t) / (rest * rest);
                family.at(0.2, 0.6).log_density(t / rest).exp() * jacobian
            })
            .sum::<f64>()
            * 2.0
            / f64::from(steps);
        assert!((sum - 1.0).abs() < 1e-6, "{family:?}: {sum}");
    }
}

#[test]
fn masses_sum_to_one() {
    for fitted in [-3.0, 0.2, 2.5] {
        let poisson: f64 = (0..200)
            .map(|y| {
                Family::Poisson
                    .at(fitted, 1.0)
                    .log_density(f64::from(y))
                    .exp()
            })
            .sum();
        assert!((poisson - 1.0).abs() < 1e-12, "{poisson}");
        let logistic: f64 = [0.0, 1.0]
            .map(|y| Family::Logistic.at(fitted, 1.0).log_density(y).exp())
            .iter()
            .sum();
        assert!((logistic - 1.0).abs() < 1e-14, "{logistic}");
    }
    // R: dpois(3, exp(0.7), log = TRUE); plogis(-1.2, log.p = TRUE).
    let poisson = Family::Poisson.at(0.7, 1.0).log_density(3.0);
    assert!((poisson - (2.1 - 0.7f64.exp() - 6.0f64.ln())).abs() < 1e-13);
    let logistic = Family::Logistic.at(-1.2, 1.0).log_density(1.0);
    assert!((logistic - (1.0 / (1.0 + 1.2f64.exp())).ln()).abs() < 1e-14);
}

#[test]
fn asymmetric_laplace_errors_have_their_quantile_at_zero_and_the_right_means() {
    let mut rng = crate::numerics::rng::stream(5, 0);
    for tau in [0.1, 0.5, 0.9] {
        let family = Family::AsymmetricLaplace { tau };
        let draws: Vec<f64> = (0..100_000)
            .map(|_| family.at(0.0, 1.0).draw(&mut rng))
            .collect();
        let below = draws.iter().filter(|e| **e < 0.0).count() as f64 / 1e5;
        assert!((below - tau).abs() < 0.008, "{below} below 0 at {tau}");
        // Five standard errors of the mean, whose variance is (1 - 2 tau + 2 tau^2) / (tau (1 - tau))^2.
        let mean = draws.iter().sum::<f64>() / 1e5;
        let expected = (1.0 - 2.0 * tau) / (tau * (1.0 - tau));
        let sd = (1.0 - 2.0 * tau + 2.0 * tau * tau).sqrt() / (tau * (1.0 - tau));
        assert!((mean - expected).abs() < 5.0 * sd / 1e5f64.sqrt());
    }
}

#[test]
fn counts_amounts_and_zero_one_responses_have_their_mean_and_variance() {
    let mut rng = crate::numerics::rng::stream(6, 0);
    let linear: f64 = 0.7;
    let mean = linear.exp();
    let p = 1.0 / (1.0 + (-linear).exp());
    for (family, mean, variance) in [
        (Family::Poisson, mean, mean),
        (Family::Logistic, p, p * (1.0 - p)),
        (
            Family::NegativeBinomial { phi: 3.0 },
            mean,
            mean + mean * mean / 3.0,
        ),
        (Family::Gamma { shape: 4.0 }, mean, mean * mean / 4.0),
        (
            Family::LogNormal,
            mean * 0.125f64.exp(),
            mean * mean * 0.25f64.exp() * 0.25f64.exp_m1(),
        ),
    ] {
        let num_draws = 100_000;
        let draws: Vec<f64> = (0..num_draws)
            .map(|_| family.at(linear, 0.5).draw(&mut rng))
            .collect();
        assert!((family.at(linear, 0.5).mean() - mean).abs() < 1e-12);
        let found = draws.iter().sum::<f64>() / f64::from(num_draws);
        let error = (variance / f64::from(num_draws)).sqrt();
        assert!((found - mean).abs() < 5.0 * error, "{family:?}: {found}");
        let squares = draws.iter().map(|y| (y - found).powi(2));
        let ratio = squares.sum::<f64>() / f64::from(num_draws) / variance;
        assert!((ratio - 1.0).abs() < 0.05, "{family:?}: {ratio}");
    }
}
