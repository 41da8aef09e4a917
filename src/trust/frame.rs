//! The rows that the checks look at: their predictors, responses and groups.

use ndarray::ArrayView2;
use rand::seq::index;

use crate::numerics::dot;
use crate::numerics::rng::ChainRng;
use crate::sampler::links::LinkSpace;

/// More rows add nothing to checks that hundreds already decide, but time.
pub(super) const MOST_ROWS: usize = 3000;

/// Rows that can be linked wrongly, whole groups as far as possible.
pub(super) struct Frame {
    /// Places in the data set.
    pub rows: Vec<usize>,
    /// Positions in `rows`, by group.
    pub groups: Vec<Vec<usize>>,
    /// The predictors at these rows, centred and orthonormal; columns without spread are left out. Empty where nothing is
    /// looked at along them.
    pub basis: Vec<Vec<f64>>,
    /// P(wrong) of each row before the fit, where it is known by row.
    pub p_wrong: Option<Vec<f64>>,
}

impl Frame {
    /// None where no row can be linked elsewhere, or the predictors are constant.
    pub fn new(
        x: ArrayView2<f64>,
        space: &LinkSpace,
        most_rows: usize,
        rng: &mut ChainRng,
    ) -> Option<Frame> {
        let mut frame = Frame::without_basis(space, most_rows, rng)?;
        frame.basis = orthonormal(x, &frame.rows);
        (!frame.basis.is_empty()).then_some(frame)
    }

    /// All rows, of which a large file has many; nothing is looked at along their predictors. None where no row can be linked
    /// elsewhere.
    pub fn of_all(space: &LinkSpace, rng: &mut ChainRng) -> Option<Frame> {
        Frame::without_basis(space, usize::MAX, rng)
    }

    fn without_basis(space: &LinkSpace, most_rows: usize, rng: &mut ChainRng) -> Option<Frame> {
        let order = index::sample(rng, space.num_groups(), space.num_groups());
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        for group in order {
            if rows.len() >= most_rows {
                break;
            }
            let members = space.group(group);
            let mut taken: Vec<usize> = if members.len() > most_rows {
                let chosen = index::sample(rng, members.len(), most_rows);
                chosen.into_iter().map(|k| members[k]).collect()
            } else {
                members.to_vec()
            };
            taken.sort_unstable();
            let first = rows.len();
            groups.push((first..first + taken.len()).collect());
            rows.extend(taken);
        }
        if rows.len() < 3 {
            return None;
        }
        let p_wrong: Option<Vec<f64>> = rows
            .iter()
            .map(|&row| space.log_odds(row).map(|odds| 1.0 / (1.0 + (-odds).exp())))
            .collect();
        Some(Frame {
            rows,
            groups,
            basis: Vec::new(),
            p_wrong,
        })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Squared length of `values`, centred, along the predictors, over its variance: as many units as there are
    /// predictors where the two have nothing to do with each other.
    pub fn along_predictors(&self, values: &[f64]) -> f64 {
        let variance = variance(values);
        let squares = self.basis.iter().map(|column| dot(column, values).powi(2));
        ratio(squares.sum(), variance)
    }

    /// The same along one direction, which need not be centred.
    pub fn along(&self, direction: &[f64], values: &[f64]) -> f64 {
        let centre = mean(direction);
        let (mut product, mut square) = (0.0, 0.0);
        for (d, v) in direction.iter().zip(values) {
            product += (d - centre) * v;
            square += (d - centre).powi(2);
        }
        ratio(product * product, square * variance(values))
    }
}

fn ratio(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// 0 where there are none.
pub(super) fn mean_or_zero(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { mean(values) }
}

pub(super) fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / values.len() as f64
}

/// Modified Gram-Schmidt of the centred columns at `rows`.
fn orthonormal(x: ArrayView2<f64>, rows: &[usize]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in x.columns() {
        let mut values: Vec<f64> = rows.iter().map(|&row| column[row]).collect();
        let centre = mean(&values);
        values.iter_mut().for_each(|v| *v -= centre);
        let before = dot(&values, &values).sqrt();
        // Twice, so that columns that are nearly dependent stay orthogonal.
        for _ in 0..2 {
            for known in &basis {
                let along = dot(known, &values);
                values
                    .iter_mut()
                    .zip(known)
                    .for_each(|(v, k)| *v -= along * k);
            }
        }
        let length = dot(&values, &values).sqrt();
        if length > 1e-8 * before && length > 1e-10 * centre.abs() {
            values.iter_mut().for_each(|v| *v /= length);
            basis.push(values);
        }
    }
    basis
}
