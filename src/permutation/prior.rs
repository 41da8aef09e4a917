//! Priors on the permutation: a table of log weights by the number of moved rows.

use super::special::{log_derangements, log_gamma};
use rand::Rng;
use rand_distr::{Beta, Distribution};

/// The members of the one shape that priors have here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriorKind {
    /// Every permutation that moves at most `max_moved` rows is as likely as any other.
    Uniform { max_moved: usize },
    /// Each moved row costs `theta`.
    Hamming { theta: f64 },
    /// Each row is mislinked with probability rho ~ Beta(a, b), the mislinked rows carrying a
    /// uniform derangement; rho is integrated out.
    BetaBinomial { a: f64, b: f64 },
    /// Each row is mislinked with a probability of its own, the mislinked rows carrying a uniform derangement.
    MatchProbability,
}

/// `g[d]`: log prior weight of one permutation that moves `d` rows. `g[1]` is minus infinity.
#[derive(Clone, Debug)]
pub struct Prior {
    kind: PriorKind,
    log_weight: Vec<f64>,
}

impl Prior {
    pub fn new(kind: PriorKind, num_rows: usize) -> Self {
        let mut log_weight: Vec<f64> = match kind {
            PriorKind::Uniform { max_moved } => (0..=num_rows)
                .map(|d| {
                    if d <= max_moved {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                })
                .collect(),
            PriorKind::Hamming { theta } => {
                assert!(theta.is_finite(), "theta must be finite, got {theta}");
                (0..=num_rows).map(|d| -theta * d as f64).collect()
            }
            PriorKind::BetaBinomial { a, b } => beta_binomial(num_rows, a, b),
            PriorKind::MatchProbability => (0..=num_rows).map(|d| -log_derangements(d)).collect(),
        };
        if let Some(weight) = log_weight.get_mut(1) {
            *weight = f64::NEG_INFINITY;
        }
        Self { kind, log_weight }
    }

    pub fn uniform(num_rows: usize, max_moved: usize) -> Self {
        Self::new(PriorKind::Uniform { max_moved }, num_rows)
    }

    pub fn hamming(num_rows: usize, theta: f64) -> Self {
        Self::new(PriorKind::Hamming { theta }, num_rows)
    }

    pub fn beta_binomial(num_rows: usize, a: f64, b: f64) -> Self {
        Self::new(PriorKind::BetaBinomial { a, b }, num_rows)
    }

    pub fn kind(&self) -> PriorKind {
        self.kind
    }

    pub fn num_rows(&self) -> usize {
        self.log_weight.len() - 1
    }

    /// g[d].
    #[inline]
    pub fn log_weight(&self, num_moved: usize) -> f64 {
        self.log_weight[num_moved]
    }

    pub fn table(&self) -> &[f64] {
        &self.log_weight
    }

    /// Whether every permutation has the same weight.
    pub fn is_flat(&self) -> bool {
        match self.kind {
            PriorKind::Uniform { max_moved } => max_moved >= self.num_rows(),
            PriorKind::Hamming { theta } => theta == 0.0,
            PriorKind::BetaBinomial { .. } | PriorKind::MatchProbability => false,
        }
    }

    /// P(d rows are moved) for d = 0..=n, before any data: the weight of one permutation times how many move so many.
    pub fn num_moved_probabilities(&self) -> Vec<f64> {
        let log_factorial = |k: usize| log_gamma(k as f64 + 1.0);
        let num_rows = self.num_rows();
        let log_probability = |d: usize| {
            let choose = log_factorial(num_rows) - log_factorial(d) - log_factorial(num_rows - d);
            match d {
                1 => f64::NEG_INFINITY,
                _ => self.log_weight[d] + choose + log_derangements(d),
            }
        };
        let logs: Vec<f64> = (0..=num_rows).map(log_probability).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// A draw of rho given `d` moved rows, Beta(a + d, b + n - d); only the beta-binomial has one.
    pub fn draw_rho<R: Rng + ?Sized>(&self, num_moved: usize, rng: &mut R) -> Option<f64> {
        let PriorKind::BetaBinomial { a, b } = self.kind else {
            return None;
        };
        let fixed = (self.num_rows() - num_moved) as f64;
        let posterior = Beta::new(a + num_moved as f64, b + fixed).expect("a and b are positive");
        Some(posterior.sample(rng))
    }
}

/// log BetaBinomial(d; n, a, b) - log C(n, d) - log D_d, divided by the mass of d != 1, so that the
/// weights of all permutations sum to one. (rho, d) is conditioned on d != 1 jointly, which leaves
/// rho given d as it was.
fn beta_binomial(num_rows: usize, a: f64, b: f64) -> Vec<f64> {
    assert!(
        a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite(),
        "a and b must be positive and finite, got {a} and {b}"
    );
    let n = num_rows as f64;
    let log_beta = |p: f64, q: f64| log_gamma(p) + log_gamma(q) - log_gamma(p + q);
    // BetaBinomial(d) / C(n, d) = B(a + d, b + n - d) / B(a, b)
    let log_set = |d: f64| log_beta(a + d, b + n - d) - log_beta(a, b);
    let log_possible = if num_rows == 0 {
        0.0
    } else {
        (-(n.ln() + log_set(1.0)).exp()).ln_1p()
    };
    (0..=num_rows)
        .map(|d| log_set(d as f64) - log_derangements(d) - log_possible)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::exactness::all_permutations;
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn num_moved(forward: &[usize]) -> usize {
        (0..forward.len()).filter(|&i| forward[i] != i).count()
    }

    #[test]
    fn beta_binomial_sums_to_one_over_all_permutations() {
        for (a, b) in [(1.0, 1.0), (0.5, 3.0), (2.0, 40.0)] {
            for n in 2..=7 {
                let prior = Prior::beta_binomial(n, a, b);
                let sum: f64 = all_permutations(n)
                    .iter()
                    .map(|pi| prior.log_weight(num_moved(pi)).exp())
                    .sum();
                assert!((sum - 1.0).abs() < 1e-12, "n = {n}: {sum}");
            }
        }
    }

    #[test]
    fn beta_binomial_sums_to_one_by_derangement_counts() {
        for n in [15usize, 40, 1000] {
            let prior = Prior::beta_binomial(n, 1.0, 1.0);
            let sum: f64 = (0..=n)
                .filter(|&d| d != 1)
                .map(|d| {
                    let choose = log_gamma(n as f64 + 1.0)
                        - log_gamma(d as f64 + 1.0)
                        - log_gamma((n - d) as f64 + 1.0);
                    (prior.log_weight(d) + choose + log_derangements(d)).exp()
                })
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "n = {n}: {sum}");
        }
    }

    #[test]
    fn numbers_of_moved_rows_have_the_probabilities_of_their_permutations() {
        let n = 6;
        for prior in [
            Prior::uniform(n, 4),
            Prior::hamming(n, 1.5),
            Prior::beta_binomial(n, 2.0, 5.0),
        ] {
            let mut by_counting = vec![0.0; n + 1];
            for pi in all_permutations(n) {
                let d = num_moved(&pi);
                by_counting[d] += prior.log_weight(d).exp();
            }
            let sum: f64 = by_counting.iter().sum();
            let probabilities = prior.num_moved_probabilities();
            for (counted, probability) in by_counting.iter().zip(&probabilities) {
                assert!((counted / sum - probability).abs() < 1e-12, "{prior:?}");
            }
        }
        let flat = Prior::beta_binomial(20_000, 1.0, 1.0).num_moved_probabilities();
        assert!((flat[0] - 1.0 / 20_000.0).abs() < 1e-9 && flat[1] == 0.0);
    }

    #[test]
    fn tables_have_the_documented_shape() {
        let uniform = Prior::uniform(6, 3);
        assert_eq!(uniform.table()[0], 0.0);
        assert_eq!(uniform.table()[1], f64::NEG_INFINITY);
        assert_eq!(uniform.table()[3], 0.0);
        assert_eq!(uniform.table()[4], f64::NEG_INFINITY);
        assert!(!uniform.is_flat() && Prior::uniform(6, 6).is_flat());
        assert_eq!(Prior::hamming(6, 0.5).log_weight(4), -2.0);
        assert_eq!(Prior::uniform(0, 0).table(), [0.0]);
        assert_eq!(Prior::beta_binomial(1, 1.0, 1.0).num_rows(), 1);
    }

    #[test]
    fn rho_has_the_mean_of_its_beta_posterior() {
        let prior = Prior::beta_binomial(50, 1.0, 1.0);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let draws = 20_000;
        let mean = (0..draws)
            .map(|_| prior.draw_rho(4, &mut rng).unwrap())
            .sum::<f64>()
            / f64::from(draws);
        // Beta(5, 47): mean 5/52, standard deviation 0.0405; five standard errors.
        assert!((mean - 5.0 / 52.0).abs() < 5.0 * 0.0405 / f64::from(draws).sqrt());
        assert_eq!(Prior::hamming(50, 1.0).draw_rho(4, &mut rng), None);
    }
}
