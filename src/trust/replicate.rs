//! Data sets that the fitted model could have produced, and P(wrong) of their rows.

use rand::Rng;
use rand::seq::SliceRandom;

use super::frame::{Frame, variance};
use crate::model::Law;
use crate::posterior::RowLaws;

/// So many places of a group stand for all of them where the density of a random link is needed.
const MOST_PLACES: usize = 24;

/// The model at one draw of the parameters, at the rows of a frame.
pub(super) struct Model<'a> {
    pub frame: &'a Frame,
    /// The law of the response at each row of the frame.
    pub laws: Vec<Law>,
    /// P(wrong) of each row before its response is seen.
    pub p_wrong: Vec<f64>,
    /// For each group the laws at some of its places.
    places: Vec<Vec<Law>>,
}

impl<'a> Model<'a> {
    /// `rate` is the share of rows that this draw has moved.
    pub fn new(frame: &'a Frame, laws: &RowLaws, rate: f64) -> Model<'a> {
        let laws: Vec<Law> = frame.rows.iter().map(|&row| laws.laws[row]).collect();
        let least = 0.5 / frame.len() as f64;
        let p_wrong = match &frame.p_wrong {
            Some(known) => known.clone(),
            None => vec![rate.clamp(least, 1.0 - least); frame.len()],
        };
        let places = frame.groups.iter().map(|group| places(group, &laws));
        Model {
            places: places.collect(),
            frame,
            laws,
            p_wrong,
        }
    }

    /// P(the link of a row is wrong | its response, its predictors and the parameters), for every row.
    pub fn p_wrong_given(&self, y: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; y.len()];
        for (group, places) in self.frame.groups.iter().zip(&self.places) {
            for &k in group {
                let right = self.laws[k].log_density(y[k]);
                let wrong = log_mean_density(places, y[k]);
                let prior = (self.p_wrong[k] / (1.0 - self.p_wrong[k])).ln();
                found[k] = 1.0 / (1.0 + (right - wrong - prior).exp());
            }
        }
        found
    }

    /// Responses of the same rows: some links wrong, inside groups, and errors drawn anew.
    pub fn draw(&self, rng: &mut impl Rng) -> Vec<f64> {
        let mut source: Vec<usize> = (0..self.frame.len()).collect();
        for group in &self.frame.groups {
            let mut wrong: Vec<usize> = match &self.frame.p_wrong {
                Some(p_wrong) => group
                    .iter()
                    .copied()
                    .filter(|&k| rng.random::<f64>() < p_wrong[k])
                    .collect(),
                None => self.some_of(group, rng),
            };
            if wrong.len() < 2 {
                continue;
            }
            wrong.shuffle(rng);
            for (place, &k) in wrong.iter().enumerate() {
                source[k] = wrong[(place + 1) % wrong.len()];
            }
        }
        source.into_iter().map(|k| self.laws[k].draw(rng)).collect()
    }

    /// As many rows of a group as the rate says, the fraction at random.
    fn some_of(&self, group: &[usize], rng: &mut impl Rng) -> Vec<usize> {
        let expected = self.p_wrong[group[0]] * group.len() as f64;
        // Half a row is the least that `p_wrong` can say; as a number of rows it means none.
        let expected = if expected <= 0.5 { 0.0 } else { expected };
        let count = (expected + rng.random::<f64>()).floor() as usize;
        let chosen = rand::seq::index::sample(rng, group.len(), count.min(group.len()));
        chosen.into_iter().map(|k| group[k]).collect()
    }
}

/// Places spread evenly over the fitted values of a group. Where they stand for more, each is widened by the gap to the
/// next, so that their mean density has no holes.
fn places(group: &[usize], laws: &[Law]) -> Vec<Law> {
    let mut all: Vec<Law> = group.iter().map(|&k| laws[k]).collect();
    if all.len() <= MOST_PLACES {
        return all;
    }
    all.sort_by(|a, b| a.fitted.total_cmp(&b.fitted));
    let fitted: Vec<f64> = all.iter().map(|law| law.fitted).collect();
    let gap = 3.0 * variance(&fitted).sqrt() / MOST_PLACES as f64;
    let step = all.len() as f64 / MOST_PLACES as f64;
    (0..MOST_PLACES)
        .map(|k| {
            let law = all[((k as f64 + 0.5) * step) as usize];
            Law {
                scale: law.scale.hypot(gap),
                ..law
            }
        })
        .collect()
}

fn log_mean_density(places: &[Law], y: f64) -> f64 {
    let logs = places.iter().map(|law| law.log_density(y));
    let mut largest = f64::NEG_INFINITY;
    let mut sum = 0.0;
    for log in logs {
        if log > largest {
            sum = sum * (largest - log).exp() + 1.0;
            largest = log;
        } else if log > f64::NEG_INFINITY {
            sum += (log - largest).exp();
        }
    }
    largest + (sum / places.len() as f64).ln()
}
