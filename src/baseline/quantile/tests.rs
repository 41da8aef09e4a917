//! Known solutions, and the conditions that only a solution satisfies.

use ndarray::{Array2, Axis};

use super::super::least_squares;
use super::super::tests::{close, design, engel};
use super::*;
use crate::model::Family;
use crate::study::simulate::simulate;

/// Coefficients by SciPy 1.17.1's linprog (HiGHS), errors by the same formulas in NumPy 2.4.6.
#[test]
fn matches_known_fits_of_engel() {
    let (x, y) = engel("income", "food");
    for (tau, beta, standard_error) in [
        (
            0.1,
            [110.1406285853, 0.4017663514670],
            [21.4902589673, 0.0299513491],
        ),
        (
            0.5,
            [81.4819748541, 0.5601804721797],
            [20.5493927777, 0.0270209700],
        ),
        (
            0.9,
            [67.3519146315, 0.6862982766022],
            [48.2134067613, 0.0642510194],
        ),
    ] {
        let fit = fit(x.view(), &y, tau);
        close(&fit.beta, &beta, 1e-10);
        close(&fit.standard_error, &standard_error, 1e-6);
    }
    // R's quantreg prints this of its own copy of the data; ours has three decimals of each amount.
    let median = fit(x.view(), &y, 0.5);
    close(&median.beta, &[81.48225, 0.5601806], 1e-5);
}

fn loss(x: &Array2<f64>, y: &[f64], beta: &[f64], tau: f64) -> f64 {
    residuals(x, y, beta)
        .iter()
        .map(|r| if *r < 0.0 { (tau - 1.0) * r } else { tau * r })
        .sum()
}

fn residuals(x: &Array2<f64>, y: &[f64], beta: &[f64]) -> Vec<f64> {
    let rows = x.rows().into_iter().zip(y);
    rows.map(|(row, y)| y - dot(&row.to_vec(), beta)).collect()
}

/// A vertex from which every edge leads uphill; the loss is convex, so that it is the solution.
fn is_optimal(x: &Array2<f64>, y: &[f64], beta: &[f64], tau: f64) -> bool {
    let residuals = residuals(x, y, beta);
    let is_zero = |i: &usize| residuals[*i].abs() < 1e-9;
    let zeros: Vec<usize> = (0..y.len()).filter(is_zero).collect();
    if zeros.len() != beta.len() {
        return false;
    }
    let corner = Qr::new(x.select(Axis(0), &zeros).view());
    (0..2 * beta.len()).all(|k| {
        let mut unit = vec![0.0; beta.len()];
        unit[k / 2] = if k % 2 == 0 { 1.0 } else { -1.0 };
        let direction = corner.beta(&corner.project(&unit).0);
        let slope: f64 = (0..y.len())
            .map(|i| {
                let change = -dot(&x.row(i).to_vec(), &direction);
                let side = if is_zero(&i) { change } else { residuals[i] };
                change * if side < 0.0 { tau - 1.0 } else { tau }
            })
            .sum();
        slope >= -1e-9
    })
}

#[test]
fn every_edge_leads_uphill() {
    for (seed, num_rows, dim) in [(1, 50, 2), (2, 250, 20), (3, 21, 19), (4, 1000, 5)] {
        let mut design = design(num_rows, dim - 1, 1.0, 0.2);
        design.errors = Family::StudentT { nu: 2.0 };
        let data = simulate(&design, seed).unwrap().dataset();
        for tau in [0.05, 0.3, 0.5, 0.9] {
            let fit = fit(data.x.view(), &data.response, tau);
            let optimal = |beta: &[f64]| is_optimal(&data.x, &data.response, beta, tau);
            assert!(optimal(&fit.beta), "{seed} {tau}");
            let mut moved = fit.beta.clone();
            moved[1] += 1e-6;
            assert!(!optimal(&moved), "not a vertex");
            // A neighbouring vertex: its basis has the best fitted row outside in the place of one inside.
            let residuals = residuals(&data.x, &data.response, &fit.beta);
            let mut order: Vec<usize> = (0..num_rows).collect();
            order.sort_by(|&i, &j| residuals[i].abs().total_cmp(&residuals[j].abs()));
            let corner = &order[1..=dim];
            let y: Vec<f64> = corner.iter().map(|&i| data.response[i]).collect();
            let solver = Qr::new(data.x.select(Axis(0), corner).view());
            assert!(
                !optimal(&solver.beta(&solver.project(&y).0)),
                "a worse vertex"
            );
        }
    }
}

/// Whole numbers, so that many rows tie; a solution goes through two rows, so that all pairs of rows hold one.
#[test]
fn ties_do_not_matter() {
    for seed in 0..20 {
        let x = Array2::from_shape_fn((24, 2), |(i, k)| [1.0, ((i * i + seed) % 5) as f64][k]);
        let y: Vec<f64> = (0..24)
            .map(|i| ((i * 7 + i * i * seed) % 4) as f64)
            .collect();
        for tau in [0.25, 0.5, 0.8] {
            let mut least = f64::INFINITY;
            for i in 0..24 {
                for j in (0..i).filter(|&j| x[(i, 1)] != x[(j, 1)]) {
                    let slope = (y[i] - y[j]) / (x[(i, 1)] - x[(j, 1)]);
                    let beta = [y[i] - slope * x[(i, 1)], slope];
                    least = least.min(loss(&x, &y, &beta, tau));
                }
            }
            let fit = fit(x.view(), &y, tau);
            let found = loss(&x, &y, &fit.beta, tau);
            assert!(
                (found - least).abs() < 1e-9,
                "{seed} {tau}: {found} {least}"
            );
            assert!((fit.sigma - least / 24.0).abs() < 1e-9);
        }
    }
}

/// The equivariance of Koenker and Bassett (1978).
#[test]
fn fits_follow_changes_of_scale_place_and_coordinates() {
    let mut data = simulate(&design(80, 2, 1.0, 0.0), 5).unwrap().dataset();
    let fit_of = |x: &Array2<f64>, y: &[f64], tau| fit(x.view(), y, tau);
    let before = fit_of(&data.x, &data.response, 0.3);
    let y: Vec<f64> = data.response.iter().map(|y| 5.0 * y).collect();
    let scaled = fit_of(&data.x, &y, 0.3);
    close(
        &scaled.beta,
        &before.beta.iter().map(|b| 5.0 * b).collect::<Vec<_>>(),
        1e-10,
    );
    let errors = before.standard_error.iter().map(|e| 5.0 * e);
    close(&scaled.standard_error, &errors.collect::<Vec<_>>(), 1e-8);
    let y: Vec<f64> = data.response.iter().map(|y| -y).collect();
    let mirrored = fit_of(&data.x, &y, 0.7);
    close(
        &mirrored.beta,
        &before.beta.iter().map(|b| -b).collect::<Vec<_>>(),
        1e-10,
    );
    let tilt = [1.0, -4.0, 0.5];
    let zeros = vec![0.0; 80];
    let plane = residuals(&data.x, &zeros, &tilt);
    let y: Vec<f64> = data
        .response
        .iter()
        .zip(&plane)
        .map(|(y, p)| y - p)
        .collect();
    let tilted: Vec<f64> = before.beta.iter().zip(&tilt).map(|(b, t)| b + t).collect();
    close(&fit_of(&data.x, &y, 0.3).beta, &tilted, 1e-9);
    data.x.column_mut(1).mapv_inplace(|x| 1e4 * x);
    let stretched = fit_of(&data.x, &data.response, 0.3);
    close(&[1e4 * stretched.beta[1]], &[before.beta[1]], 1e-10);
    close(
        &[1e4 * stretched.standard_error[1]],
        &[before.standard_error[1]],
        1e-8,
    );
}

/// Over 300 data sets the spread of an estimate is known to 4.1 %, and two slopes are pooled. Least squares' errors, planted
/// as wrong ones, are told apart where the errors are asymmetric Laplace.
#[test]
fn standard_errors_are_those_seen_over_data_sets() {
    let ratios = |tau, errors, intercept| {
        let mut design = design(250, 2, 1.0, 0.0);
        (design.errors, design.intercept) = (errors, intercept);
        let (mut spread, mut stated, mut planted) = (0.0, 0.0, 0.0);
        for seed in 1..=300 {
            let data = simulate(&design, seed).unwrap().dataset();
            let fit = fit(data.x.view(), &data.response, tau);
            let naive = least_squares(data.x.view(), &data.response);
            for k in fit.beta.len() - 2..fit.beta.len() {
                spread += (fit.beta[k] - 1.0).powi(2);
                stated += fit.standard_error[k].powi(2);
                planted += naive.standard_error[k].powi(2);
            }
        }
        let ratios = [stated, planted].map(|sum: f64| (sum / spread).sqrt());
        println!("stated and planted errors over the spread: {ratios:?}");
        ratios
    };
    let [normal, _] = ratios(0.5, Family::Gaussian, Some(1.0));
    assert!((normal - 1.0).abs() < 0.12, "{normal}");
    let [peaked, planted] = ratios(0.3, Family::AsymmetricLaplace { tau: 0.3 }, None);
    assert!((0.9..1.25).contains(&peaked), "{peaked}");
    assert!(planted > 1.4, "{planted}");
}
