//! Labels of a clerical review: which pairs belong together, and which do not.

use std::collections::HashMap;
use std::path::Path;

use super::super::DataError;
use super::super::cell::{self, Number};
use super::super::table::Table;
use super::LabelNotes;
use super::ids::Records;
use super::pairs::{Pair, refuse_twice};

/// Names of the column of labels; the first is splink's.
const SCORES: [&str; 3] = ["clerical_match_score", "label", "match"];

/// The pairs that were checked.
#[derive(Default)]
pub(super) struct Labels {
    is_right: HashMap<(usize, usize), bool>,
    /// The right partners, of rows of the left and of the right file.
    of_left: HashMap<usize, usize>,
    of_right: HashMap<usize, usize>,
    num_undecided: usize,
}

impl Labels {
    pub(super) fn read(path: &Path, records: &Records) -> Result<Labels, DataError> {
        const KEY: &str = "data.links.labels";
        let table = Table::read(path, KEY)?;
        if table.rows.is_empty() {
            return Err(DataError::NoLabels { file: table.file });
        }
        let sides = records.sides(&table, KEY)?;
        let score = SCORES.iter().find_map(|name| table.position(name));
        let score = score.map_or_else(|| table.column(SCORES[0], KEY), Ok)?;
        let mut labels = Labels::default();
        let mut lines = HashMap::new();
        for row in 0..table.rows.len() {
            let pair = records.find(&table, row, sides)?;
            refuse_twice(&table, &mut lines, pair, row, sides.left)?;
            match read_label(&table, row, score)? {
                None => labels.num_undecided += 1,
                Some(is_right) => {
                    labels.is_right.insert(pair, is_right);
                    if is_right && !labels.link(pair) {
                        let fix = "a record has one partner, but the labels give it another one, too, so correct one of them";
                        return Err(table.bad_value(row, sides.left, fix));
                    }
                }
            }
        }
        Ok(labels)
    }

    /// Notes a right pair, unless one of its records has another partner.
    fn link(&mut self, (left, right): (usize, usize)) -> bool {
        let known = self.of_left.insert(left, right).is_some();
        let known = self.of_right.insert(right, left).is_some() || known;
        !known
    }

    /// The links that the labels make.
    pub(super) fn links(&self) -> impl Iterator<Item = (usize, usize)> {
        self.of_left.iter().map(|(&left, &right)| (left, right))
    }

    pub(super) fn is_right(&self, pair: (usize, usize)) -> bool {
        self.is_right.get(&pair) == Some(&true)
    }

    /// Whether a pair may still be one, though no label links its records.
    pub(super) fn allow(&self, pair: &Pair) -> bool {
        self.truth((pair.left, pair.right)).is_none()
    }

    /// What the labels say of a pair: a record whose partner is known belongs to nobody else.
    fn truth(&self, (left, right): (usize, usize)) -> Option<bool> {
        let own = self.is_right.get(&(left, right)).copied();
        let elsewhere = self.of_left.contains_key(&left) || self.of_right.contains_key(&right);
        own.or(elsewhere.then_some(false))
    }

    /// `picked` are the links without the labels.
    pub(super) fn notes(&self, picked: &[(usize, usize)]) -> LabelNotes {
        let num_right = self.is_right.values().filter(|right| **right).count();
        let truths: Vec<bool> = picked.iter().filter_map(|link| self.truth(*link)).collect();
        LabelNotes {
            num_right,
            num_wrong: self.is_right.len() - num_right,
            num_undecided: self.num_undecided,
            checked: truths.len(),
            wrong: truths.iter().filter(|right| !**right).count(),
        }
    }
}

/// None where the reviewer was undecided.
fn read_label(table: &Table, row: usize, column: usize) -> Result<Option<bool>, DataError> {
    let text = table.cell(row, column);
    if let Some(label) = cell::yes_or_no(text) {
        return Ok(Some(label));
    }
    match cell::number(text) {
        Number::Value(0.0) => Ok(Some(false)),
        Number::Value(1.0) => Ok(Some(true)),
        Number::Value(value) if value > 0.0 && value < 1.0 => Ok(None),
        _ => Err(table.bad_value(
            row,
            column,
            "write 1 where the pair belongs together and 0 where not",
        )),
    }
}
