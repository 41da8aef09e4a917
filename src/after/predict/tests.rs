//! Predictive intervals cover at their rate, and a wrong scale is found out.

use ndarray::{Array2, array};
use rand::Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use serde_json::json;

use super::*;
use crate::baseline::least_squares;
use crate::config;
use crate::posterior::Folder;
use crate::posterior::draws::ChainDraws;

fn prediction(
    model: serde_json::Value,
    columns: Vec<(&str, Vec<f64>)>,
    x: Array2<f64>,
) -> Prediction {
    let text =
        json!({"model": model, "data": {"file": "d.csv", "response": "y", "predictors": ["x"]}});
    let file = Path::new("/nowhere/config.json");
    let config = config::parse(&text.to_string(), file, &[]).unwrap();
    let num_draws = columns[0].1.len();
    let (names, columns) = columns
        .into_iter()
        .map(|(name, values)| (name.to_string(), values))
        .unzip();
    let chain = ChainDraws {
        chain: 1,
        names,
        columns,
        ..ChainDraws::default()
    };
    Prediction {
        fit: Posterior::of(Folder::new("/nowhere"), config, vec![chain]),
        rows: NewRows {
            predictor_names: vec!["(Intercept)".into(), "x".into()],
            x,
            offset: None,
            groups: None,
            row_ids: None,
        },
        draws: (0..num_draws).collect(),
    }
}

/// Numbers of a line of the summary: row, mean, sd, 5 %, 50 %, 95 %.
fn summary(predictions: &Predictions) -> Vec<Vec<f64>> {
    let csv = predictions.summary_csv(0.9);
    let lines = csv.lines().skip(1);
    lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect()
}

const NUM_REPEATS: usize = 1000;
const NUM_DRAWS: usize = 400;

/// The share of 90 % intervals that cover a new response. Under the prior 1 / sigma2 the predictive distribution is Student's t, whose
/// intervals cover exactly at their rate in repeated samples. `scale` is the name under which sigma2 is saved.
fn coverage(scale: &str) -> f64 {
    let num_rows = 12;
    let mut rng = rng::stream(90, 0);
    let mut num_covered = 0;
    for repeat in 0..NUM_REPEATS {
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let x = Array2::from_shape_fn((num_rows, 2), |(_, k)| if k == 0 { 1.0 } else { normal() });
        let (beta, sigma) = ([1.0, -2.0], 2.0);
        let mut draw = |x: f64| beta[0] + beta[1] * x + sigma * normal();
        let response: Vec<f64> = x.column(1).iter().map(|x| draw(*x)).collect();
        let new_x = 0.7;
        let new_y = draw(new_x);
        let fit = least_squares(x.view(), &response);
        let df = (num_rows - 2) as f64;
        let chi = ChiSquared::new(df).unwrap();
        // Centred predictors have independent coefficients.
        let centre = x.column(1).mean().unwrap();
        let spread: f64 = x.column(1).iter().map(|x| (x - centre).powi(2)).sum();
        let mut columns = [vec![], vec![], vec![]];
        for _ in 0..NUM_DRAWS {
            let sigma2 = fit.sigma2 * df / chi.sample(&mut rng);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let slope = fit.beta[1] + (sigma2 / spread).sqrt() * normal();
            let middle =
                fit.beta[0] + fit.beta[1] * centre + (sigma2 / num_rows as f64).sqrt() * normal();
            columns[0].push(middle - slope * centre);
            columns[1].push(slope);
            columns[2].push(sigma2);
        }
        let [a, b, s] = columns;
        let columns = vec![("beta.1", a), ("beta.2", b), (scale, s)];
        let prediction = prediction(json!({"stan": "linear"}), columns, array![[1.0, new_x]]);
        let predictions = prediction.from_family(repeat as u64).unwrap();
        let line = &summary(&predictions)[0];
        num_covered += usize::from(line[3] <= new_y && new_y <= line[5]);
    }
    num_covered as f64 / NUM_REPEATS as f64
}

/// Four standard errors, plus 0.004 for quantiles of 400 draws: fails by chance once in 16 000 seeds.
#[test]
fn intervals_cover_at_their_rate_and_a_wrong_scale_does_not() {
    let error = 4.0 * (0.9 * 0.1 / NUM_REPEATS as f64).sqrt() + 0.004;
    let covered = coverage("sigma2");
    assert!((covered - 0.9).abs() < error, "{covered}");
    // A variance taken for a scale, which is then twice as large.
    let covered = coverage("sigma");
    assert!((covered - 0.9).abs() > error, "{covered}");
}

/// Five standard errors: fails by chance once in two million seeds.
#[test]
fn the_mean_is_that_of_the_coefficients() {
    let num_draws = 20_000;
    let mut rng = rng::stream(5, 0);
    let mut around = |centre: f64| -> Vec<f64> {
        (0..num_draws)
            .map(|_| centre + rng.random_range(-0.5..0.5))
            .collect()
    };
    let columns = vec![
        ("beta.1", around(3.0)),
        ("beta.2", around(-1.0)),
        ("sigma2", vec![0.25; num_draws]),
    ];
    let means: Vec<f64> = columns[..2]
        .iter()
        .map(|(_, values)| values.iter().sum::<f64>() / num_draws as f64)
        .collect();
    let x = array![[1.0, 0.0], [1.0, 4.0]];
    let prediction = prediction(json!({"stan": "linear"}), columns, x);
    for (line, x) in summary(&prediction.from_family(1).unwrap())
        .iter()
        .zip([0.0, 4.0])
    {
        let expected = means[0] + means[1] * x;
        let error = 5.0 * 0.5 / (num_draws as f64).sqrt();
        assert!((line[1] - expected).abs() < error, "{line:?} {expected}");
    }
}

/// Shares are binomial; five standard errors each.
#[test]
fn each_family_draws_from_its_own_law() {
    let num_draws = 20_000;
    let columns = || {
        vec![
            ("beta.1", vec![1.0; num_draws]),
            ("beta.2", vec![2.0; num_draws]),
            ("sigma", vec![0.5; num_draws]),
        ]
    };
    let below = |model: serde_json::Value, limit: f64| {
        let prediction = prediction(model, columns(), array![[1.0, 3.0]]);
        let predictions = prediction.from_family(3).unwrap();
        let hits = predictions
            .responses
            .iter()
            .filter(|draw| draw[0] < limit)
            .count();
        hits as f64 / num_draws as f64
    };
    let error = 5.0 * (0.25 / num_draws as f64).sqrt();
    let quantile =
        json!({"stan": "quantile", "family": {"name": "asymmetric_laplace", "tau": 0.2}});
    assert!((below(quantile.clone(), 7.0) - 0.2).abs() < error);
    // Above the quantile exp(-tau u / sigma) of the rest remains.
    let expected = 1.0 - 0.8 * (-0.2f64 * 1.0 / 0.5).exp();
    assert!((below(quantile, 8.0) - expected).abs() < error);
    // P(t_4 < 2) = 0.94194.
    let student = json!({"stan": "student_t", "family": {"name": "student_t", "nu": 4}});
    assert!((below(student, 8.0) - 0.94194).abs() < error);
    let stan = prediction(
        json!({"stan": "mine.stan", "family": {"name": "stan"}}),
        columns(),
        array![[1.0, 3.0]],
    );
    let error = stan.from_family(1).err().unwrap().to_string();
    assert!(
        error.contains("add `int<lower=0> N_new; matrix[N_new, D] X_new;` to its data"),
        "{error}"
    );
}

/// Several responses at once: means, spreads and the correlation of the errors, at five standard errors; the interval of the mean is that
/// of x'beta.
#[test]
fn several_responses_are_drawn_together() {
    let num_draws = 20_000;
    let fixed = |value: f64| vec![value; num_draws];
    let names = [
        "beta.1.1", "beta.2.1", "beta.1.2", "beta.2.2", "sigma2.1", "sigma2.2", "L.1.1", "L.2.1",
        "L.2.2",
    ];
    let values = [1.0, 2.0, -1.0, 0.5, 4.0, 0.25, 1.0, 0.6, 0.8];
    let columns = names.into_iter().zip(values.map(fixed)).collect();
    let mut prediction = prediction(json!({"stan": "multivariate"}), columns, array![[1.0, 3.0]]);
    let data = json!({
        "predictor_names": ["(Intercept)", "x"], "response_names": ["food", "rent"], "num_rows": 10, "num_movable": 10,
        "notes": {"references": [], "num_dropped": 0, "missing": [], "num_unlinked": 0},
    });
    prediction.fit.data = Some(serde_json::from_value(data).unwrap());
    let predictions = prediction.from_family(3).unwrap();
    let csv = predictions.summary_csv(0.9);
    assert!(
        csv.starts_with("row,response,mean,sd,5%,50%,95%,mean_5%,mean_95%\n1,food,"),
        "{csv}"
    );
    assert!(csv.contains("\n1,rent,"), "{csv}");
    let errors: Vec<[f64; 2]> = predictions
        .responses
        .iter()
        .map(|draw| [(draw[0] - 7.0) / 2.0, (draw[1] - 0.5) / 0.5])
        .collect();
    let mean = |f: &dyn Fn(&[f64; 2]) -> f64| errors.iter().map(f).sum::<f64>() / num_draws as f64;
    let error = 5.0 / (num_draws as f64).sqrt();
    assert!(mean(&|e| e[0]).abs() < error && mean(&|e| e[1]).abs() < error);
    assert!((mean(&|e| e[0] * e[0]) - 1.0).abs() < 2.0 * error);
    assert!((mean(&|e| e[1] * e[1]) - 1.0).abs() < 2.0 * error);
    assert!((mean(&|e| e[0] * e[1]) - 0.6).abs() < 2.0 * error);
    assert!(csv.lines().nth(1).unwrap().ends_with(",7,7"), "{csv}");
}

/// The interval of the mean is that of the expected response, which is narrower than that of a response; other levels are other quantiles.
#[test]
fn intervals_of_the_mean_have_the_level_that_was_asked_for() {
    let num_draws = 1001;
    let slopes: Vec<f64> = (0..num_draws).map(|k| k as f64 / 1000.0).collect();
    let columns = || {
        vec![
            ("beta.1", vec![0.0; num_draws]),
            ("beta.2", slopes.clone()),
            ("sigma2", vec![1.0; num_draws]),
        ]
    };
    for (model, link) in [
        ("linear", (|x| x) as fn(f64) -> f64),
        ("poisson", f64::exp),
        ("mean_shift", |x| x),
        ("logistic", |x| 1.0 / (1.0 + (-x).exp())),
    ] {
        let prediction = prediction(json!({"stan": model}), columns(), array![[1.0, 2.0]]);
        let predictions = prediction.from_family(1).unwrap();
        for (level, low, high) in [(0.9, 0.1, 1.9), (0.5, 0.5, 1.5)] {
            let csv = predictions.summary_csv(level);
            let line: Vec<f64> = csv
                .lines()
                .nth(1)
                .unwrap()
                .split(',')
                .map(|cell| cell.parse().unwrap())
                .collect();
            assert!((line[6] - link(low)).abs() < 1e-9, "{model} {csv}");
            assert!((line[7] - link(high)).abs() < 1e-9, "{model} {csv}");
        }
    }
}

#[test]
fn every_draw_can_be_written() {
    let columns = vec![
        ("beta.1", vec![1.0, 2.0]),
        ("beta.2", vec![0.0, 0.0]),
        ("sigma", vec![0.0, 0.0]),
    ];
    let mut prediction = prediction(
        json!({"stan": "linear"}),
        columns,
        array![[1.0, 3.0], [1.0, 4.0]],
    );
    prediction.rows.row_ids = Some(vec!["a".into(), "b".into()]);
    let csv = prediction.from_family(1).unwrap().long_csv();
    assert_eq!(
        csv,
        "row,id,chain,draw,y,mean\n1,a,1,1,1,1\n1,a,1,2,2,2\n2,b,1,1,1,1\n2,b,1,2,2,2\n"
    );
}

/// Draws of one theta, so that all spread is that of the responses.
const NUM_EQUAL: usize = 40_000;

fn of_one_theta(program: &str, theta: &[(&'static str, f64)], x: Array2<f64>) -> Prediction {
    let columns = theta
        .iter()
        .map(|&(name, value)| (name, vec![value; NUM_EQUAL]));
    prediction(json!({"stan": program}), columns.collect(), x)
}

/// The share of times below the `p` quantile is p, within 4.5 standard errors; a law of another shape is found.
#[test]
fn new_times_have_the_quantiles_and_the_mean_of_their_law() {
    let x = array![[1.0, 0.5], [1.0, -1.0]];
    let linear = [0.3 + 0.5 * 0.8, 0.3 - 0.8];
    let weibull =
        |p: f64, linear: f64, shape: f64| linear.exp() * (-(1.0f64 - p).ln()).powf(1.0 / shape);
    let shape = 1.7;
    let theta = [("beta.1", 0.3), ("beta.2", 0.8), ("shape", shape)];
    let times = of_one_theta("weibull_survival", &theta, x.clone());
    let found = times.from_family(3).unwrap();
    let share = |row: usize, limit: f64| {
        let below = found.responses.iter().filter(|y| y[row] < limit).count();
        below as f64 / NUM_EQUAL as f64
    };
    for (row, linear) in linear.into_iter().enumerate() {
        for p in [0.05, 0.3, 0.5, 0.9] {
            let error = 4.5 * (p * (1.0 - p) / NUM_EQUAL as f64).sqrt();
            let right = share(row, weibull(p, linear, shape));
            assert!((right - p).abs() < error, "row {row}: {right} for {p}");
            let wrong = share(row, weibull(p, linear, 1.2 * shape));
            assert!((wrong - p).abs() > error, "row {row}: {wrong}");
        }
        // Gamma(1 + 1/1.7) = 0.892244...
        let mean = linear.exp() * 0.892_244;
        let expected = found.means.as_ref().unwrap()[0][row];
        assert!((expected / mean - 1.0).abs() < 1e-5, "{expected} {mean}");
        let average: f64 = found.responses.iter().map(|y| y[row]).sum::<f64>() / NUM_EQUAL as f64;
        assert!((average / mean - 1.0).abs() < 0.02, "{average} {mean}");
    }
    let theta = [("beta.1", 0.3), ("beta.2", 0.8), ("sigma", 0.6)];
    let times = of_one_theta("log_normal_survival", &theta, x);
    let found = times.from_family(4).unwrap();
    let below = found
        .responses
        .iter()
        .filter(|y| y[0] < linear[0].exp())
        .count();
    let share = below as f64 / NUM_EQUAL as f64;
    assert!(
        (share - 0.5).abs() < 4.5 * 0.5 / (NUM_EQUAL as f64).sqrt(),
        "{share}"
    );
    let mean = (linear[0] + 0.18).exp();
    assert!((found.means.as_ref().unwrap()[0][0] - mean).abs() < 1e-12);
}

/// A group of the fit has its own deviations; a new one draws them, once for all its rows.
#[test]
fn groups_of_the_fit_and_new_groups_are_predicted() {
    let theta = [
        ("beta.1", 1.0),
        ("beta.2", 2.0),
        ("sigma2", 0.25),
        ("u.1.1", 0.5),
        ("u.2.1", -0.3),
        ("u.1.2", -1.5),
        ("u.2.2", 0.7),
        ("tau.1", 0.8),
        ("tau.2", 0.4),
        ("C.1.1", 1.0),
        ("C.2.1", 0.6),
        ("C.2.2", 0.8),
    ];
    let x = array![[1.0, 3.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
    let mut rows = of_one_theta("hierarchical", &theta, x);
    rows.rows.groups = Some(crate::data::NewGroups {
        of_row: vec![1, 0, 2, 2],
        num_fitted: 2,
        num_new: 1,
        z: array![[1.0, 2.0], [1.0, 0.5], [1.0, 0.5], [1.0, -1.0]],
    });
    let found = rows.from_family(5).unwrap();
    let means = found.means.as_ref().unwrap();
    assert!(
        (means[0][0] - (7.0 - 1.5 + 1.4)).abs() < 1e-12,
        "{}",
        means[0][0]
    );
    assert!((means[0][1] - (3.0 + 0.5 - 0.15)).abs() < 1e-12);
    let moments = |values: &dyn Fn(usize) -> (f64, f64)| {
        let pairs: Vec<(f64, f64)> = (0..NUM_EQUAL).map(values).collect();
        pairs.iter().map(|(a, b)| a * b).sum::<f64>() / NUM_EQUAL as f64
    };
    // Of u1 + u2 / 2 and u1 - u2: tau_1^2 = 0.64, tau_2^2 = 0.16 and the covariance 0.8 * 0.4 * 0.6 = 0.192.
    let (first, second) = (|k: usize| means[k][2] - 3.0, |k: usize| means[k][3] - 3.0);
    let variance = moments(&|k| (first(k), first(k)));
    let expected = 0.64 + 0.04 + 0.192;
    assert!(
        (variance / expected - 1.0).abs() < 4.5 * (2.0 / NUM_EQUAL as f64).sqrt(),
        "{variance}"
    );
    let covariance = moments(&|k| (first(k), second(k)));
    let expected = 0.64 - 0.192 + 0.096 - 0.08;
    assert!(
        (covariance - expected).abs() < 0.02,
        "{covariance} {expected}"
    );
    // Deviations that are drawn anew for each row would have none, uncorrelated ones 0.56.
    assert!(covariance.abs() > 0.1 && (covariance - 0.56).abs() > 0.05);
    let errors = moments(&|k| {
        let error = found.responses[k][2] - means[k][2];
        (error, error)
    });
    assert!(
        (errors / 0.25 - 1.0).abs() < 4.5 * (2.0 / NUM_EQUAL as f64).sqrt(),
        "{errors}"
    );
}
