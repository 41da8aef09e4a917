//! Coordinates in which predictors and responses have no units: HMC moves there, theta itself stays on the user's scale.

use std::ops::Range;

use ndarray::{Array2, ArrayView2};

use super::{ModelError, StanModel};
use crate::numerics::Spread;

/// theta = A z, which differs from z in the block `beta` alone, response by response: beta_j = u z_j / s_j, and the intercept
/// gives up what the centres add, beta_0 = u z_0 - sum of m_j beta_j. A is constant, so the density of z needs no Jacobian.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardised {
    /// Where `beta` stands in theta.
    beta: Range<usize>,
    /// m_j: the means of the predictors; 0 for the intercept, and everywhere without one, since nothing could take up the shift.
    centres: Vec<f64>,
    /// s_j / u for each response and predictor: the spread of the predictors around these centres (1 for the intercept), in
    /// units u of the response.
    scales: Vec<f64>,
}

impl Standardised {
    /// With one unit for each response, 1 where `beta` is not on its scale. An intercept is the first column of `x`.
    pub fn new(
        model: &StanModel,
        x: ArrayView2<f64>,
        has_intercept: bool,
        units: &[f64],
    ) -> Result<Standardised, ModelError> {
        let possible = Standardised::if_possible(model, x, has_intercept, units)?;
        possible.ok_or_else(|| ModelError::NotStandardised {
            label: model.label().to_string(),
            num_columns: x.ncols(),
        })
    }

    /// None for a program that has no unconstrained `beta` with one value for each predictor and response.
    pub fn if_possible(
        model: &StanModel,
        x: ArrayView2<f64>,
        has_intercept: bool,
        units: &[f64],
    ) -> Result<Option<Standardised>, ModelError> {
        let num_wanted = x.ncols() * units.len();
        let beta = model.plain_block("beta")?;
        let beta = beta.filter(|block| block.len() == num_wanted && num_wanted > 0);
        Ok(beta.map(|beta| Standardised::of_columns(beta, x, has_intercept, units)))
    }

    fn of_columns(
        beta: Range<usize>,
        x: ArrayView2<f64>,
        has_intercept: bool,
        units: &[f64],
    ) -> Standardised {
        let columns = x.columns().into_iter().enumerate();
        let spreads: Vec<Spread> = columns
            .map(|(j, column)| {
                let values = column.iter().copied();
                match (has_intercept, j) {
                    (true, 0) => Spread {
                        centre: 0.0,
                        size: 1.0,
                    },
                    (true, _) => Spread::around_mean(values),
                    (false, _) => Spread::around_zero(values),
                }
            })
            .collect();
        let of_response = |unit: &f64| {
            let unit = *unit;
            spreads.iter().map(move |spread| spread.size / unit)
        };
        Standardised {
            beta,
            centres: spreads.iter().map(|spread| spread.centre).collect(),
            scales: units.iter().flat_map(of_response).collect(),
        }
    }

    /// The predictors around their centres.
    pub(crate) fn centred(&self, x: ArrayView2<f64>) -> Array2<f64> {
        let mut centred = x.to_owned();
        for (mut column, centre) in centred.columns_mut().into_iter().zip(&self.centres) {
            column.mapv_inplace(|value| value - centre);
        }
        centred
    }

    /// The coefficients of `centred` predictors become those of the predictors themselves.
    pub(crate) fn uncentre(&self, beta: &mut [f64]) {
        let shift: f64 = beta.iter().zip(&self.centres).map(|(b, m)| b * m).sum();
        beta[0] -= shift;
    }

    /// The coefficients of one response after the other, with their scales.
    fn blocks<'a>(
        &'a self,
        values: &'a mut [f64],
    ) -> impl Iterator<Item = (&'a mut [f64], &'a [f64])> {
        let size = self.centres.len();
        let blocks = values[self.beta.clone()].chunks_exact_mut(size);
        blocks.zip(self.scales.chunks_exact(size))
    }

    /// z becomes theta.
    pub fn to_theta(&self, position: &mut [f64]) {
        for (beta, scales) in self.blocks(position) {
            for (value, scale) in beta.iter_mut().zip(scales) {
                *value /= scale;
            }
            self.uncentre(beta);
        }
    }

    /// theta becomes z.
    pub fn to_position(&self, theta: &mut [f64]) {
        for (beta, scales) in self.blocks(theta) {
            // The intercept's own centre is 0.
            let shift: f64 = beta.iter().zip(&self.centres).map(|(b, m)| b * m).sum();
            beta[0] += shift;
            for (value, scale) in beta.iter_mut().zip(scales) {
                *value *= scale;
            }
        }
    }

    /// The gradient by theta becomes the gradient by z, A'g.
    pub fn pull_back(&self, gradient: &mut [f64]) {
        for (gradient, scales) in self.blocks(gradient) {
            let by_first = gradient[0];
            let entries = gradient.iter_mut().zip(&self.centres).zip(scales);
            for ((value, centre), scale) in entries {
                *value = (*value - centre * by_first) / scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns far from zero and of different scale; theta has one more entry on either side of beta.
    fn standardised(intercept: bool) -> Standardised {
        let columns = |i: usize| {
            let wave = |k: usize| ((i * k + k) as f64 * 1.3).sin();
            [1.0, 3e3 + 1e3 * wave(1), -5e-2 + 1e-2 * wave(2)]
        };
        let first = usize::from(!intercept);
        let x = Array2::from_shape_fn((30, 3 - first), |(i, j)| columns(i)[j + first]);
        Standardised::of_columns(1..4 - first, x.view(), intercept, &[2.5])
    }

    /// A parabola of theta, for which central differences are exact, and its gradient.
    fn density(theta: &[f64]) -> (f64, Vec<f64>) {
        let terms = theta.iter().enumerate().map(|(k, t)| {
            let (steepness, centre) = (1.0 + k as f64, 0.3 * k as f64 - 0.2);
            let slope = -steepness * (t - centre);
            (0.5 * slope * (t - centre), slope)
        });
        let (values, gradient): (Vec<f64>, Vec<f64>) = terms.unzip();
        (values.iter().sum(), gradient)
    }

    /// The largest difference between the gradient that `pull_back` gives and central differences, relative to its size.
    fn gradient_error(map: &Standardised, pull_back: impl Fn(&Standardised, &mut [f64])) -> f64 {
        let position = &[0.4, 0.3, -0.7, 0.2, 0.9][..map.beta.len() + 2];
        let value = |position: &[f64]| {
            let mut theta = position.to_vec();
            map.to_theta(&mut theta);
            density(&theta)
        };
        let mut gradient = value(position).1;
        pull_back(map, &mut gradient);
        let errors = gradient.iter().enumerate().map(|(k, by_k)| {
            let [above, below] = [0.01, -0.01].map(|step| {
                let mut moved = position.to_vec();
                moved[k] += step;
                value(&moved).0
            });
            ((above - below) / 0.02 - by_k).abs() / by_k.abs().max(1.0)
        });
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn the_gradient_is_that_of_the_standardised_density() {
        for intercept in [true, false] {
            let map = standardised(intercept);
            let error = gradient_error(&map, Standardised::pull_back);
            assert!(error < 1e-8, "intercept {intercept}: {error}");
        }
        let map = standardised(true);
        // A gradient that forgets what centring does to the intercept, and one that forgets the scales.
        let forgets_shift = |map: &Standardised, gradient: &mut [f64]| {
            let block = gradient[map.beta.clone()].iter_mut();
            block.zip(&map.scales).for_each(|(g, scale)| *g /= scale);
        };
        assert!(gradient_error(&map, forgets_shift) > 1e-2);
        assert!(gradient_error(&map, |_, _| {}) > 1e-2);
    }

    #[test]
    fn there_and_back_again() {
        for intercept in [true, false] {
            let map = standardised(intercept);
            let theta = vec![0.3, -1.5, 2.0, 0.7, 0.1];
            let mut there = theta.clone();
            map.to_position(&mut there);
            map.to_theta(&mut there);
            for (a, b) in theta.iter().zip(&there) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }

    #[test]
    fn fitted_values_are_those_of_standardised_predictors() {
        let map = standardised(true);
        // x of one row, and the same row centred and scaled, in units of the response.
        let row = [1.0, 4.2e3, -3e-2];
        let standard: Vec<f64> = (0..3)
            .map(|j| (row[j] - map.centres[j]) / map.scales[j])
            .collect();
        let z = [0.5, 1.5, -2.5];
        let mut theta = vec![9.0, z[0], z[1], z[2], 9.0];
        map.to_theta(&mut theta);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (fitted, wanted) = (dot(&row, &theta[1..4]), dot(&standard, &z));
        assert!((fitted - wanted).abs() < 1e-9, "{fitted} {wanted}");
        assert_eq!((theta[0], theta[4]), (9.0, 9.0));
    }
}
