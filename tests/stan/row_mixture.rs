//! The row mixture of one slope by enumeration: moved sets and links enumerated, parameters on a grid.

use crate::study::all_permutations;
use unshuffle::links::Prior;

#[derive(Clone, Copy, PartialEq)]
pub enum Law {
    /// Slope normal(0, 2), log of the variance normal(0, 0.7), as tests/stan/linear_weighted.stan.
    Linear,
    /// Slope normal(0, 2.5), as tests/stan/logistic_weighted.stan.
    Logistic,
}

/// What the parameters see of the rows.
#[derive(Clone, Copy, PartialEq)]
pub enum Sees {
    /// The row mixture.
    RowsThatStay,
    /// Wrong: every row at its own link, while moved sets are drawn as in the row mixture.
    EveryRow,
    /// Feedback: moved rows at the links they are drawn to, the joint posterior.
    MovedRowsToo,
}

pub struct Posterior {
    permutations: Vec<(Vec<usize>, usize)>,
    links: Vec<f64>,
    sets: Vec<f64>,
    pub beta: f64,
    /// None where the law has none.
    pub variance: Option<f64>,
}

const DERANGEMENTS: [f64; 7] = [1.0, 0.0, 1.0, 2.0, 9.0, 44.0, 265.0];

impl Law {
    /// (beta, variance, log prior weight) of a grid.
    fn grid(self) -> Vec<(f64, f64, f64)> {
        let points = |low: f64, high: f64, steps: usize| {
            (0..=steps).map(move |k| low + (high - low) * k as f64 / steps as f64)
        };
        match self {
            Law::Linear => points(-12.0, 12.0, 240)
                .flat_map(|beta: f64| {
                    points(-4.0, 4.5, 90).map(move |log_variance: f64| {
                        let prior = -beta * beta / 8.0 - 0.5 * (log_variance / 0.7).powi(2);
                        (beta, log_variance.exp(), prior)
                    })
                })
                .collect(),
            Law::Logistic => points(-20.0, 20.0, 1600)
                .map(|beta| (beta, 1.0, -0.5 * (beta / 2.5).powi(2)))
                .collect(),
        }
    }

    fn density(self, y: f64, x: f64, (beta, variance): (f64, f64)) -> f64 {
        match self {
            Law::Linear => normal(y - x * beta, variance),
            Law::Logistic if y == 1.0 => 1.0 / (1.0 + (-x * beta).exp()),
            Law::Logistic => 1.0 / (1.0 + (x * beta).exp()),
        }
    }

    /// The fixed law of a moved row's response.
    fn marginal(self, y: f64, all: &[f64]) -> f64 {
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        let variance = all.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n;
        match self {
            Law::Linear => normal(y - mean, variance),
            Law::Logistic if y == 1.0 => mean,
            Law::Logistic => 1.0 - mean,
        }
    }
}

fn normal(u: f64, variance: f64) -> f64 {
    (-0.5 * u * u / variance).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
}

impl Posterior {
    /// The prior of the links is beta_binomial(1, 1), and every density is raised to the power `alpha`.
    pub fn new(law: Law, x: &[f64], y: &[f64], alpha: f64, sees: Sees) -> Posterior {
        let n = x.len();
        let prior = Prior::beta_binomial(n, 1.0, 1.0);
        let permutations: Vec<(Vec<usize>, usize)> = all_permutations(n)
            .into_iter()
            .map(|pi| {
                let moved = (0..n).filter(|&i| pi[i] != i).map(|i| 1 << i).sum();
                (pi, moved)
            })
            .collect();
        let set_prior = |set: usize| {
            let d = set.count_ones() as usize;
            match d {
                1 => 0.0,
                _ => prior.log_weight(d).exp() * DERANGEMENTS[d],
            }
        };
        let mut posterior = Posterior {
            links: vec![0.0; permutations.len()],
            sets: vec![0.0; 1 << n],
            permutations,
            beta: 0.0,
            variance: (law == Law::Linear).then_some(0.0),
        };
        posterior.fill(law, x, y, alpha, sees, &set_prior);
        posterior
    }

    fn fill(
        &mut self,
        law: Law,
        x: &[f64],
        y: &[f64],
        alpha: f64,
        sees: Sees,
        set_prior: &dyn Fn(usize) -> f64,
    ) {
        let n = x.len();
        let marginal: Vec<f64> = y.iter().map(|v| law.marginal(*v, y).powf(alpha)).collect();
        let num_sets = 1 << n;
        let mut total = 0.0;
        let mut fits = vec![0.0; self.permutations.len()];
        for (beta, variance, log_prior) in law.grid() {
            let pair = |i: usize, j: usize| law.density(y[i], x[j], (beta, variance)).powf(alpha);
            let matrix: Vec<f64> = (0..n * n).map(|k| pair(k / n, k % n)).collect();
            // How well the moved rows of each permutation fit, and the sum of that over each set.
            let mut of_set = vec![0.0; num_sets];
            for ((pi, set), fit) in self.permutations.iter().zip(&mut fits) {
                let moved = (0..n).filter(|&i| pi[i] != i);
                *fit = moved.map(|i| matrix[i * n + pi[i]]).product();
                of_set[*set] += *fit;
            }
            let product = |set: usize, moved: &dyn Fn(usize) -> f64| -> f64 {
                let of_row = |i: usize| match set >> i & 1 {
                    1 => moved(i),
                    _ => matrix[i * n + i],
                };
                (0..n).map(of_row).product()
            };
            let mixture = |set: usize| set_prior(set) * product(set, &|i| marginal[i]);
            let weights: Vec<f64> = match sees {
                Sees::RowsThatStay => (0..num_sets).map(mixture).collect(),
                Sees::EveryRow => {
                    let sum: f64 = (0..num_sets).map(mixture).sum();
                    let seen = product(0, &|_| 1.0);
                    (0..num_sets).map(|set| mixture(set) / sum * seen).collect()
                }
                Sees::MovedRowsToo => {
                    let stay = |set: usize| product(set, &|_| 1.0);
                    let ways = |set: usize| DERANGEMENTS[set.count_ones() as usize].max(1.0);
                    (0..num_sets)
                        .map(|set| set_prior(set) * stay(set) * of_set[set] / ways(set))
                        .collect()
                }
            };
            let prior = log_prior.exp();
            for (sum, weight) in self.sets.iter_mut().zip(&weights) {
                *sum += prior * weight;
                total += prior * weight;
                self.beta += prior * weight * beta;
                self.variance = self.variance.map(|sum| sum + prior * weight * variance);
            }
            let links = self.permutations.iter().zip(&mut self.links).zip(&fits);
            for (((_, set), sum), fit) in links {
                *sum += prior * weights[*set] * fit / of_set[*set].max(f64::MIN_POSITIVE);
            }
        }
        let parts = self.sets.iter_mut().chain(&mut self.links);
        parts.for_each(|sum| *sum /= total);
        self.beta /= total;
        self.variance = self.variance.map(|sum| sum / total);
    }

    /// Of the moved rows, as the bits of a number.
    pub fn set_probability(&self, event: impl Fn(usize) -> bool) -> f64 {
        let sets = self.sets.iter().enumerate();
        sets.filter(|(set, _)| event(*set)).map(|(_, p)| p).sum()
    }

    pub fn most_probable_sets(&self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sets.len()).collect();
        order.sort_by(|a, b| self.sets[*b].total_cmp(&self.sets[*a]));
        order.truncate(count);
        order
    }

    pub fn most_probable_links(&self, count: usize) -> Vec<(&[usize], f64)> {
        let links = self.permutations.iter().zip(&self.links);
        let mut links: Vec<(&[usize], f64)> =
            links.map(|((pi, _), p)| (pi.as_slice(), *p)).collect();
        links.sort_by(|a, b| b.1.total_cmp(&a.1));
        links.truncate(count);
        links
    }
}
