//! Finds a column of the design matrix that depends linearly on the ones before it.

use ndarray::{ArrayView1, ArrayView2};

use crate::numerics::dot;

/// A column whose part that is orthogonal to the earlier ones is smaller than this, relative to its own spread, is
/// dependent: its coefficient would be determined by rounding.
const TOLERANCE: f64 = 1e-8;

/// Coefficients below this, relative to the largest, are rounding and name no column.
const NEGLIGIBLE: f64 = 1e-6;

#[derive(Debug, PartialEq)]
pub(super) struct Dependence {
    pub(super) column: usize,
    pub(super) on: Vec<usize>,
    /// Whether the constant is part of it too.
    pub(super) on_intercept: bool,
}

/// A predictor, as center + scale * direction with a direction of length 1.
struct Standardised {
    center: f64,
    scale: f64,
    direction: Vec<f64>,
}

/// The first column of `x` (without the intercept) that depends on earlier ones and, with an intercept, the constant.
///
/// Modified Gram-Schmidt, done twice for each column, on the columns themselves: a Gram matrix would lose half of the
/// digits and with them dependences near the tolerance.
pub(super) fn find(x: ArrayView2<f64>, with_intercept: bool) -> Option<Dependence> {
    let mut columns: Vec<Standardised> = Vec::with_capacity(x.ncols());
    // Row k of column j: the component of column j along basis vector k, for k <= j.
    let mut triangle: Vec<Vec<f64>> = Vec::with_capacity(x.ncols());
    for j in 0..x.ncols() {
        let mut column = standardise(x.column(j), with_intercept);
        let mut components = vec![0.0; j];
        for _ in 0..2 {
            for (component, earlier) in components.iter_mut().zip(&columns) {
                let along = dot(&earlier.direction, &column.direction);
                *component += along;
                for (value, basis) in column.direction.iter_mut().zip(&earlier.direction) {
                    *value -= along * basis;
                }
            }
        }
        let rest = dot(&column.direction, &column.direction).sqrt();
        if rest < TOLERANCE {
            return Some(describe(
                j,
                &column,
                &columns,
                &triangle,
                components,
                with_intercept,
            ));
        }
        column.direction.iter_mut().for_each(|value| *value /= rest);
        components.push(rest);
        triangle.push(components);
        columns.push(column);
    }
    None
}

fn standardise(column: ArrayView1<f64>, centered: bool) -> Standardised {
    let mut center = 0.0;
    if centered {
        center = column.sum() / column.len() as f64;
        // A second pass: the error of the first is not small beside the spread of a column far from zero.
        center += column.iter().map(|value| value - center).sum::<f64>() / column.len() as f64;
    }
    let mut direction: Vec<f64> = column.iter().map(|value| value - center).collect();
    let largest = direction
        .iter()
        .fold(0.0f64, |max, value| max.max(value.abs()));
    direction.iter_mut().for_each(|value| *value /= largest);
    let length = dot(&direction, &direction).sqrt();
    direction.iter_mut().for_each(|value| *value /= length);
    Standardised {
        center,
        scale: largest * length,
        direction,
    }
}

/// Solves for the coefficients of the earlier columns, to name those that matter.
fn describe(
    column: usize,
    dependent: &Standardised,
    earlier: &[Standardised],
    triangle: &[Vec<f64>],
    mut coefficients: Vec<f64>,
    with_intercept: bool,
) -> Dependence {
    for j in (0..column).rev() {
        coefficients[j] /= triangle[j][j];
        for k in 0..j {
            coefficients[k] -= triangle[j][k] * coefficients[j];
        }
    }
    let largest = coefficients.iter().fold(0.0f64, |max, c| max.max(c.abs()));
    let on: Vec<usize> = (0..column)
        .filter(|&k| coefficients[k].abs() > NEGLIGIBLE * largest)
        .collect();

    let explained: Vec<f64> = on
        .iter()
        .map(|&k| coefficients[k] * dependent.scale / earlier[k].scale * earlier[k].center)
        .collect();
    let constant = dependent.center - explained.iter().sum::<f64>();
    let size = dependent.center.abs() + explained.iter().map(|part| part.abs()).sum::<f64>();
    Dependence {
        column,
        on,
        on_intercept: with_intercept && constant.abs() > NEGLIGIBLE * size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, s};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn noise(rows: usize, columns: usize) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        Array2::from_shape_simple_fn((rows, columns), || rng.random_range(-1.0..1.0))
    }

    fn dependence(column: usize, on: &[usize], on_intercept: bool) -> Option<Dependence> {
        Some(Dependence {
            column,
            on: on.to_vec(),
            on_intercept,
        })
    }

    #[test]
    fn exact_dependences_are_found_and_named() {
        let mut x = noise(200, 5);
        for mut row in x.rows_mut() {
            row[3] = 2.0 * row[0] - 1e4 * row[2];
        }
        assert_eq!(find(x.view(), false), dependence(3, &[0, 2], false));
        assert_eq!(find(x.view(), true), dependence(3, &[0, 2], false));
    }

    #[test]
    fn dummies_that_add_up_to_one_depend_on_the_intercept() {
        let mut x = noise(90, 4);
        for (i, mut row) in x.rows_mut().into_iter().enumerate() {
            for group in 0..3 {
                row[group + 1] = if i % 3 == group { 1.0 } else { 0.0 };
            }
        }
        assert_eq!(find(x.view(), true), dependence(3, &[1, 2], true));
        assert_eq!(find(x.view(), false), None);
    }

    #[test]
    fn dependences_blurred_at_the_ninth_digit_are_found_and_at_the_sixth_are_not() {
        for (blur, found) in [(1e-9, dependence(2, &[0, 1], false)), (1e-6, None)] {
            let mut x = noise(500, 4);
            for mut row in x.rows_mut() {
                row[2] = row[0] + row[1] + blur * row[3];
            }
            // The blur itself is not a predictor: with it the dependence would be exact.
            let x = x.slice(s![.., ..3]);
            assert_eq!(find(x, true), found);
            assert_eq!(find(x, false), found);
        }
    }

    #[test]
    fn different_scales_and_means_are_not_dependences() {
        let mut x = noise(300, 4);
        for mut row in x.rows_mut() {
            row[0] *= 1e6;
            row[1] *= 1e-6;
            row[2] += 1e6;
            row[3] = 2000.0 + 10.0 * row[3];
        }
        assert_eq!(find(x.view(), true), None);
        assert_eq!(find(x.view(), false), None);
    }

    #[test]
    fn a_dependence_far_from_zero_is_found() {
        let mut x = noise(300, 3);
        for mut row in x.rows_mut() {
            row[0] += 1e6;
            row[1] -= 1e6;
            row[2] = row[0] + 0.5 * row[1];
        }
        let found = find(x.view(), true).unwrap();
        assert_eq!((found.column, found.on), (2, vec![0, 1]));
    }

    #[test]
    fn polynomials_of_a_year_are_not_dependences() {
        let x = Array2::from_shape_fn((40, 3), |(i, j)| (1980.0 + i as f64).powi(j as i32 + 1));
        assert_eq!(find(x.view(), true), None);
    }
}
