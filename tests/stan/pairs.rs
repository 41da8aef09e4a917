//! The pair likelihood of a program that says its own: evaluated as rarely as it can be.

use serde_json::json;
use unshuffle::internals::model::{Outputs, StanModel, StanPairs};
use unshuffle::internals::numerics::rng::DrawSeeds;
use unshuffle::links::PairLogLik;

use crate::common::{compiler, program};

const X: [f64; 5] = [-1.0, 0.5, 2.0, 0.0, 1.5];
/// Rows 2 and 4 are equal.
const Y: [f64; 5] = [0.3, 1.0, -2.0, 1.0, 0.7];

fn model() -> StanModel {
    let compiled = compiler().compile(&program("linear_log_lik.stan")).unwrap();
    let library = StanModel::open_library(&compiled.library).unwrap();
    let x = X.map(|x| [x]);
    let data = json!({"N": 5, "D": 1, "X": x, "alpha": 1}).to_string();
    StanModel::new(library, "linear_log_lik.stan", &data, "y", 5, 1).unwrap()
}

#[test]
fn a_row_is_evaluated_once_for_each_theta_and_only_when_it_is_asked_for() {
    let model = model();
    let outputs = Outputs::new(&model, DrawSeeds::new(1, 1)).unwrap();
    let mut pairs = StanPairs::new(&model, outputs, &Y, 0.5).unwrap();
    // beta and the log of sigma2.
    for (beta, log_variance) in [(0.8, 0.0), (-0.4, 0.6)] {
        let theta = [beta, log_variance];
        let log_density = |i: usize, j: usize| {
            let (u, variance) = (Y[i] - beta * X[j], f64::exp(log_variance));
            -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + u * u / variance)
        };
        let agrees = |pairs: &StanPairs, i: usize, j: usize| {
            let (found, expected) = (pairs.pair(i, j), 0.5 * log_density(i, j));
            assert!(
                (found - expected).abs() < 1e-12,
                "{i} {j}: {found} {expected}"
            );
        };
        pairs.update(&theta).unwrap();
        (0..5).for_each(|row| agrees(&pairs, row, row));
        assert_eq!(pairs.num_evaluated(), 0, "rows at home need nothing");
        (0..5).for_each(|column| agrees(&pairs, 1, column));
        assert_eq!(pairs.num_evaluated(), 1);
        agrees(&pairs, 3, 0);
        assert_eq!(pairs.num_evaluated(), 1, "equal responses share a row");
        agrees(&pairs, 2, 4);
        assert_eq!(pairs.num_evaluated(), 2);
        pairs.update(&theta).unwrap();
        assert_eq!(pairs.num_evaluated(), 2, "theta did not change");
        agrees(&pairs, 2, 1);
    }
}
