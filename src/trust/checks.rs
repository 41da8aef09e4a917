//! Checks of a fit that hold under its model whatever the rate of wrong links, with posterior predictive p-values.
//!
//! Let r = P(wrong | y, x, theta). If links go wrong at random and the likelihood is right, then given the predictors
//! E(r) is the rate, E(r (y - mean)) = 0, and E((1 - r) g(z)) = (1 - rate) E g(Z) for the normal score z of a response at
//! its own row and a standard normal Z. Each check measures how far a data set is from one of these; the same is done for a
//! data set that the model draws at the same theta, so no p-value rests on a large sample (Gelman, Meng and Stern 1996).

use rand::Rng;

use super::frame::{Frame, mean, variance};
use super::replicate::Model;
use crate::model::Family;
use crate::posterior::Aspect;

/// Aspects with one statistic for each data set, in the order of [`statistics`].
pub(super) const MEASURED: [Aspect; 5] = [
    Aspect::WrongByPredictors,
    Aspect::ResponsesOfWrong,
    Aspect::Spread,
    Aspect::Curvature,
    Aspect::Tails,
];

/// How far `y` is from what the model says, by aspect; larger is further.
pub(super) fn statistics(
    model: &Model,
    family: Family,
    y: &[f64],
    rng: &mut impl Rng,
) -> [f64; MEASURED.len()] {
    let frame = model.frame;
    let wrong = model.p_wrong_given(y);
    let fitted: Vec<f64> = model.laws.iter().map(|law| law.fitted).collect();
    let (centre, spread) = (
        mean(&fitted),
        variance(&fitted).sqrt().max(f64::MIN_POSITIVE),
    );
    let level: Vec<f64> = fitted.iter().map(|f| (f - centre) / spread).collect();
    let squared: Vec<f64> = level.iter().map(|l| l * l).collect();
    let mut scores = Vec::with_capacity(y.len());
    for (law, &y) in model.laws.iter().zip(y) {
        scores.push(law.normal_score(y, rng));
    }
    let over = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..y.len()).map(of).collect() };
    let excess = over(&|k| wrong[k] - model.p_wrong[k]);
    let by_predictors = frame.along_predictors(&excess) + frame.along(&squared, &excess);
    let expected = expected_responses(model);
    let displaced = over(&|k| wrong[k] * (y[k] - expected[k]));
    let responses = frame.along_predictors(&displaced);
    let squares = over(&|k| (1.0 - wrong[k]) * (scores[k] * scores[k] - 1.0));
    let num_predictors = frame.basis.len() as f64;
    let spread = frame.along(&level, &squares) + frame.along_predictors(&squares) / num_predictors;
    let bend = over(&|k| (1.0 - wrong[k]) * scores[k]);
    let fourth = |z: f64| z.powi(4) - 6.0 * z * z + 3.0;
    let tails: f64 = (0..y.len())
        .map(|k| (1.0 - wrong[k]) * fourth(scores[k]))
        .sum();
    let may = |holds: bool, value: f64| if holds { value } else { 0.0 };
    [
        by_predictors,
        responses,
        may(family.facts().has_spread, spread),
        may(family.facts().has_spread, frame.along(&squared, &bend)),
        may(family.facts().claims_tails, tails.powi(2)),
    ]
}

/// The mean response of a row that is linked wrongly: that of its group.
fn expected_responses(model: &Model) -> Vec<f64> {
    let mut expected = vec![0.0; model.laws.len()];
    for group in &model.frame.groups {
        let sum: f64 = group.iter().map(|&k| model.laws[k].mean()).sum();
        group
            .iter()
            .for_each(|&k| expected[k] = sum / group.len() as f64);
    }
    expected
}

/// Whether `aspect` can be checked for a likelihood of this kind.
pub(super) fn applies(aspect: Aspect, family: Family) -> bool {
    match aspect {
        Aspect::Spread | Aspect::Curvature => family.facts().has_spread,
        Aspect::Tails => family.facts().claims_tails,
        Aspect::Effect => family.facts().has_mean,
        _ => true,
    }
}

/// The checks of a program whose likelihood is not known: P(moved) of each row, and its product with the response, against the
/// predictors, among random exchanges of the rows inside their groups.
pub(super) fn exchange_p_values(
    frame: &Frame,
    p_moved: &[f64],
    y: &[f64],
    rng: &mut impl Rng,
) -> [f64; 2] {
    const EXCHANGES: usize = 999;
    let mut centred = vec![0.0; y.len()];
    for group in &frame.groups {
        let sum: f64 = group.iter().map(|&k| y[k]).sum();
        group
            .iter()
            .for_each(|&k| centred[k] = y[k] - sum / group.len() as f64);
    }
    let displaced: Vec<f64> = p_moved.iter().zip(&centred).map(|(p, y)| p * y).collect();
    [p_moved.to_vec(), displaced].map(|values| {
        let observed = frame.along_predictors(&values);
        let mut exchanged = values.clone();
        let mut as_far = 0;
        for _ in 0..EXCHANGES {
            for group in &frame.groups {
                for k in (1..group.len()).rev() {
                    exchanged.swap(group[k], group[rng.random_range(0..=k)]);
                }
            }
            as_far += usize::from(frame.along_predictors(&exchanged) >= observed);
        }
        (1 + as_far) as f64 / (1 + EXCHANGES) as f64
    })
}
