//! The mismatch rate where rows can only move inside groups: its prior integrated out, and its draws.
//!
//! Given rho, rows of a group are mislinked independently with probability rho, but for the case of one row alone, which
//! is impossible. So rho is not the rate at which rows are mislinked: in groups of two, rho = 0.3 mislinks 16 % of the
//! rows. The rate is r(rho) = E(d | rho) / n, and it is r that is Beta(a, b): what an audit of the file estimates.
//!
//!   p(permutation) = integral of Beta(r; a, b) rho^d (1 - rho)^(n - d) / prod_g Z_g(rho) dr  /  prod_g D(d_g),
//!   Z_g = 1 - n_g rho (1 - rho)^(n_g - 1)
//!
//! The integral depends on the permutation through d alone. It is taken over s in (0, 1) by the trapezoidal rule with
//! rho = sin^2(pi / 2 * p(s)): the arcsine makes the integrand as wide for every d, and the polynomial p flattens it
//! towards both ends, where the rule then converges as fast as inside.

use crate::numerics::gamma::{log_beta, log_gamma};
use rand::Rng;
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

/// How far the linear interpolation of the density may lie below it between two nodes.
const MARGIN: f64 = 1.1;
/// Terms this far below the largest are below double precision.
const NEGLIGIBLE: f64 = 40.0;

#[derive(Clone, Debug)]
pub(crate) struct Rate {
    a: f64,
    b: f64,
    /// Group sizes, each with the number of such groups.
    sizes: Vec<(f64, f64)>,
    num_movable: usize,
    /// p is I_s(order + 1, order + 1), the regularised incomplete beta function.
    order: u32,
    /// The nodes of the quadrature, at s = (k + 1) / (nodes + 1).
    nodes: Vec<Node>,
}

/// The log of the integrand is `log_base + d * logit`.
#[derive(Clone, Copy, Debug)]
struct Node {
    log_base: f64,
    logit: f64,
    rate: f64,
}

impl Node {
    #[inline]
    fn log_integrand(&self, num_moved: usize) -> f64 {
        self.log_base + num_moved as f64 * self.logit
    }
}

impl Rate {
    pub fn new(a: f64, b: f64, group_sizes: impl Iterator<Item = usize>) -> Self {
        let mut by_size = std::collections::BTreeMap::<usize, usize>::new();
        let mut num_movable = 0;
        for size in group_sizes {
            *by_size.entry(size).or_default() += 1;
            num_movable += size;
        }
        let mut rate = Self {
            a,
            b,
            sizes: by_size
                .iter()
                .map(|(&size, &count)| (size as f64, count as f64))
                .collect(),
            num_movable,
            // The integrand vanishes at the ends like s^(2 a (order + 1) - 1): at least like s^5.
            order: ((3.0 / a.min(b).min(1.0)).ceil() as u32 - 1).min(60),
            nodes: Vec::new(),
        };
        // A third of a standard deviation of the narrowest integrand between nodes, where p is steepest.
        let steepest = f64::from(rate.order + 1).sqrt() / 3f64.sqrt();
        let num_nodes = 400 + (17.0 * steepest * (num_movable as f64).sqrt()) as usize;
        rate.nodes = (1..=num_nodes)
            .map(|k| rate.node(k as f64 / (num_nodes + 1) as f64))
            .collect();
        rate
    }

    fn node(&self, s: f64) -> Node {
        let (lower, upper) = (self.flat(s), self.flat(1.0 - s));
        // sin and cos of the angle, each exact near the end where it vanishes.
        let (sin, cos) = ((FRAC_PI_2 * lower).sin(), (FRAC_PI_2 * upper).sin());
        let (rho, rest) = (sin * sin, cos * cos);
        let log_rest = if rho < 0.5 { (-rho).ln_1p() } else { rest.ln() };
        let n = self.num_movable as f64;
        let (mut moved, mut fixed, mut variance, mut log_possible) = (0.0, 0.0, 0.0, 0.0);
        for &(size, count) in &self.sizes {
            let group = GroupMoments::new(size, rho, rest, log_rest);
            moved += count * group.moved;
            fixed += count * group.fixed;
            variance += count * group.variance;
            log_possible += count * group.log_possible;
        }
        // dr / d rho = Var(d) / (n rho (1 - rho)); d rho = 2 sin cos dz; dz = pi / 2 p'(s) ds
        let log_slope = variance.max(f64::MIN_POSITIVE).ln() - n.ln() + LN_2 - sin.ln() - cos.ln();
        let log_prior = (self.a - 1.0) * (moved / n).ln() + (self.b - 1.0) * (fixed / n).ln();
        Node {
            log_base: log_prior + log_slope + self.log_flat_slope(s) + n * log_rest - log_possible,
            logit: 2.0 * (sin.ln() - cos.ln()),
            rate: moved / n,
        }
    }

    /// p(s) = P(Binomial(2 m + 1, s) > m), with p(s) + p(1 - s) = 1.
    fn flat(&self, s: f64) -> f64 {
        let m = self.order;
        let total = 2 * m + 1;
        let mut term = s.powi(total as i32);
        let mut sum = term;
        for k in (m + 1..total).rev() {
            term *= f64::from(k + 1) / f64::from(total - k) * (1.0 - s) / s;
            sum += term;
        }
        sum
    }

    /// log of pi / 2 p'(s) = pi / 2 s^m (1 - s)^m / B(m + 1, m + 1).
    fn log_flat_slope(&self, s: f64) -> f64 {
        let m = f64::from(self.order);
        let log_beta = 2.0 * log_gamma(m + 1.0) - log_gamma(2.0 * m + 2.0);
        (PI / 2.0).ln() + m * (s.ln() + (1.0 - s).ln()) - log_beta
    }

    /// The log of the integral for d = 0..=n, including Beta's constant: with the derangements it sums to one over all
    /// permutations.
    pub fn log_weights(&self) -> Vec<f64> {
        let log_beta = log_beta(self.a, self.b);
        let log_step = -((self.nodes.len() + 1) as f64).ln();
        let log_weight = |d: usize| {
            let largest = self.largest(d);
            let terms = self
                .nodes
                .iter()
                .map(|node| node.log_integrand(d) - largest);
            let sum: f64 = terms.filter(|term| *term > -NEGLIGIBLE).map(f64::exp).sum();
            largest + sum.ln() + log_step - log_beta
        };
        (0..=self.num_movable).map(log_weight).collect()
    }

    fn largest(&self, num_moved: usize) -> f64 {
        let values = self.nodes.iter().map(|node| node.log_integrand(num_moved));
        values.fold(f64::NEG_INFINITY, f64::max)
    }

    /// r given d moved rows: from the density interpolated between the nodes, corrected by rejection.
    pub fn draw<R: Rng + ?Sized>(&self, num_moved: usize, rng: &mut R) -> f64 {
        let largest = self.largest(num_moved);
        let height = |node: &Node| (node.log_integrand(num_moved) - largest).exp();
        // Place 0 and the last one are the ends, where the integrand vanishes.
        let density = |place: usize| self.nodes.get(place.wrapping_sub(1)).map_or(0.0, height);
        let num_cells = self.nodes.len() + 1;
        let total: f64 = self.nodes.iter().map(height).sum();
        loop {
            // Cell k lies between places k and k + 1; its mass is the mean of its two ends.
            let mut left = rng.random::<f64>() * total;
            let mut ends = (0.0, density(1));
            let mut cell = 0;
            while left > 0.5 * (ends.0 + ends.1) && cell + 1 < num_cells {
                left -= 0.5 * (ends.0 + ends.1);
                cell += 1;
                ends = (ends.1, density(cell + 1));
            }
            let inside = linear(ends, rng);
            let node = self.node((cell as f64 + inside) / num_cells as f64);
            let interpolated = ends.0 + inside * (ends.1 - ends.0);
            let ratio = height(&node) / interpolated;
            if rng.random::<f64>() * MARGIN < ratio {
                return node.rate;
            }
        }
    }

    /// A draw of rho from the prior of r, before any data.
    pub fn draw_prior_rho<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let beta = rand_distr::Beta::new(self.a, self.b).expect("a and b are positive");
        let rate: f64 = rng.sample(beta);
        // r increases with s: bisect the nodes, then s between two of them.
        let place = self.nodes.partition_point(|node| node.rate < rate);
        let at = |k: usize| k as f64 / (self.nodes.len() + 1) as f64;
        let (mut low, mut high) = (at(place), at(place + 1));
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.node(middle).rate < rate {
                low = middle
            } else {
                high = middle
            }
        }
        let angle = FRAC_PI_2 * self.flat(0.5 * (low + high));
        angle.sin().powi(2)
    }
}

/// A draw from the density on (0, 1) that goes linearly from one end's value to the other's.
fn linear<R: Rng + ?Sized>((from, to): (f64, f64), rng: &mut R) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    // A mixture of two triangles: the larger of two uniforms rises, the smaller falls.
    if rng.random::<f64>() * (from + to) < to {
        u.max(v)
    } else {
        u.min(v)
    }
}

/// d_g, the number of moved rows of one group of `size` rows given rho, with d_g = 1 excluded.
struct GroupMoments {
    moved: f64,
    fixed: f64,
    variance: f64,
    /// log Z_g.
    log_possible: f64,
}

impl GroupMoments {
    fn new(size: f64, rho: f64, rest: f64, log_rest: f64) -> Self {
        let one = size * rho * ((size - 1.0) * log_rest).exp();
        let possible = 1.0 - one;
        let moved = size * rho * -((size - 1.0) * log_rest).exp_m1() / possible;
        // 1 - (size - 1) rho rest^(size - 2), which for two rows is rest itself: 1 - rho would lose it near rho = 1.
        let not_all = if size == 2.0 {
            rest
        } else {
            1.0 - (size - 1.0) * rho * ((size - 2.0) * log_rest).exp()
        };
        let fixed = size * rest * not_all / possible;
        // E d (d - 1) + E d - (E d)^2, of whichever of d and size - d is small: no digits are lost.
        let variance = if rho < 0.5 {
            size * (size - 1.0) * rho * rho / possible + moved - moved * moved
        } else {
            let pairs = size * (size - 1.0) * rest * rest - (size - 1.0) * (size - 2.0) * one;
            pairs / possible + fixed - fixed * fixed
        };
        Self {
            moved,
            fixed,
            variance,
            log_possible: (-one).ln_1p(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn choose(n: usize, k: usize) -> f64 {
        (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
    }

    /// E(d), E(n - d), Var(d) and Z by summing over d.
    #[test]
    fn moments_are_those_of_the_law_without_one() {
        for size in [2usize, 3, 7, 30] {
            for rho in [1e-6f64, 0.01, 0.3, 0.5, 0.8, 1.0 - 1e-6] {
                let law: Vec<(f64, f64)> = (0..=size)
                    .filter(|&k| k != 1)
                    .map(|k| {
                        let rest = (1.0 - rho).powi((size - k) as i32);
                        (k as f64, choose(size, k) * rho.powi(k as i32) * rest)
                    })
                    .collect();
                let z: f64 = law.iter().map(|(_, p)| p).sum();
                let mean =
                    |f: &dyn Fn(f64) -> f64| law.iter().map(|(k, p)| f(*k) * p).sum::<f64>() / z;
                let n = size as f64;
                let (moved, fixed) = (mean(&|k| k), mean(&|k| n - k));
                let variance = mean(&|k| (k - moved) * (k - moved));
                let found = GroupMoments::new(n, rho, 1.0 - rho, (1.0f64 - rho).ln());
                for (found, expected) in [
                    (found.moved, moved),
                    (found.fixed, fixed),
                    (found.variance, variance),
                    (found.log_possible.exp(), z),
                ] {
                    assert!(
                        (found - expected).abs() < 1e-8 * expected,
                        "{size} {rho}: {found} {expected}"
                    );
                }
            }
        }
    }

    /// Sums over all permutations, by the numbers of moved rows in each group: the derangements cancel.
    #[test]
    fn weights_sum_to_one_over_all_permutations() {
        for (a, b) in [(1.0, 1.0), (0.3, 2.0), (8.0, 94.0), (2.0, 0.2)] {
            for sizes in [vec![2usize, 2], vec![3, 4, 2], vec![2; 20], vec![30, 5]] {
                let weights = Rate::new(a, b, sizes.iter().copied()).log_weights();
                let mut ways = vec![1.0];
                for &size in &sizes {
                    let mut next = vec![0.0; ways.len() + size];
                    for (d, way) in ways.iter().enumerate() {
                        for k in (0..=size).filter(|&k| k != 1) {
                            next[d + k] += way * choose(size, k);
                        }
                    }
                    ways = next;
                }
                let sum: f64 = ways
                    .iter()
                    .zip(&weights)
                    .map(|(way, weight)| way * weight.exp())
                    .sum();
                assert!((sum - 1.0).abs() < 1e-9, "{a} {b} {sizes:?}: {sum}");
            }
        }
    }

    /// E(d) / n over the prior is E(r) = a / (a + b): the rate means what it says, also in groups of two.
    #[test]
    fn the_rate_is_the_expected_share_of_moved_rows() {
        for (a, b) in [(1.0, 1.0), (8.0, 94.0)] {
            let size = 2;
            let weights = Rate::new(a, b, std::iter::repeat_n(size, 6)).log_weights();
            let mean: f64 = (0..=6)
                .map(|pairs| {
                    choose(6, pairs) * weights[2 * pairs].exp() * 2.0 * pairs as f64 / 12.0
                })
                .sum();
            assert!((mean - a / (a + b)).abs() < 1e-9, "{mean}");
        }
    }

    /// The nodes' own mean and variance of r given d, against draws; a rate drawn as rho would be far off.
    #[test]
    fn draws_have_the_moments_of_the_density() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for (sizes, d) in [
            (vec![2usize; 30], 8),
            (vec![2; 30], 0),
            (vec![5, 3, 9, 40], 11),
        ] {
            let rate = Rate::new(1.0, 1.0, sizes.iter().copied());
            let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
            let largest = rate
                .nodes
                .iter()
                .map(|n| n.log_base + d as f64 * n.logit)
                .fold(f64::MIN, f64::max);
            for node in &rate.nodes {
                let weight = (node.log_base + d as f64 * node.logit - largest).exp();
                sum += weight;
                first += weight * node.rate;
                second += weight * node.rate * node.rate;
            }
            let (mean, variance) = (first / sum, second / sum - (first / sum).powi(2));
            let draws = 40_000;
            let values: Vec<f64> = (0..draws).map(|_| rate.draw(d, &mut rng)).collect();
            let found = values.iter().sum::<f64>() / f64::from(draws);
            let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(draws);
            // Five standard errors.
            assert!(
                (found - mean).abs() < 5.0 * (variance / f64::from(draws)).sqrt(),
                "{found} {mean}"
            );
            assert!(
                (spread / variance - 1.0).abs() < 0.06,
                "{spread} {variance}"
            );
        }
    }

    #[test]
    fn interpolation_never_needs_more_than_its_margin() {
        let rate = Rate::new(1.0, 1.0, [2usize, 2, 5, 60].into_iter());
        let num_cells = (rate.nodes.len() + 1) as f64;
        for d in [0, 2, 9, 40, 69] {
            let value = |node: &Node| node.log_base + d as f64 * node.logit;
            let largest = rate.nodes.iter().map(value).fold(f64::MIN, f64::max);
            for (k, pair) in rate.nodes.windows(2).enumerate() {
                for inside in [0.25, 0.5, 0.75] {
                    let exact =
                        (value(&rate.node((k as f64 + 1.0 + inside) / num_cells)) - largest).exp();
                    let ends = (value(&pair[0]) - largest).exp() * (1.0 - inside)
                        + (value(&pair[1]) - largest).exp() * inside;
                    assert!(
                        ends < 1e-12 || exact <= MARGIN * ends,
                        "{d} {k}: {exact} {ends}"
                    );
                }
            }
        }
    }

    #[test]
    fn prior_draws_of_rho_give_back_the_prior_of_the_rate() {
        let rate = Rate::new(2.0, 6.0, std::iter::repeat_n(3usize, 10));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draws = 4000;
        let mean = (0..draws)
            .map(|_| {
                let rho = rate.draw_prior_rho(&mut rng);
                GroupMoments::new(3.0, rho, 1.0 - rho, (-rho).ln_1p()).moved / 3.0
            })
            .sum::<f64>()
            / f64::from(draws);
        // Beta(2, 6): mean 1/4, standard deviation 0.144; five standard errors.
        assert!(
            (mean - 0.25).abs() < 5.0 * 0.144 / f64::from(draws).sqrt(),
            "{mean}"
        );
    }
}
