//! Rates of wrong links that depend on what is known of each link: log odds linear in linkage covariates.
//!
//!   log odds(row i is wrong) = gamma_1 + gamma_2 z_i2 + ...,
//!
//! with z centred and, unless it has two values only, divided by its standard deviation; gamma_1 ~ normal(-2.2, 1.5), the
//! others normal(0, 1.5). Given the set of wrong rows, gamma has the likelihood of a logistic regression, divided by the
//! probability of the sets that are possible, and is drawn by slice sampling.

use super::permutation::Permutation;
use super::wrong_sets::WrongSets;
use ndarray::{Array2, Axis};
use rand::Rng;

/// The intercept's prior mean: a tenth of the links, near enough.
const LOCATION: f64 = -2.2;
const SCALE: f64 = 1.5;
/// Passes over all coefficients in one update.
const SWEEPS: usize = 2;
/// Width of a slice's first interval, and the most steps by which it grows.
const WIDTH: f64 = 1.0;
const MOST_STEPS: usize = 20;

/// Linkage covariates of all rows.
#[derive(Clone, Debug)]
pub struct RateRegression {
    /// Rows by coefficients, the first of them 1.
    z: Array2<f64>,
    /// What one unit of each column of the file is on the scale of z.
    scale: Vec<f64>,
}

impl RateRegression {
    /// `covariates` has a column for each coefficient, the first of them all ones; the others vary.
    pub fn new(covariates: &Array2<f64>) -> Self {
        let mut z = covariates.clone();
        let mut scale = vec![1.0; z.ncols()];
        for (k, scale) in scale.iter_mut().enumerate().skip(1) {
            let mut column = z.column_mut(k);
            let mean = column.sum() / column.len() as f64;
            let first = column[0];
            let other = column.iter().copied().find(|value| *value != first);
            let has_two = column
                .iter()
                .all(|value| *value == first || Some(*value) == other);
            column -= mean;
            if !has_two {
                let square = column.iter().map(|v| v * v).sum::<f64>() / column.len() as f64;
                *scale = square.sqrt();
                column /= *scale;
            }
        }
        Self { z, scale }
    }

    /// The same with `num_places` rows behind the others, which have no link.
    pub fn with_places(mut self, num_places: usize) -> Self {
        let none = Array2::zeros((num_places, self.z.ncols()));
        self.z
            .append(Axis(0), none.view())
            .expect("the same columns");
        self
    }

    /// The number of coefficients.
    pub fn num_coefficients(&self) -> usize {
        self.z.ncols()
    }

    /// The prior mean of the coefficients, where a chain starts.
    pub fn start(&self) -> Vec<f64> {
        let mut gamma = vec![0.0; self.num_coefficients()];
        gamma[0] = LOCATION;
        gamma
    }

    /// The coefficients per unit of the file; the first is that at the means of the covariates.
    pub fn in_units<'a>(&'a self, gamma: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let both = gamma.iter().zip(&self.scale);
        both.map(|(gamma, scale)| gamma / scale)
    }

    /// The log odds of each row being wrong.
    pub fn log_odds(&self, gamma: &[f64]) -> Vec<f64> {
        let rows = self.z.rows().into_iter();
        rows.map(|z| z.iter().zip(gamma).map(|(z, gamma)| z * gamma).sum())
            .collect()
    }

    /// The mean probability of being wrong over the rows that can be.
    pub fn mean_rate(&self, gamma: &[f64], sets: WrongSets) -> f64 {
        let log_odds = self.log_odds(gamma);
        let rows = sets.space().members();
        let rate = |&row: &usize| 1.0 / (1.0 + (-log_odds[row]).exp());
        rows.iter().map(rate).sum::<f64>() / rows.len().max(1) as f64
    }

    /// One update of gamma given the links, which leaves p(gamma | links) invariant.
    pub fn draw<R: Rng + ?Sized>(
        &self,
        gamma: &mut [f64],
        links: &Permutation,
        sets: WrongSets,
        rng: &mut R,
    ) {
        self.sweep(gamma, rng, |gamma| self.log_density(gamma, links, sets));
    }

    /// One update of gamma where the set of wrong rows is not given, but each row's log odds of being wrong change by
    /// `log_ratio` in the light of its response. It leaves p(gamma | responses) invariant.
    pub fn draw_without_links<R: Rng + ?Sized>(
        &self,
        gamma: &mut [f64],
        log_ratio: &[f64],
        sets: WrongSets,
        rng: &mut R,
    ) {
        self.sweep(gamma, rng, |gamma| {
            let mut log_odds = self.log_odds(gamma);
            let before = sets.log_total(&log_odds);
            log_odds
                .iter_mut()
                .zip(log_ratio)
                .for_each(|(o, r)| *o += r);
            sets.log_total(&log_odds) - before + log_prior(gamma)
        });
    }

    fn sweep<R: Rng + ?Sized>(
        &self,
        gamma: &mut [f64],
        rng: &mut R,
        log_density: impl Fn(&[f64]) -> f64,
    ) {
        for k in (0..SWEEPS).flat_map(|_| 0..self.num_coefficients()) {
            let old = gamma[k];
            let mut log_density = |value: f64| {
                gamma[k] = value;
                log_density(gamma)
            };
            let new = slice(old, &mut log_density, rng);
            gamma[k] = new;
        }
    }

    /// log p(gamma) + log p(set of wrong rows | gamma), up to a constant.
    fn log_density(&self, gamma: &[f64], links: &Permutation, sets: WrongSets) -> f64 {
        let log_odds = self.log_odds(gamma);
        let wrong: f64 = links.moved().iter().map(|&row| log_odds[row]).sum();
        wrong - sets.log_total(&log_odds) + log_prior(gamma)
    }
}

fn log_prior(gamma: &[f64]) -> f64 {
    let location = |k: usize| if k == 0 { LOCATION } else { 0.0 };
    let z = gamma
        .iter()
        .enumerate()
        .map(|(k, g)| (g - location(k)) / SCALE);
    -0.5 * z.map(|z| z * z).sum::<f64>()
}

/// A draw by slice sampling with stepping out and shrinkage (Neal 2003).
pub(super) fn slice<R: Rng + ?Sized>(
    old: f64,
    log_density: &mut dyn FnMut(f64) -> f64,
    rng: &mut R,
) -> f64 {
    let height = log_density(old) + rng.random::<f64>().ln();
    let mut low = old - WIDTH * rng.random::<f64>();
    let mut high = low + WIDTH;
    let left = rng.random_range(0..MOST_STEPS);
    for _ in 0..left {
        if log_density(low) <= height {
            break;
        }
        low -= WIDTH;
    }
    for _ in 0..MOST_STEPS - 1 - left {
        if log_density(high) <= height {
            break;
        }
        high += WIDTH;
    }
    loop {
        let new = low + (high - low) * rng.random::<f64>();
        if log_density(new) > height {
            return new;
        }
        // Only the old value itself is left where rounding has closed the interval.
        if high - low < 1e-12 {
            return old;
        }
        match new < old {
            true => low = new,
            false => high = new,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outside::OutsidePrior;
    use super::super::prior::{Prior, PriorKind};
    use super::super::rate_prior::RatePrior;
    use super::super::space::{LinkFacts, LinkSpace};
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const N: usize = 6;
    const BLOCKS: [usize; N] = [0, 0, 1, 1, 1, 1];

    fn facts() -> LinkFacts<'static> {
        LinkFacts {
            block_of_row: Some(&BLOCKS),
            match_probability: Some(&[0.5; N]),
            ..LinkFacts::default()
        }
    }

    fn covariates(of_row: impl Fn(usize) -> usize) -> RateRegression {
        let value = |(row, k): (usize, usize)| match k {
            0 => 1.0,
            _ => (of_row(row) * of_row(row)) as f64,
        };
        RateRegression::new(&Array2::from_shape_fn((N, 2), value))
    }

    /// Means of both coefficients by a grid, with the probability of the wrong rows summed over all possible sets.
    fn means(regression: &RateRegression, wrong: &[usize], is_whole: bool) -> [f64; 2] {
        let is_possible = |set: &usize| {
            let in_block = |block: usize| {
                let rows = (0..N).filter(|&row| BLOCKS[row] == block);
                rows.filter(|&row| set >> row & 1 == 1).count()
            };
            !is_whole || (0..2).all(|block| in_block(block) != 1)
        };
        let sets: Vec<usize> = (0..1 << N).filter(is_possible).collect();
        let (mut sum, mut first) = (0.0, [0.0; 2]);
        for step in 0..200 * 200 {
            let gamma = [
                -9.0 + 0.07 * (step / 200) as f64,
                -7.0 + 0.07 * (step % 200) as f64,
            ];
            let odds: Vec<f64> = regression
                .log_odds(&gamma)
                .iter()
                .map(|o| o.exp())
                .collect();
            let weight = |set: &usize| -> f64 {
                (0..N)
                    .filter(|row| set >> row & 1 == 1)
                    .map(|row| odds[row])
                    .product()
            };
            let own: usize = wrong.iter().map(|row| 1 << row).sum();
            let likelihood = weight(&own) / sets.iter().map(weight).sum::<f64>();
            let z = [(gamma[0] + 2.2) / 1.5, gamma[1] / 1.5];
            let density = likelihood * (-0.5 * (z[0] * z[0] + z[1] * z[1])).exp();
            sum += density;
            (0..2).for_each(|k| first[k] += density * gamma[k]);
        }
        first.map(|first| first / sum)
    }

    fn drawn(regression: &RateRegression, links: &Permutation, sets: WrongSets) -> [f64; 2] {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut gamma = regression.start();
        let draws = 20_000;
        let mut sum = [0.0; 2];
        for _ in 0..draws {
            regression.draw(&mut gamma, links, sets, &mut rng);
            (0..2).for_each(|k| sum[k] += gamma[k] / f64::from(draws));
        }
        sum
    }

    /// The posterior standard deviations are about 1; with some 5000 independent draws a mean is within 0.07.
    #[test]
    fn coefficients_given_the_wrong_rows_have_the_means_of_their_density() {
        let regression = covariates(|row| row);
        let other = covariates(|row| N - 1 - row);
        let whole = Prior::new(PriorKind::MatchProbability, LinkSpace::new(N, facts()));
        let share = RatePrior::beta(1.0, 1.0);
        let partial = OutsidePrior::new(PriorKind::MatchProbability, share, N, N, facts());
        let links = Permutation::from_vec(vec![0, 1, 2, 4, 5, 3]).unwrap();
        let near = |found: [f64; 2], expected: [f64; 2]| {
            (0..2).all(|k| (found[k] - expected[k]).abs() < 0.07)
        };
        for (sets, is_whole) in [
            (WrongSets::Whole(&whole), true),
            (WrongSets::Partial(&partial), false),
        ] {
            let expected = means(&regression, &[3, 4, 5], is_whole);
            let found = drawn(&regression, &links, sets);
            assert!(near(found, expected), "{found:?} {expected:?}");
            let planted = drawn(&other, &links, sets);
            assert!(
                !near(planted, expected),
                "covariates of other rows: {planted:?}"
            );
            let planted = means(&regression, &[3, 4, 5], !is_whole);
            assert!(
                !near(found, planted),
                "other possible sets: {found:?} {planted:?}"
            );
        }
    }

    #[test]
    fn columns_are_centred_and_numbers_scaled() {
        let columns = [[1.0; 4], [0.0, 0.0, 1.0, 1.0], [2.0, 4.0, 6.0, 8.0]];
        let regression =
            RateRegression::new(&Array2::from_shape_fn((4, 3), |(i, k)| columns[k][i]));
        let odds = regression.log_odds(&[-1.0, 2.0, 0.0]);
        assert_eq!(odds, [-2.0, -2.0, 0.0, 0.0]);
        let units: Vec<f64> = regression.in_units(&[-1.0, 2.0, 5f64.sqrt()]).collect();
        assert!(
            (units[2] - 1.0).abs() < 1e-12 && units[..2] == [-1.0, 2.0],
            "{units:?}"
        );
    }

    #[test]
    fn places_change_no_row_and_have_no_odds_of_their_own() {
        let covariates = Array2::from_shape_fn((4, 2), |(row, k)| (row * k) as f64 + 1.0);
        let plain = RateRegression::new(&covariates);
        let gamma = [0.3, -0.7];
        let with = plain.clone().with_places(2).log_odds(&gamma);
        assert_eq!(with[..4], plain.log_odds(&gamma));
        assert_eq!(with[4..], [0.0, 0.0]);
    }
}
