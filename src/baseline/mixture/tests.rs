//! The likelihood is climbed to a maximum, and the standard errors count what is missing.

use super::super::tests::{close, columns, design};
use super::*;
use crate::study::simulate::simulate;

fn mislinked_engel() -> (Array2<f64>, Vec<f64>) {
    let file = include_str!("../../../configs/data/engel_mislinked.csv");
    columns(file, "log_income", "log_food")
}

/// SciPy 1.17.1, `minimize` of the negative log likelihood by Nelder-Mead and BFGS; errors by its second differences.
#[test]
fn matches_an_independent_maximiser_on_mislinked_households() {
    let (x, y) = mislinked_engel();
    let fit = fit(x.view(), &y);
    close(&fit.beta, &[0.39499103, 0.87958248], 1e-6);
    close(
        &[fit.sigma, fit.mismatch_rate.unwrap()],
        &[0.12954374, 0.21041766],
        1e-6,
    );
    close(&fit.standard_error, &[0.16758432, 0.024822892], 1e-5);
    let sum: f64 = fit.p_wrong.unwrap().iter().sum();
    close(&[sum / 235.0], &[0.21041766], 1e-6);
}

#[test]
fn em_never_lowers_the_likelihood_and_ends_where_the_gradient_is_zero() {
    for (seed, sigma) in [(1, 0.3), (2, 1.0), (3, 1.5)] {
        let data = simulate(&design(200, 3, sigma, 0.3), seed)
            .unwrap()
            .dataset();
        let qr = Qr::new(data.x.view());
        let mixture = Mixture::new(&qr, &data.response);
        for start in mixture.starts() {
            let mut point = start;
            for _ in 0..200 {
                let before = mixture.log_likelihood(&point);
                point = mixture.em_step(&point).unwrap();
                assert!(mixture.log_likelihood(&point) >= before - 1e-9);
            }
        }
        let top = mixture.maximise().unwrap();
        assert!(gradient(&mixture, &top).iter().all(|g| g.abs() < 1e-4));
        // A point one hundredth of a standard error away has a gradient that shows.
        let mut beside = top.clone();
        beside.gamma[1] += 0.01 * beside.sigma;
        assert!(gradient(&mixture, &beside)[1].abs() > 1e-3);
    }
}

/// Central differences by gamma / sigma, log sigma and logit rho.
fn gradient(mixture: &Mixture, point: &Point) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let dim = point.gamma.len();
    let moved = |k: usize, step: f64| {
        let mut moved = point.clone();
        match k.checked_sub(dim) {
            None => moved.gamma[k] += step * point.sigma,
            Some(0) => moved.sigma *= step.exp(),
            Some(_) => {
                let odds = moved.rho / (1.0 - moved.rho) * step.exp();
                moved.rho = odds / (1.0 + odds);
            }
        }
        mixture.log_likelihood(&moved)
    };
    (0..dim + 2)
        .map(|k| (moved(k, STEP) - moved(k, -STEP)) / (2.0 * STEP))
        .collect()
}

/// Over 400 data sets the spread of an estimate is known to 3.5 %, and the two slopes are pooled: 10 % are four standard
/// errors. Errors that take the rows' probabilities as weights, as if these were known, are too small by more than that.
#[test]
fn standard_errors_are_those_seen_over_data_sets() {
    const NUM_SETS: u64 = 400;
    let (mut spread, mut stated, mut careless) = (0.0, 0.0, 0.0);
    for seed in 1..=NUM_SETS {
        let data = simulate(&design(250, 2, 0.7, 0.3), seed).unwrap().dataset();
        let fit = fit(data.x.view(), &data.response);
        let qr = Qr::new(data.x.view());
        let p_right: Vec<f64> = fit.p_wrong.iter().flatten().map(|p| 1.0 - p).collect();
        let covariance = invert(&qr.cross_product(&p_right), 3).unwrap();
        let weighted = qr.standard_errors(&covariance, 3);
        for k in [1, 2] {
            spread += (fit.beta[k] - 1.0).powi(2);
            stated += fit.standard_error[k].powi(2);
            careless += (fit.sigma * weighted[k]).powi(2);
        }
    }
    let [stated, careless] = [stated, careless].map(|sum: f64| (sum / spread).sqrt());
    println!("stated errors over the spread: {stated}, without the missing information {careless}");
    assert!((stated - 1.0).abs() < 0.1, "{stated}");
    assert!(careless < 0.85, "{careless}");
}

/// Short tails leave nothing for wrong rows: then the mixture is least squares.
#[test]
fn rows_that_are_all_right_put_the_rate_on_its_boundary() {
    let x = Array2::from_shape_fn((60, 2), |(i, k)| [1.0, (i as f64 * 0.37).cos()][k]);
    let sign = |i: usize| if i.is_multiple_of(2) { 0.1 } else { -0.1 };
    let y: Vec<f64> = (0..60).map(|i| 1.0 + 2.0 * x[(i, 1)] + sign(i)).collect();
    let fit = fit(x.view(), &y);
    let naive = super::super::least_squares(x.view(), &y);
    assert_eq!(fit.mismatch_rate, Some(0.0));
    assert_eq!(fit.p_wrong, Some(vec![0.0; 60]));
    close(&fit.beta, &naive.beta, 1e-12);
    // The most likely sigma divides by N, not by N - D.
    let factor = (58.0f64 / 60.0).sqrt();
    let errors: Vec<f64> = naive.standard_error.iter().map(|e| e * factor).collect();
    close(&fit.standard_error, &errors, 1e-10);
}

/// Forty of 400 rows lie almost exactly on another line, as rounded responses can: its likelihood is higher, but it is no
/// regression of most rows.
#[test]
fn a_tenth_of_the_rows_on_one_line_is_no_regression() {
    let mut rng = crate::numerics::rng::stream(5, 1);
    let normal = |rng: &mut _| -> f64 { rand::Rng::sample(rng, rand_distr::StandardNormal) };
    let x = Array2::from_shape_fn(
        (400, 2),
        |(_, k)| if k == 0 { 1.0 } else { normal(&mut rng) },
    );
    let response = |row: usize| match row {
        ..40 => 3.0 * x[[row, 1]] + 1e-3 * normal(&mut rng),
        _ => 0.2 * x[[row, 1]] + normal(&mut rng),
    };
    let y: Vec<f64> = (0..400).map(response).collect();
    let fit = fit(x.view(), &y);
    assert!(fit.mismatch_rate.unwrap() < 0.8, "{:?}", fit.mismatch_rate);
    assert!(fit.beta[1] < 1.0, "{:?}", fit.beta);
}
