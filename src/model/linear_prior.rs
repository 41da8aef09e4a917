//! The prior of the shipped program `linear`, in coordinates in which it is diagonal beside an isotropic likelihood.

use std::ops::Range;

use crate::numerics::{Upper, dot, orthogonalise};

/// The numbers of the prior: `beta_j ~ normal(location_j, scale_j)`, the intercept measured at the `centre` of the
/// predictors, and `sigma2 ~ normal(0, variance_scale)` above 0.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearPrior {
    pub centre: Vec<f64>,
    pub location: Vec<f64>,
    pub scale: Vec<f64>,
    pub variance_scale: f64,
}

/// The prior of w, where R beta = c + u V w. With V the right singular vectors of what the prior sees of u R^-1, its log
/// density is -(sum of steepness_k w_k^2) / 2 - (sum of slope_k w_k) + constant, and the likelihood is as isotropic in w as in
/// V w. So a gradient takes one pass over w, and nothing of what w is made of is correlated.
pub(super) struct DiagonalPrior {
    steepness: Vec<f64>,
    slope: Vec<f64>,
    variance_scale: f64,
    /// V, column by column.
    directions: Vec<f64>,
    /// R^-1 c, and u R^-1 V row by row.
    given: Vec<f64>,
    coefficients: Vec<f64>,
}

/// Beyond this many columns, V would take longer to find than it saves.
const MOST_COLUMNS: usize = 200;

impl LinearPrior {
    /// What the prior sees of coefficients, each of which it expects near 0 with a spread near 1.
    fn standardise(&self, beta: &mut [f64]) {
        beta[0] += dot(&self.centre, beta);
        beta.iter_mut().zip(&self.scale).for_each(|(b, s)| *b /= s);
    }

    /// None where it would not pay, or has no finite numbers.
    pub(super) fn diagonal(&self, r: &Upper, c: &[f64], unit: f64) -> Option<DiagonalPrior> {
        let dim = c.len();
        if dim > MOST_COLUMNS {
            return None;
        }
        let column = |k: usize| dim * k..dim * (k + 1);
        let mut given = c.to_vec();
        r.solve(&mut given);
        let mut centred = given.clone();
        self.standardise(&mut centred);
        let places = centred.iter_mut().zip(&self.location).zip(&self.scale);
        places.for_each(|((b, location), scale)| *b -= location / scale);

        let mut seen = vec![0.0; dim * dim];
        for (k, column) in seen.chunks_exact_mut(dim).enumerate() {
            column[k] = unit;
            r.solve(column);
            self.standardise(column);
        }
        let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !is_finite(&seen) || !is_finite(&centred) || !is_finite(&given) {
            return None;
        }
        let directions = orthogonalise(&mut seen, dim)?;
        let mut coefficients = vec![0.0; dim * dim];
        for k in 0..dim {
            let mut beta: Vec<f64> = directions[column(k)].iter().map(|v| unit * v).collect();
            r.solve(&mut beta);
            for (row, value) in coefficients.chunks_exact_mut(dim).zip(beta) {
                row[k] = value;
            }
        }
        Some(DiagonalPrior {
            steepness: seen.chunks_exact(dim).map(|g| dot(g, g)).collect(),
            slope: seen.chunks_exact(dim).map(|g| dot(g, &centred)).collect(),
            variance_scale: self.variance_scale,
            directions,
            given,
            coefficients,
        })
    }
}

impl DiagonalPrior {
    /// w becomes beta; both are the entries `place` of longer vectors.
    pub fn to_beta(&self, position: &[f64], theta: &mut [f64], place: Range<usize>) {
        let w = &position[place.clone()];
        let rows = self.coefficients.chunks_exact(w.len()).zip(&self.given);
        for (beta, (row, given)) in theta[place].iter_mut().zip(rows) {
            *beta = given + dot(row, w);
        }
    }

    /// V'z, which is w, or what of the responses lies along each of them.
    pub fn turn(&self, z: &[f64], w: &mut [f64]) {
        let columns = self.directions.chunks_exact(z.len());
        w.iter_mut().zip(columns).for_each(|(w, v)| *w = dot(v, z));
    }

    /// The log prior of w but for a constant; writes its negative gradient.
    pub fn of_coefficients(&self, w: &[f64], falling: &mut [f64]) -> f64 {
        let entries = falling
            .iter_mut()
            .zip(w)
            .zip(&self.steepness)
            .zip(&self.slope);
        for (((falling, w), steepness), slope) in entries {
            *falling = steepness * w + slope;
        }
        -0.5 * (dot(w, falling) + dot(w, &self.slope))
    }

    /// The log prior of log sigma^2 but for a constant, and its derivative.
    pub fn of_variance(&self, log_variance: f64) -> (f64, f64) {
        let ratio = log_variance.exp() / self.variance_scale;
        let square = ratio * ratio;
        (log_variance - 0.5 * square, 1.0 - square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: usize = 4;
    const UNIT: f64 = 3.0;

    fn wave(k: usize, speed: f64) -> f64 {
        ((k * k) as f64 * 0.37 + k as f64 * speed + 0.3).sin()
    }

    fn prior() -> LinearPrior {
        let list = |speed: f64| (0..DIM).map(|k| wave(k, speed)).collect::<Vec<f64>>();
        LinearPrior {
            centre: std::iter::once(0.0).chain(list(1.3)).take(DIM).collect(),
            location: list(2.1),
            scale: list(0.9).iter().map(|s| 0.1 + s.abs()).collect(),
            variance_scale: 1.7,
        }
    }

    fn factor() -> Upper {
        let entry = |k: usize, j: usize| wave(5 * k + j, 1.7) + if j == k { 2.0 } else { 0.0 };
        let rows = (0..DIM).map(|k| (0..DIM).map(|j| entry(k, j)).collect());
        Upper::new(&rows.collect::<Vec<Vec<f64>>>())
    }

    /// As stan/linear.stan has it.
    fn direct(prior: &LinearPrior, beta: &[f64]) -> f64 {
        let mut centred = beta.to_vec();
        centred[0] += (0..DIM).map(|k| prior.centre[k] * beta[k]).sum::<f64>();
        let term = |k: usize| ((centred[k] - prior.location[k]) / prior.scale[k]).powi(2);
        -0.5 * (0..DIM).map(term).sum::<f64>()
    }

    /// The largest difference of values and slopes from those of this prior.
    fn error(map: &DiagonalPrior, prior: &LinearPrior) -> f64 {
        let beta_at = |w: &[f64]| {
            let mut beta = vec![0.0; DIM];
            map.to_beta(w, &mut beta, 0..DIM);
            beta
        };
        let own = |w: &[f64]| map.of_coefficients(w, &mut [0.0; DIM]);
        let origin = direct(prior, &beta_at(&[0.0; DIM]));
        let w: Vec<f64> = (0..DIM).map(|k| wave(k, 0.6)).collect();
        let mut falling = [0.0; DIM];
        map.of_coefficients(&w, &mut falling);
        let mut worst = (direct(prior, &beta_at(&w)) - origin - own(&w)).abs();
        for k in 0..DIM {
            // For a parabola central differences are exact.
            let [above, below] = [0.1, -0.1].map(|step| {
                let mut moved = w.clone();
                moved[k] += step;
                direct(prior, &beta_at(&moved))
            });
            worst = worst.max(((above - below) / 0.2 + falling[k]).abs());
        }
        worst
    }

    #[test]
    fn the_prior_is_that_of_the_program() {
        let (prior, r) = (prior(), factor());
        let c: Vec<f64> = (0..DIM).map(|k| wave(k, 3.1)).collect();
        let map = prior.diagonal(&r, &c, UNIT).unwrap();
        assert!(error(&map, &prior) < 1e-9);
        // Priors that forget the centres, or the locations.
        let zeros = vec![0.0; DIM];
        let forgets_centre = LinearPrior {
            centre: zeros.clone(),
            ..prior.clone()
        };
        let forgets_location = LinearPrior {
            location: zeros,
            ..prior.clone()
        };
        for wrong in [forgets_centre, forgets_location] {
            assert!(error(&wrong.diagonal(&r, &c, UNIT).unwrap(), &prior) > 1e-2);
        }
    }

    /// V is orthogonal, so that the likelihood stays as it is, and R beta = c + u V w.
    #[test]
    fn coordinates_are_turned_and_no_more() {
        let (prior, r) = (prior(), factor());
        let c: Vec<f64> = (0..DIM).map(|k| wave(k, 3.1)).collect();
        let map = prior.diagonal(&r, &c, UNIT).unwrap();
        let w: Vec<f64> = (0..DIM).map(|k| wave(k, 0.6)).collect();
        let mut beta = vec![0.0; DIM];
        map.to_beta(&w, &mut beta, 0..DIM);
        let z: Vec<f64> = (0..DIM)
            .map(|k| (r.times(k, &beta) - c[k]) / UNIT)
            .collect();
        let mut back = vec![0.0; DIM];
        map.turn(&z, &mut back);
        assert!((dot(&z, &z) - dot(&w, &w)).abs() < 1e-12);
        assert!(back.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn the_slope_by_the_variance_is_that_of_its_prior() {
        let c = [0.0; DIM];
        let map = prior().diagonal(&factor(), &c, UNIT).unwrap();
        let (_, slope) = map.of_variance(0.4);
        let difference = map.of_variance(0.4 + 1e-5).0 - map.of_variance(0.4 - 1e-5).0;
        assert!((difference / 2e-5 - slope).abs() < 1e-8);
        // sigma2 ~ normal(0, 1.7), by log sigma2.
        let log_prior = |v: f64| v - 0.5 * (v.exp() / 1.7).powi(2);
        let expected = log_prior(0.9) - log_prior(0.2);
        assert!((map.of_variance(0.9).0 - map.of_variance(0.2).0 - expected).abs() < 1e-12);
    }

    #[test]
    fn a_prior_without_spread_is_left_to_the_program() {
        let mut point = prior();
        point.scale[2] = 0.0;
        assert!(point.diagonal(&factor(), &[0.0; DIM], UNIT).is_none());
    }
}
