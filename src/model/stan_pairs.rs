//! Pair likelihoods from the program's own `log_lik`, a row at a time and only for rows that are asked for.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::{Block, ModelError, Outputs, StanModel};
use crate::sampler::links::{CompleteLogLik, PairLogLik};

/// Row i of the pair matrix is `log_lik` with every response set to `y[i]`: one evaluation of the program. Rows with the
/// same response share it, and it is kept until theta changes.
pub struct StanPairs<'m> {
    /// One behind the other where there are several.
    responses: Vec<f64>,
    temperature: f64,
    log_lik: Range<usize>,
    /// Empty before the first.
    theta: Vec<f64>,
    /// log_lik at the identity.
    diagonal: Vec<f64>,
    /// What most rows reach at the identity: a rough yardstick for the others.
    typical: f64,
    /// Where each row's response stands among the different ones.
    level: Vec<usize>,
    /// Counts thetas, so that values of an earlier one are known to be old.
    epoch: u64,
    cache: RefCell<Cache<'m>>,
    error: Cell<Option<ModelError>>,
}

struct Cache<'m> {
    outputs: Outputs<'m>,
    levels: Vec<Level>,
}

/// `log_lik` of all columns at one value of the response.
#[derive(Clone, Default)]
struct Level {
    epoch: u64,
    values: Vec<f64>,
}

impl<'m> StanPairs<'m> {
    /// How many distinct responses the program was evaluated for at the current theta.
    pub fn num_evaluated(&self) -> usize {
        let cache = self.cache.borrow();
        let fresh = |level: &&Level| level.epoch == self.epoch;
        cache.levels.iter().filter(fresh).count()
    }

    pub fn new(
        model: &'m StanModel,
        outputs: Outputs<'m>,
        responses: &[f64],
        temperature: f64,
    ) -> Result<StanPairs<'m>, ModelError> {
        let num_rows = model.shape().rows;
        let found = model.index_of("log_lik").map(|(range, _)| range);
        let log_lik = found
            .filter(|range| range.len() == num_rows)
            .ok_or_else(|| ModelError::Family {
                label: model.label().to_string(),
                what: "`vector[N] log_lik` in `generated quantities` (untempered, one entry for each row)".into(),
            })?;
        let (level, num_levels) = levels(responses, num_rows);
        Ok(StanPairs {
            level,
            responses: responses.to_vec(),
            temperature,
            log_lik,
            theta: Vec::new(),
            diagonal: vec![0.0; num_rows],
            typical: 0.0,
            epoch: 0,
            cache: RefCell::new(Cache {
                outputs,
                levels: vec![Level::default(); num_levels],
            }),
            error: Cell::new(None),
        })
    }

    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// `log_lik` with every link as it is in the file.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Moves to a theta. One that did not change, because Step 1 rejected, keeps all that was computed.
    pub fn update(&mut self, theta: &[f64]) -> Result<(), ModelError> {
        if self.epoch > 0 && self.theta == theta {
            return Ok(());
        }
        let outputs = &mut self.cache.get_mut().outputs;
        let values = outputs.evaluate(theta, &self.responses, Block::GeneratedQuantities)?;
        self.diagonal.copy_from_slice(&values[self.log_lik.clone()]);
        let mut sorted = self.diagonal.clone();
        let middle = sorted.len() / 2;
        self.typical = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
        self.theta.clear();
        self.theta.extend_from_slice(theta);
        self.epoch += 1;
        Ok(())
    }

    /// `log_lik` of the response of `row` at the predictors of `column`, not tempered.
    pub(super) fn log_density(&self, row: usize, column: usize) -> f64 {
        if row == column {
            return self.diagonal[row];
        }
        let cache = &mut *self.cache.borrow_mut();
        let level = &mut cache.levels[self.level[row]];
        if level.epoch != self.epoch {
            let evaluated = cache
                .outputs
                .evaluate_constant(&self.theta, &self.responses, row);
            level.values.clear();
            match evaluated {
                Ok(values) => level
                    .values
                    .extend_from_slice(&values[self.log_lik.clone()]),
                Err(error) => {
                    self.error.set(Some(error));
                    level.values.resize(self.diagonal.len(), f64::NEG_INFINITY);
                }
            }
            level.epoch = self.epoch;
        }
        level.values[column]
    }

    /// A failed evaluation inside `pair`, which itself cannot fail.
    pub fn take_error(&self) -> Option<ModelError> {
        self.error.take()
    }
}

/// Rows with the same responses have the same level, counted from 0; and how many levels there are.
fn levels(responses: &[f64], num_rows: usize) -> (Vec<usize>, usize) {
    let of = |row: usize| responses.iter().skip(row).step_by(num_rows);
    let mut rows: Vec<usize> = (0..num_rows).collect();
    rows.sort_by(|&i, &j| of(i).partial_cmp(of(j)).expect("responses are numbers"));
    let mut level = vec![0; num_rows];
    let mut num_levels = 0;
    for same in rows.chunk_by(|&i, &j| of(i).eq(of(j))) {
        same.iter().for_each(|&row| level[row] = num_levels);
        num_levels += 1;
    }
    (level, num_levels)
}

impl PairLogLik for StanPairs<'_> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn pair(&self, row: usize, column: usize) -> f64 {
        self.temperature * self.log_density(row, column)
    }

    /// A mislinked response fits its row worse than most do. Three below the typical log density counts as even odds.
    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.temperature * (self.typical - 3.0 - self.diagonal[row])
    }
}

impl CompleteLogLik for StanPairs<'_> {
    fn complete(&self, row: usize, column: usize) -> f64 {
        self.pair(row, column)
    }
}
