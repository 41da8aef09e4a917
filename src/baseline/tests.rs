//! What the estimators' tests share, and what holds of all of them: a number for every legal data set.

use ndarray::{Array2, array};
use rand::Rng;

use super::*;
use crate::model::Family;
use crate::study::simulate::{Design, Links, simulate};

const ALL: [Baseline; 5] = [
    Baseline::LeastSquares,
    Baseline::Huber,
    Baseline::Mixture,
    Baseline::Quantile { tau: 0.5 },
    Baseline::Quantile { tau: 0.1 },
];

/// Equal up to `tolerance`, relative to what is expected.
pub(super) fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        let error = (f - e).abs();
        assert!(error <= tolerance * e.abs(), "{found:?} {expected:?}");
    }
}

/// The intercept and `predictor`, and `response`, of the households as they are.
pub(super) fn engel(predictor: &str, response: &str) -> (Array2<f64>, Vec<f64>) {
    columns(
        include_str!("../../configs/data/engel.csv"),
        predictor,
        response,
    )
}

pub(super) fn columns(text: &str, predictor: &str, response: &str) -> (Array2<f64>, Vec<f64>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = |name| header.iter().position(|h| h == name).unwrap();
    let (predictor, response) = (place(predictor), place(response));
    let number = |text: &str| text.parse::<f64>().unwrap();
    let rows: Vec<(f64, f64)> = reader
        .records()
        .map(|record| record.unwrap())
        .map(|record| (number(&record[predictor]), number(&record[response])))
        .collect();
    let x = Array2::from_shape_fn((rows.len(), 2), |(i, k)| [1.0, rows[i].0][k]);
    (x, rows.into_iter().map(|row| row.1).collect())
}

/// Normal predictors of scale 1 with coefficients 1, and normal errors.
pub(super) fn design(num_rows: usize, num_predictors: usize, sigma: f64, mislinked: f64) -> Design {
    Design {
        num_rows,
        num_predictors,
        x_scale: 1.0,
        beta: 1.0,
        intercept: Some(1.0),
        sigma,
        errors: Family::Gaussian,
        times: None,
        links: Links::Random {
            fraction: mislinked,
        },
        outside: 0.0,
    }
}

fn assert_complete(method: Baseline, x: &Array2<f64>, y: &[f64]) -> BaselineFit {
    let fit = method.fit(x.view(), y);
    assert!(fit.beta.iter().all(|b| b.is_finite()), "{method:?} {fit:?}");
    let errors = &fit.standard_error;
    assert!(errors.iter().all(|e| *e >= 0.0), "{method:?} {fit:?}");
    assert!(fit.sigma >= 0.0 && fit.sigma.is_finite());
    assert_eq!(fit.p_wrong.is_some(), method == Baseline::Mixture);
    let mut p_wrong = fit.p_wrong.iter().flatten();
    assert!(p_wrong.all(|p| (0.0..=1.0).contains(p)), "{fit:?}");
    fit
}

#[test]
fn a_perfect_fit_is_found_without_doubt() {
    let x = Array2::from_shape_fn((30, 2), |(i, k)| [1.0, (i as f64 * 0.7).sin()][k]);
    let mut y: Vec<f64> = x.rows().into_iter().map(|r| 2.0 - 3.0 * r[1]).collect();
    for method in ALL {
        let fit = assert_complete(method, &x, &y);
        close(&fit.beta, &[2.0, -3.0], 1e-12);
        assert!(fit.standard_error.iter().all(|e| *e < 1e-10), "{method:?}");
    }
    // Now four rows are wrong; the robust methods still see the others' line.
    for k in 0..4 {
        y[3 * k] += 2.0 + k as f64;
    }
    for method in [
        Baseline::Huber,
        Baseline::Mixture,
        Baseline::Quantile { tau: 0.5 },
    ] {
        let fit = assert_complete(method, &x, &y);
        close(&fit.beta, &[2.0, -3.0], 1e-5);
        assert!(fit.standard_error.iter().all(|e| *e < 1e-4), "{method:?}");
    }
    assert!((Baseline::LeastSquares.fit(x.view(), &y).beta[0] - 2.0).abs() > 0.3);
}

#[test]
fn extreme_data_give_numbers() {
    let few = array![[1.0, 0.0], [1.0, 1.0], [1.0, 3.0]];
    let ones = Array2::ones((40, 1));
    let scales = Array2::from_shape_fn((40, 2), |(i, k)| [1.0, 1e8 + (i * i % 17) as f64][k]);
    let waves: Vec<f64> = (0..40).map(|i| (f64::from(i).powi(2)).sin()).collect();
    let whole: Vec<f64> = waves.iter().map(|w| (2.0 * w).round()).collect();
    let tiny: Vec<f64> = waves.iter().map(|w| 1e-200 * w).collect();
    let one_large: Vec<f64> = (0..40).map(|i| if i == 7 { 1e9 } else { 0.0 }).collect();
    for method in ALL {
        assert_complete(method, &few, &[1.0, 0.0, 5.0]);
        assert_complete(method, &few, &[2.0, 2.0, 2.0]);
        for x in [&ones, &scales] {
            for y in [&waves, &whole, &tiny, &one_large] {
                assert_complete(method, x, y);
            }
        }
    }
}

#[test]
fn names_are_those_of_the_files() {
    let names = ALL.map(Baseline::name);
    assert_eq!(
        names[..4],
        ["least_squares", "huber", "mixture", "quantile"]
    );
}

/// 20 % of the rows are wrong, and R2 is 0.97: the mixture is nearly as good as if it knew the right links.
#[test]
fn robust_methods_beat_least_squares_on_mislinked_rows() {
    let methods = [Baseline::LeastSquares, Baseline::Huber, Baseline::Mixture];
    let (mut errors, mut oracle_error, mut p_error) = ([0.0; 3], 0.0, 0.0);
    for seed in 1..=20 {
        let simulated = simulate(&design(300, 3, 0.3, 0.2), seed).unwrap();
        let (data, truth) = (simulated.dataset(), &simulated.truth);
        let error = |beta: &[f64]| -> f64 {
            let pairs = beta.iter().zip(&truth.beta);
            pairs.map(|(b, t)| (b - t).powi(2)).sum()
        };
        let right = data.x.select(ndarray::Axis(0), &truth.pi);
        oracle_error += error(&least_squares(right.view(), &data.response).beta);
        for (total, method) in errors.iter_mut().zip(methods) {
            let fit = method.fit(data.x.view(), &data.response);
            *total += error(&fit.beta);
            p_error += fit
                .p_wrong
                .iter()
                .flatten()
                .enumerate()
                .map(|(i, p)| (p - f64::from(u8::from(truth.pi[i] != i))).abs())
                .sum::<f64>();
        }
    }
    let [naive, huber, mixture] = errors.map(|error| error / oracle_error);
    println!("squared errors over the oracle's: {naive} {huber} {mixture}");
    assert!(
        naive > 30.0 && huber < naive / 5.0,
        "{naive} {huber} {mixture}"
    );
    assert!(mixture < 2.0, "{mixture}");
    // Who knows the rate alone errs by 2 * 0.2 * 0.8 = 0.32 in each of the 20 * 300 rows.
    assert!(p_error / 6000.0 < 0.12, "{p_error}");
}

/// Few rows and few values, so that many subsets of rows are fitted perfectly: the hard case for maxima and vertices.
#[test]
fn whole_numbers_give_finite_numbers() {
    let mut rng = crate::numerics::rng::stream(1, 0);
    let mut num_tried = 0;
    for k in 0..600 {
        let dim = rng.random_range(1..8);
        let num_rows = dim + 1 + rng.random_range(0..[1, 5, 60][k % 3]);
        let mut whole = |below: i32| f64::from(rng.random_range(0..below));
        let x = Array2::from_shape_fn((num_rows, dim), |(_, k)| match k {
            0 => 1.0,
            _ => whole(4),
        });
        let y: Vec<f64> = x.rows().into_iter().map(|r| r.sum() + whole(3)).collect();
        // Rank deficient ones are not legal.
        if crate::numerics::Qr::new(x.view())
            .inverse_diagonal()
            .iter()
            .all(|d| *d < 1e6)
        {
            num_tried += 1;
            for method in ALL {
                let fit = assert_complete(method, &x, &y);
                assert!(
                    fit.standard_error.iter().all(|e| e.is_finite()),
                    "{method:?} {fit:?}"
                );
            }
        }
    }
    assert!(num_tried > 300, "{num_tried}");
}
