use ndarray::Array2;
use rand::Rng;
use rand_distr::{Exp1, StandardNormal, StudentT};

use super::*;
use crate::numerics::rng::{self, ChainRng};

const NUM_ROWS: usize = 400;
const PRIOR: RatePrior = RatePrior {
    a: 1.0,
    b: 9.0,
    no_error: 0.5,
};

/// y = 1.5 x + error, before and after the responses of `num_wrong` rows moved on by one row.
struct Linked {
    x: Array2<f64>,
    right: Vec<f64>,
    y: Vec<f64>,
}

fn linked(num_wrong: usize, mut error: impl FnMut(f64, &mut ChainRng) -> f64) -> Linked {
    let mut rng = rng::stream(3, 1);
    let x: Vec<f64> = (0..NUM_ROWS).map(|_| rng.sample(StandardNormal)).collect();
    let right: Vec<f64> = x.iter().map(|x| 1.5 * x + error(*x, &mut rng)).collect();
    let mut y = right.clone();
    y[..num_wrong].rotate_left(usize::from(num_wrong > 0));
    let x = Array2::from_shape_fn((NUM_ROWS, 2), |(i, k)| if k == 0 { 1.0 } else { x[i] });
    Linked { x, right, y }
}

impl Linked {
    fn fit_within(&self, space: &LinkSpace) -> Option<RobustMixtureFit> {
        let mut rng = rng::stream(1, 1);
        robust_mixture(self.x.view(), &self.y, space, PRIOR, &mut rng)
    }

    fn fit(&self) -> RobustMixtureFit {
        self.fit_within(&LinkSpace::free(NUM_ROWS)).unwrap()
    }

    /// The slope's distance from least squares on the right links, in its standard errors: of an estimate, and of least
    /// squares on the links as they are.
    fn errors(&self, slope: f64) -> (f64, f64) {
        let right = least_squares(self.x.view(), &self.right);
        let given = least_squares(self.x.view(), &self.y);
        let error = |slope: f64| (slope - right.beta[1]).abs() / right.standard_error[1];
        (error(slope), error(given.beta[1]))
    }
}

fn normal(_: f64, rng: &mut ChainRng) -> f64 {
    0.6 * rng.sample::<f64, _>(StandardNormal)
}

#[test]
fn without_wrong_links_it_is_least_squares() {
    let file = linked(0, normal);
    let fit = file.fit();
    assert!(fit.estimate.rate < 0.02, "{}", fit.estimate.rate);
    assert!(file.errors(fit.estimate.mean[1]).0 < 0.15);
    // Exactly so where a rate of 0 is certain.
    let certain = RatePrior {
        no_error: 1.0 - 1e-15,
        ..PRIOR
    };
    let mut rng = rng::stream(1, 1);
    let space = LinkSpace::free(NUM_ROWS);
    let fit = robust_mixture(file.x.view(), &file.y, &space, certain, &mut rng).unwrap();
    let given = least_squares(file.x.view(), &file.y);
    assert!((fit.estimate.mean[1] - given.beta[1]).abs() < 1e-9);
}

#[test]
fn tails_skewness_and_spread_are_no_wrong_links() {
    let laws: [fn(f64, &mut ChainRng) -> f64; 4] = [
        |_, rng| 0.5 * rng.sample(StudentT::new(3.0).unwrap()),
        |x, rng| (0.7 * x).exp() * normal(x, rng),
        |_, rng| 0.8 * rng.sample::<f64, _>(Exp1),
        // A curve.
        |x, rng| 0.3 * x * x + normal(x, rng),
    ];
    for (k, law) in laws.into_iter().enumerate() {
        let file = linked(0, law);
        let fit = file.fit();
        assert!(fit.estimate.rate < 0.05, "{k}: {}", fit.estimate.rate);
        let (error, _) = file.errors(fit.estimate.mean[1]);
        assert!(error < 0.5, "{k}: {error}");
    }
}

#[test]
fn wrong_links_are_found_beside_tails_and_a_changing_spread() {
    let laws: [fn(f64, &mut ChainRng) -> f64; 3] = [
        normal,
        |_, rng| 0.4 * rng.sample(StudentT::new(4.0).unwrap()),
        |x, rng| 0.6 * (0.4 * x).exp() * normal(x, rng),
    ];
    for (k, law) in laws.into_iter().enumerate() {
        let file = linked(80, law);
        let fit = file.fit();
        assert!(
            (fit.estimate.rate - 0.2).abs() < 0.07,
            "{k}: {}",
            fit.estimate.rate
        );
        let (error, naive) = file.errors(fit.estimate.mean[1]);
        assert!(error < 0.4 * naive, "{k}: {error} {naive}");
        assert!(fit.estimate.q5[1] < 1.5 && 1.5 < fit.estimate.q95[1], "{k}");
        let [low, high] = fit.widest[1];
        assert!(
            low < fit.estimate.q5[1] && high > fit.estimate.q95[1],
            "{k}"
        );
    }
}

#[test]
fn units_do_not_matter() {
    let file = linked(40, |x, rng| (0.3 * x).exp() * normal(x, rng));
    let mut other = linked(40, |x, rng| (0.3 * x).exp() * normal(x, rng));
    other.x.column_mut(1).mapv_inplace(|x| 2000.0 + 5.0 * x);
    other.y.iter_mut().for_each(|y| *y = 1000.0 * *y + 1e6);
    let (a, b) = (file.fit().estimate, other.fit().estimate);
    assert!((a.rate - b.rate).abs() < 1e-6, "{} {}", a.rate, b.rate);
    let ratio = b.mean[1] / a.mean[1] / 200.0;
    assert!((ratio - 1.0).abs() < 1e-6, "{ratio}");
    assert!((b.sd[1] / a.sd[1] / 200.0 - 1.0).abs() < 1e-6);
}

#[test]
fn rows_that_cannot_move_are_right() {
    let file = linked(80, normal);
    // Only rows 100 to 199 can be wrong, and these are all right.
    let safe: Vec<bool> = (0..NUM_ROWS)
        .map(|row| !(100..200).contains(&row))
        .collect();
    let facts = crate::sampler::links::LinkFacts {
        safe: Some(&safe),
        ..Default::default()
    };
    let fit = file.fit_within(&LinkSpace::new(NUM_ROWS, facts)).unwrap();
    assert!(fit.estimate.rate < 0.05, "{}", fit.estimate.rate);
    let given = least_squares(file.x.view(), &file.y).beta[1];
    assert!((fit.estimate.mean[1] - given).abs() < 0.05);
}

#[test]
fn responses_that_pile_up_are_left_alone() {
    let mut file = linked(80, normal);
    file.y.iter_mut().take(130).for_each(|y| *y = 0.0);
    assert!(file.fit_within(&LinkSpace::free(NUM_ROWS)).is_none());
}

#[test]
fn a_large_file_has_the_answer_of_all_its_rows() {
    let mut rng = rng::stream(5, 1);
    let num_rows = 8000;
    let x: Vec<f64> = (0..num_rows).map(|_| rng.sample(StandardNormal)).collect();
    let right: Vec<f64> = x.iter().map(|x| 1.5 * x + normal(*x, &mut rng)).collect();
    let mut y = right.clone();
    y[..1600].rotate_left(1);
    let x = Array2::from_shape_fn((num_rows, 2), |(i, k)| if k == 0 { 1.0 } else { x[i] });
    let space = LinkSpace::free(num_rows);
    let fit = robust_mixture(x.view(), &y, &space, PRIOR, &mut rng).unwrap();
    let truth = least_squares(x.view(), &right);
    let error = (fit.estimate.mean[1] - truth.beta[1]).abs() / truth.standard_error[1];
    assert!(error < 4.0, "{error}");
    // With the rows of the fit alone the standard error would be 1.6 times as large.
    assert!(
        fit.estimate.sd[1] < 1.5 * truth.standard_error[1],
        "{}",
        fit.estimate.sd[1] / truth.standard_error[1]
    );
}

#[test]
fn few_rows_and_many_predictors_are_no_trouble() {
    let mut rng = rng::stream(7, 1);
    for (num_rows, dim) in [(4, 2), (12, 3), (30, 20), (60, 3), (300, 35)] {
        let x = Array2::from_shape_fn((num_rows, dim), |(_, k)| match k {
            0 => 1.0,
            _ => rng.sample::<f64, _>(StandardNormal),
        });
        let y: Vec<f64> = (0..num_rows)
            .map(|i| x[[i, 1]] + normal(0.0, &mut rng))
            .collect();
        let space = LinkSpace::free(num_rows);
        let fit = robust_mixture(x.view(), &y, &space, PRIOR, &mut rng);
        assert_eq!(fit.is_some(), num_rows >= 4 * dim, "{num_rows} rows");
        let given = least_squares(x.view(), &y);
        if let Some(fit) = fit {
            let off = (fit.estimate.mean[1] - given.beta[1]).abs() / given.standard_error[1];
            assert!(off < 1.0, "{num_rows} rows: {off}");
        }
    }
}

/// Correctly linked rows of y = 1.5 x + error, with a shape of the responses that no error law has.
fn shaped(shape: impl Fn(f64) -> f64) -> Linked {
    let mut file = linked(0, |_, rng| 1.5 * rng.sample::<f64, _>(StandardNormal));
    file.y.iter_mut().for_each(|y| *y = shape(*y));
    file.right.clone_from(&file.y);
    file
}

#[test]
fn responses_that_are_bounded_rounded_or_pile_up_are_no_wrong_links() {
    let shapes: [fn(f64) -> f64; 4] = [
        |y| y.clamp(-2.0, 2.0),
        |y| y.round(),
        |y| y.max(-1.5),
        |y| if y.abs() < 0.5 { 0.0 } else { y },
    ];
    for (k, shape) in shapes.into_iter().enumerate() {
        let file = shaped(shape);
        let fit = file.fit();
        assert!(fit.estimate.rate < 0.06, "{k}: {}", fit.estimate.rate);
        let (error, _) = file.errors(fit.estimate.mean[1]);
        assert!(error < 0.6, "{k}: {error}");
    }
}

#[test]
fn rates_are_excluded_that_leave_little_on_either_side() {
    assert_eq!(not_excluded(&[0.01, 0.02, 0.95, 0.01, 0.01]), 1..=2);
    assert_eq!(not_excluded(&[0.02, 0.0, 0.95, 0.02, 0.01]), 2..=3);
    assert_eq!(not_excluded(&[1.0, 0.0, 0.0]), 0..=0);
}

/// All links are right, and rows far out on both sides follow another line: they decide least squares, and look wrongly linked
/// beside the others.
#[test]
fn rows_far_out_are_not_put_down_to_wrong_links_at_the_cost_of_the_slopes() {
    let num_far = 32;
    let mut rng = rng::stream(3, 1);
    let mut x = Array2::ones((NUM_ROWS, 2));
    let row = |i: usize| {
        let own: f64 = rng.sample(StandardNormal);
        let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let (place, mean) = match i < num_far {
            true => (side * (4.0 + 0.2 * own), 0.0),
            false => (own, 1.5 * own),
        };
        x[[i, 1]] = place;
        mean + normal(0.0, &mut rng)
    };
    let y: Vec<f64> = (0..NUM_ROWS).map(row).collect();
    let right = y.clone();
    let file = Linked { x, right, y };
    let (error, _) = file.errors(file.fit().estimate.mean[1]);
    // 22 where it is not drawn towards the estimate for a known rate.
    assert!(error < 6.0, "{error}");
}

/// All links are right, and rows in the middle have responses of another population.
#[test]
fn another_population_is_no_wrong_link() {
    let is_other = |x: f64| x.abs() < 0.3;
    let file = linked(0, |x, rng| {
        let own: f64 = rng.sample(StandardNormal);
        if is_other(x) { 2.0 * own } else { 0.3 * own }
    });
    let fit = file.fit();
    assert!(fit.estimate.rate < 0.02, "{}", fit.estimate.rate);
    assert!(file.errors(fit.estimate.mean[1]).0 < 0.2);
    // The same number of wrong links, at all predictors alike, is one.
    let num_other = (0..NUM_ROWS).filter(|i| is_other(file.x[[*i, 1]])).count();
    let even = linked(num_other, |_, rng| {
        0.3 * rng.sample::<f64, _>(StandardNormal)
    });
    let fit = even.fit();
    let share = num_other as f64 / NUM_ROWS as f64;
    assert!(
        (fit.estimate.rate - share).abs() < 0.04,
        "{}",
        fit.estimate.rate
    );
    // An audit that found wrong links rules other populations out.
    let audited = RatePrior {
        a: 21.0,
        b: 89.0,
        no_error: 0.0,
    };
    let mut rng = rng::stream(1, 1);
    let space = LinkSpace::free(NUM_ROWS);
    let fit = robust_mixture(file.x.view(), &file.y, &space, audited, &mut rng).unwrap();
    assert!(fit.estimate.rate > 0.1, "{}", fit.estimate.rate);
}

#[test]
fn safe_rows_on_one_side_make_no_other_population() {
    let mut file = linked(0, |_, rng| 0.3 * rng.sample::<f64, _>(StandardNormal));
    let safe: Vec<bool> = (0..NUM_ROWS).map(|i| file.x[[i, 1]] > 0.0).collect();
    let movable: Vec<usize> = (0..NUM_ROWS).filter(|i| !safe[*i]).collect();
    let num_wrong = 40;
    for k in 0..num_wrong {
        file.y[movable[k]] = file.right[movable[(k + 1) % num_wrong]];
    }
    let facts = crate::sampler::links::LinkFacts {
        safe: Some(&safe),
        ..Default::default()
    };
    let fit = file.fit_within(&LinkSpace::new(NUM_ROWS, facts)).unwrap();
    let share = num_wrong as f64 / movable.len() as f64;
    assert!(
        (fit.estimate.rate - share).abs() < 0.06,
        "{} {share}",
        fit.estimate.rate
    );
    assert!(file.errors(fit.estimate.mean[1]).0 < 1.5);
}
