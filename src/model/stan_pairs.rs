//! Pair likelihoods from the program's own `log_lik`, a row at a time and only for rows that are asked for.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::{Block, ModelError, Outputs, StanModel};
use crate::permutation::PairLogLik;

/// Row i of the pair matrix is `log_lik` with every response set to y[i]: one evaluation of the program.
pub struct StanPairs<'m> {
    /// One behind the other where there are several.
    responses: Vec<f64>,
    temperature: f64,
    log_lik: Range<usize>,
    theta: Vec<f64>,
    /// log_lik at the identity.
    diagonal: Vec<f64>,
    /// What most rows reach at the identity: a rough yardstick for the others.
    typical: f64,
    /// Counts thetas, so that rows of an earlier one are known to be old.
    epoch: u64,
    cache: RefCell<Cache<'m>>,
    error: Cell<Option<ModelError>>,
}

struct Cache<'m> {
    outputs: Outputs<'m>,
    rows: Vec<Row>,
}

#[derive(Clone, Default)]
struct Row {
    epoch: u64,
    values: Vec<f64>,
}

impl<'m> StanPairs<'m> {
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
        Ok(StanPairs {
            responses: responses.to_vec(),
            temperature,
            log_lik,
            theta: Vec::new(),
            diagonal: vec![0.0; num_rows],
            typical: 0.0,
            epoch: 0,
            cache: RefCell::new(Cache {
                outputs,
                rows: vec![Row::default(); num_rows],
            }),
            error: Cell::new(None),
        })
    }

    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    pub fn update(&mut self, theta: &[f64]) -> Result<(), ModelError> {
        self.theta.clear();
        self.theta.extend_from_slice(theta);
        self.epoch += 1;
        let outputs = &mut self.cache.get_mut().outputs;
        let values = outputs.evaluate(theta, &self.responses, Block::GeneratedQuantities)?;
        self.diagonal.copy_from_slice(&values[self.log_lik.clone()]);
        let mut sorted = self.diagonal.clone();
        let middle = sorted.len() / 2;
        self.typical = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
        Ok(())
    }

    /// A failed evaluation inside `pair`, which itself cannot fail.
    pub fn take_error(&self) -> Option<ModelError> {
        self.error.take()
    }
}

impl PairLogLik for StanPairs<'_> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn pair(&self, row: usize, column: usize) -> f64 {
        let cache = &mut *self.cache.borrow_mut();
        let entry = &mut cache.rows[row];
        if entry.epoch != self.epoch {
            match cache
                .outputs
                .evaluate_constant(&self.theta, &self.responses, row)
            {
                Ok(values) => {
                    entry.values.clear();
                    entry
                        .values
                        .extend_from_slice(&values[self.log_lik.clone()]);
                }
                Err(error) => {
                    self.error.set(Some(error));
                    entry.values.clear();
                    entry.values.resize(self.diagonal.len(), f64::NEG_INFINITY);
                }
            }
            entry.epoch = self.epoch;
        }
        self.temperature * entry.values[column]
    }

    /// A mislinked response fits its row worse than most do. Three below the typical log density counts as even odds.
    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.temperature * (self.typical - 3.0 - self.diagonal[row])
    }
}
