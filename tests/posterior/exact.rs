//! The posterior of the linear model by quadrature, and z-tests of draws against it.

use std::fmt;

use unshuffle::internals::numerics::mean;
use unshuffle::internals::posterior::mcse_mean;

pub const NAMES: [&str; 3] = ["beta.1", "beta.2", "sigma2"];
/// Mean, variance (of the logarithm for sigma2) and three probabilities of each parameter.
pub const CHECKS_PER_FIT: usize = 15;
const PROBABILITIES: [f64; 3] = [0.1, 0.5, 0.9];

const PRIOR_VARIANCE: f64 = 1000.0;
const NUM_NODES: usize = 20_001;
const LOG_SIGMA2: (f64, f64) = (-8.0, 8.0);

/// Marginal posteriors. Given sigma2, beta is normal; sigma2 itself is on a grid of its logarithm.
pub struct Exact {
    marginals: [Marginal; 3],
}

pub struct Marginal {
    mean: f64,
    /// Of the logarithm for sigma2: with alpha 0.5 its own variance would be that of a
    /// density with kurtosis 159, whose sums are far from normal.
    spread: Spread,
    /// Points and the probability below each.
    below: Vec<(f64, f64)>,
}

/// A variance, with the centre and the scale it is about.
struct Spread {
    what: &'static str,
    scale: fn(f64) -> f64,
    centre: f64,
    variance: f64,
}

/// One node of the grid: its weight, and beta's means and variances given it.
struct Node {
    sigma2: f64,
    weight: f64,
    mean: [f64; 2],
    variance: [f64; 2],
}

impl Exact {
    pub fn new(rows: &[(f64, f64)], alpha: f64) -> Exact {
        let n = rows.len() as f64;
        let sum = |f: fn(f64, f64) -> f64| rows.iter().map(|(x, y)| f(*x, *y)).sum::<f64>();
        let (sx, sxx, sy) = (sum(|x, _| x), sum(|x, _| x * x), sum(|_, y| y));
        let (sxy, syy) = (sum(|x, y| x * y), sum(|_, y| y * y));
        let step = (LOG_SIGMA2.1 - LOG_SIGMA2.0) / (NUM_NODES - 1) as f64;
        let nodes = (0..NUM_NODES).map(|k| {
            let u = LOG_SIGMA2.0 + step * k as f64;
            let sigma2 = u.exp();
            let scale = alpha / sigma2;
            // beta | sigma2 is normal with precision [a b; b d] and mean its inverse times (p, q).
            let prior = 1.0 / PRIOR_VARIANCE;
            let (a, b, d) = (scale * n + prior, scale * sx, scale * sxx + prior);
            let (p, q) = (scale * sy, scale * sxy);
            let determinant = a * d - b * b;
            let mean = [(d * p - b * q) / determinant, (a * q - b * p) / determinant];
            let log_marginal = -0.5 * alpha * n * u - 0.5 * scale * syy
                + 0.5 * (p * mean[0] + q * mean[1])
                - 0.5 * determinant.ln();
            let log_prior = -0.5 * sigma2 * sigma2 / PRIOR_VARIANCE;
            // The grid is even in u, so its density has the Jacobian dsigma2/du = sigma2.
            (
                u,
                log_marginal + log_prior + u,
                mean,
                [d / determinant, a / determinant],
            )
        });
        let nodes: Vec<_> = nodes.collect();
        let most = nodes.iter().map(|node| node.1).fold(f64::MIN, f64::max);
        let total: f64 = nodes.iter().map(|node| (node.1 - most).exp()).sum();
        let nodes: Vec<Node> = nodes
            .iter()
            .map(|(u, log_density, mean, variance)| Node {
                sigma2: u.exp(),
                weight: (log_density - most).exp() / total,
                mean: *mean,
                variance: *variance,
            })
            .collect();
        let edge = nodes[0].weight + nodes[NUM_NODES - 1].weight;
        assert!(edge < 1e-12, "the grid is too short: {edge}");
        Exact {
            marginals: [beta(&nodes, 0), beta(&nodes, 1), sigma2(&nodes, step)],
        }
    }
}

fn beta(nodes: &[Node], j: usize) -> Marginal {
    let expect =
        |f: &dyn Fn(&Node) -> f64| nodes.iter().map(|node| node.weight * f(node)).sum::<f64>();
    let mean = expect(&|node| node.mean[j]);
    let variance = expect(&|node| node.variance[j] + (node.mean[j] - mean).powi(2));
    let cdf = |x: f64| expect(&|node| normal_cdf((x - node.mean[j]) / node.variance[j].sqrt()));
    let below = PROBABILITIES.map(|probability| {
        let reach = 20.0 * variance.sqrt();
        let x = bisect(mean - reach, mean + reach, |x| cdf(x) < probability);
        (x, cdf(x))
    });
    let spread = Spread {
        what: "variance",
        scale: |x| x,
        centre: mean,
        variance,
    };
    Marginal {
        mean,
        spread,
        below: below.to_vec(),
    }
}

fn sigma2(nodes: &[Node], step: f64) -> Marginal {
    let expect = |f: &dyn Fn(f64) -> f64| {
        nodes
            .iter()
            .map(|node| node.weight * f(node.sigma2))
            .sum::<f64>()
    };
    let mean = expect(&|s| s);
    let centre = expect(&f64::ln);
    let spread = Spread {
        what: "variance of log",
        scale: f64::ln,
        centre,
        variance: expect(&|s| (s.ln() - centre).powi(2)),
    };
    let below = PROBABILITIES.map(|probability| {
        let mut sum = 0.0;
        let last = nodes.iter().find(|node| {
            sum += node.weight;
            sum >= probability
        });
        // Half a step on, the sum of weights is the midpoint rule.
        (last.unwrap().sigma2 * (0.5 * step).exp(), sum)
    });
    Marginal {
        mean,
        spread,
        below: below.to_vec(),
    }
}

/// One z-score for each check: (parameter, what, z).
pub struct Checks(Vec<(&'static str, String, f64)>);

impl Checks {
    /// `draws` has one vector for each chain, for each parameter.
    pub fn new(exact: &Exact, draws: &[Vec<Vec<f64>>; 3]) -> Checks {
        let mut scores = Vec::new();
        for ((name, marginal), chains) in NAMES.into_iter().zip(&exact.marginals).zip(draws) {
            let mut score = |what: String, expected: f64, f: &dyn Fn(f64) -> f64| {
                let values: Vec<Vec<f64>> = chains
                    .iter()
                    .map(|chain| chain.iter().map(|x| f(*x)).collect())
                    .collect();
                let slices: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
                let error = mcse_mean(&slices).expect("draws vary");
                let z = (mean(&values.concat()).unwrap() - expected) / error;
                scores.push((name, what, z));
            };
            score("mean".into(), marginal.mean, &|x| x);
            // About the exact mean, so that the score is again that of a mean.
            let spread = &marginal.spread;
            let square = |x: f64| ((spread.scale)(x) - spread.centre).powi(2);
            score(spread.what.into(), spread.variance, &square);
            for (point, probability) in &marginal.below {
                let is_below = |x: f64| f64::from(u8::from(x < *point));
                score(format!("P{probability:.1}"), *probability, &is_below);
            }
        }
        assert_eq!(scores.len(), CHECKS_PER_FIT);
        Checks(scores)
    }

    pub fn worst(&self) -> f64 {
        self.0.iter().map(|(_, _, z)| z.abs()).fold(0.0, f64::max)
    }

    /// The checks that fail. NaN fails too.
    pub fn beyond(&self, critical: f64) -> Vec<String> {
        let failing = self
            .0
            .iter()
            .filter(|(_, _, z)| z.is_nan() || z.abs() > critical);
        failing
            .map(|(name, what, z)| format!("{name} {what} {z:.2}"))
            .collect()
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (k, (name, what, z)) in self.0.iter().enumerate() {
            match k % 5 {
                0 => write!(f, "\n  {name:<7} {what} {z:+.2}")?,
                _ => write!(f, ", {what} {z:+.2}")?,
            }
        }
        Ok(())
    }
}

/// Where |z| must stay, for `num_checks` two-sided tests that together err with `family_rate` (Bonferroni).
pub fn critical_z(family_rate: f64, num_checks: usize) -> f64 {
    let tail = family_rate / num_checks as f64 / 2.0;
    bisect(0.0, 7.0, |z| normal_cdf(-z) > tail)
}

/// Where `is_before` turns from true to false.
fn bisect(mut low: f64, mut high: f64, is_before: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if is_before(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Marsaglia (2004), "Evaluating the normal distribution": a series that is exact to rounding within ±7.
fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 7.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum) = (x, x);
    let mut k = 1.0;
    while sum + term != sum {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}
