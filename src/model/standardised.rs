//! Coordinates in which the predictors are centred and scaled: HMC moves there, theta itself stays on the user's scale.

use std::ops::Range;

use super::{ModelError, StanModel};
use crate::data::{Dataset, INTERCEPT};

/// theta = A z, which differs from z in the block `beta` alone: beta_j = z_j / s_j, and the intercept gives up what the
/// centres add, beta_0 = z_0 - sum of m_j z_j / s_j. A is constant, so the density of z needs no Jacobian.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardised {
    /// Where `beta` stands in theta.
    beta: Range<usize>,
    /// m_j: the means of the predictors; 0 for the intercept, and everywhere without one, since nothing could take up the shift.
    centres: Vec<f64>,
    /// s_j: the spread of the predictors around these centres; 1 for the intercept.
    scales: Vec<f64>,
}

impl Standardised {
    pub fn new(model: &StanModel, data: &Dataset) -> Result<Standardised, ModelError> {
        let num_columns = data.x.ncols();
        let beta = model.plain_block("beta")?;
        let beta = beta.filter(|block| block.len() == num_columns);
        let beta = beta.ok_or_else(|| ModelError::NotStandardised {
            label: model.label().to_string(),
            num_columns,
        })?;
        Ok(Standardised::of_columns(beta, data))
    }

    fn of_columns(beta: Range<usize>, data: &Dataset) -> Standardised {
        let has_intercept = data.predictor_names.first().map(String::as_str) == Some(INTERCEPT);
        let num_rows = data.num_rows() as f64;
        let columns = data.x.columns().into_iter().enumerate();
        let (centres, scales) = columns
            .map(|(j, column)| match (has_intercept, j) {
                (true, 0) => (0.0, 1.0),
                _ => {
                    let centre = if has_intercept {
                        column.sum() / num_rows
                    } else {
                        0.0
                    };
                    let square: f64 = column.iter().map(|x| (x - centre).powi(2)).sum();
                    let scale = (square / num_rows).sqrt();
                    // A column without spread has no scale to offer.
                    (centre, if scale > 0.0 { scale } else { 1.0 })
                }
            })
            .unzip();
        Standardised {
            beta,
            centres,
            scales,
        }
    }

    /// z becomes theta.
    pub fn to_theta(&self, position: &mut [f64]) {
        let beta = &mut position[self.beta.clone()];
        let mut shift = 0.0;
        for ((value, centre), scale) in beta.iter_mut().zip(&self.centres).zip(&self.scales) {
            *value /= scale;
            shift += centre * *value;
        }
        beta[0] -= shift;
    }

    /// theta becomes z.
    pub fn to_position(&self, theta: &mut [f64]) {
        let beta = &mut theta[self.beta.clone()];
        let mut shift = 0.0;
        for ((value, centre), scale) in beta.iter_mut().zip(&self.centres).zip(&self.scales) {
            shift += centre * *value;
            *value *= scale;
        }
        // Centres other than 0 come with an intercept, whose scale is 1.
        beta[0] += shift;
    }

    /// The gradient by theta becomes the gradient by z, A'g.
    pub fn pull_back(&self, gradient: &mut [f64]) {
        let gradient = &mut gradient[self.beta.clone()];
        let by_first = gradient[0];
        for ((value, centre), scale) in gradient.iter_mut().zip(&self.centres).zip(&self.scales) {
            *value = (*value - centre * by_first) / scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Columns far from zero and of different scale; theta has one more entry on either side of beta.
    fn standardised(intercept: bool) -> Standardised {
        let columns = |i: usize| {
            let wave = |k: usize| ((i * k + k) as f64 * 1.3).sin();
            [1.0, 3e3 + 1e3 * wave(1), -5e-2 + 1e-2 * wave(2)]
        };
        let first = usize::from(!intercept);
        let x = Array2::from_shape_fn((30, 3 - first), |(i, j)| columns(i)[j + first]);
        let names = [INTERCEPT, "large", "small"].map(String::from);
        let data = Dataset::new(names[first..].to_vec(), x, vec![0.0; 30]);
        Standardised::of_columns(1..4 - first, &data)
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
        // x of one row, and the same row centred and scaled.
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
