//! What the draws say of each row's link: P(moved), likely partners, the posterior mean of the permutation matrix.

mod files;
mod row_numbers;

use std::collections::HashSet;
use std::path::Path;

use crate::posterior::Folder;
use crate::posterior::diagnostics::{Finding, Worst, ess_mean};
use crate::posterior::draws::{ChainDraws, DrawsError, LinkDraws, MovedRow, read_links};
use crate::sampler::links::OUTSIDE;

pub use row_numbers::{PlaceNames, RowNumbers};

/// A smaller difference between chains in one row's P(moved) is not worth a word...
const DISAGREEMENT: f64 = 0.1;
/// ...and a larger one must exceed this many standard errors: a large file has many rows to be unlucky with.
const STANDARD_ERRORS: f64 = 5.0;

/// Counts over all saved draws. Rows and columns are places in the data set here, numbers of the user's file in files.
#[derive(Debug, Clone)]
pub struct LinksSummary {
    rows: RowNumbers,
    num_draws: usize,
    /// What is told of a row is counted when it is asked for: a large file has many pairs.
    chains: Vec<LinkDraws>,
}

/// One row's posterior, as in rows.csv.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLinks {
    /// The probability that the link is wrong.
    pub p_moved: f64,
    /// The part of it that the response belongs to nobody in the file.
    pub p_outside: f64,
    /// Rows of X with their probabilities, the row's own included, most probable first.
    pub partners: Vec<(usize, f64)>,
}

impl LinksSummary {
    /// None where the fit has no draws. Every chain must have its links file.
    pub fn read(
        folder: &Path,
        chains: &[ChainDraws],
        rows: RowNumbers,
    ) -> Result<Option<LinksSummary>, DrawsError> {
        if chains.is_empty() {
            return Ok(None);
        }
        let mut links = Vec::with_capacity(chains.len());
        for chain in chains {
            let path = Folder::new(folder).links(chain.chain);
            let moved = read_links(&path)?;
            for (index, link) in moved.iter().enumerate() {
                let (row, to) = (link.row, link.linked_to);
                let ends = [(row, rows.place(row)), (to, rows.column(to))];
                if let Some((unknown, _)) = ends.iter().find(|(_, place)| place.is_none()) {
                    let what = format!(
                        "row {unknown} is not among the {} rows of the data",
                        rows.num_rows()
                    );
                    // Below the header, counted from 1.
                    let line = index + 2;
                    return Err(DrawsError::Malformed { path, line, what });
                }
            }
            links.push((chain.num_draws(), moved));
        }
        Ok(Some(LinksSummary::count(&links, rows)))
    }

    /// `links` are the number of draws and the moved rows of each chain; every number is one of `rows`.
    pub(crate) fn count(links: &[(usize, Vec<MovedRow>)], rows: RowNumbers) -> LinksSummary {
        let place = |number: usize| rows.place(number).expect("checked when read");
        let chains = links.iter().map(|(num_draws, moved)| {
            // A killed process may have written the links of a draw that its other file lacks.
            let moved = moved.iter().filter(|link| link.draw <= *num_draws);
            let column = |number: usize| rows.column(number).expect("checked when read");
            let moved = moved.map(|link| (link.draw - 1, place(link.row), column(link.linked_to)));
            LinkDraws::from_moved(rows.num_rows(), *num_draws, moved)
        });
        let chains = chains.collect();
        LinksSummary::of(chains, rows)
    }

    /// The summary of the links of each chain.
    pub fn of(chains: Vec<LinkDraws>, rows: RowNumbers) -> LinksSummary {
        LinksSummary {
            num_draws: chains.iter().map(LinkDraws::num_draws).sum(),
            chains,
            rows,
        }
    }

    /// The links of every draw, one entry for each chain.
    pub fn chains(&self) -> &[LinkDraws] {
        &self.chains
    }

    /// The row of the file that `row` is most often linked to; of equals the first, and its own where there is none.
    pub fn best(&self, row: usize) -> usize {
        let partners = self.row(row).partners;
        partners.first().map_or(row, |(column, _)| *column)
    }

    /// The numbers and names of rows and places.
    pub fn numbers(&self) -> &RowNumbers {
        &self.rows
    }

    /// How many rows the data have.
    pub fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    /// The links of one row, by its place in the data.
    pub fn row(&self, row: usize) -> RowLinks {
        let total = self.num_draws.max(1) as f64;
        let others = self.partners(row);
        let num_moved: usize = others.iter().map(|(_, count)| count).sum();
        let num_outside = others.iter().find(|(column, _)| *column == OUTSIDE);
        let mut partners: Vec<(usize, f64)> = others
            .iter()
            .map(|(column, count)| (*column, *count as f64 / total))
            .chain([(row, (self.num_draws - num_moved) as f64 / total)])
            .filter(|(column, probability)| *probability > 0.0 && *column != OUTSIDE)
            .collect();
        partners.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        RowLinks {
            p_moved: num_moved as f64 / total,
            p_outside: num_outside.map_or(0.0, |(_, n)| *n as f64 / total),
            partners,
        }
    }

    /// The links of all rows; of a large file the most probable partners alone, which are what a person looks at.
    pub fn rows_to_show(&self) -> Vec<RowLinks> {
        const LARGE_FILE: usize = 10_000;
        const MOST_PARTNERS: usize = 20;
        let rows = (0..self.num_rows()).map(|row| self.row(row));
        let shown = |mut row: RowLinks| {
            if self.num_rows() > LARGE_FILE {
                row.partners.truncate(MOST_PARTNERS);
                row.partners.shrink_to_fit();
            }
            row
        };
        rows.map(shown).collect()
    }

    /// How often a row was linked to each other row, or to `OUTSIDE`, in the order of these.
    fn partners(&self, row: usize) -> Vec<(usize, usize)> {
        let columns = self.chains.iter().flat_map(|links| links.row(row));
        let mut columns: Vec<usize> = columns.map(|(_, column)| column).collect();
        columns.sort_unstable();
        let runs = columns.chunk_by(|a, b| a == b);
        runs.map(|run| (run[0], run.len())).collect()
    }

    /// The rows and columns that are linked in so many draws.
    pub fn frequent(&self, num_draws: f64) -> HashSet<(usize, usize)> {
        let frequent = |row: usize| {
            let partners = self.partners(row).into_iter();
            let frequent = partners.filter(|(_, count)| *count as f64 >= num_draws);
            frequent
                .map(move |(column, _)| (row, column))
                .collect::<Vec<_>>()
        };
        (0..self.num_rows()).flat_map(frequent).collect()
    }

    /// P(moved) of one row in each chain; not a number for a chain without draws.
    pub fn share_by_chain(&self, row: usize) -> Vec<f64> {
        let share = |links: &LinkDraws| links.row(row).len() as f64 / links.num_draws() as f64;
        self.chains.iter().map(share).collect()
    }

    /// Rows on which the chains disagree: P(moved) differs, and by more than their own mixing explains.
    pub fn findings(&self) -> Option<Finding> {
        let lengths = self.chains.iter().map(LinkDraws::num_draws);
        let shortest = lengths.min().unwrap_or(0);
        if shortest < 4 || self.chains.len() < 2 {
            return None;
        }
        let differing = (0..self.num_rows()).filter_map(|row| {
            let shares = self.share_by_chain(row);
            let share = |chain: usize| shares[chain];
            let chains = 0..self.chains.len();
            let low = chains
                .clone()
                .min_by(|a, b| share(*a).total_cmp(&share(*b)))?;
            let high = chains.max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
            let difference = share(high) - share(low);
            if difference <= DISAGREEMENT {
                return None;
            }
            let ess = |chain: usize| ess_mean(&[&self.indicator(chain, row)]);
            // A chain that never changed its mind has no ESS of its own.
            let least = [low, high]
                .into_iter()
                .filter_map(ess)
                .fold(shortest as f64, f64::min);
            let pooled = (share(low) + share(high)) / 2.0;
            let standard_error = (pooled * (1.0 - pooled) * 2.0 / least).sqrt();
            let disagree = difference > STANDARD_ERRORS * standard_error;
            disagree.then(|| (format!("row {}", self.rows.number(row)), difference))
        });
        Worst::above(DISAGREEMENT, differing.collect::<Vec<_>>()).map(Finding::LinksDisagree)
    }

    /// 1 in the draws of `chain` in which `row` was moved, else 0.
    fn indicator(&self, chain: usize, row: usize) -> Vec<f64> {
        let links = &self.chains[chain];
        let mut indicator = vec![0.0; links.num_draws()];
        for (draw, _) in links.row(row) {
            indicator[draw] = 1.0;
        }
        indicator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(draw: usize, row: usize, linked_to: usize) -> MovedRow {
        MovedRow {
            draw,
            row,
            linked_to,
        }
    }

    #[test]
    fn counts_partners_and_moves() {
        let chains = [
            (
                2,
                vec![
                    moved(1, 1, 2),
                    moved(1, 2, 1),
                    moved(2, 1, 3),
                    moved(2, 3, 1),
                ],
            ),
            (2, vec![moved(2, 1, 2), moved(2, 2, 1)]),
        ];
        let summary = LinksSummary::count(&chains, RowNumbers::new(&[1, 2, 3]));
        let first = summary.row(0);
        assert_eq!(first.p_moved, 0.75);
        assert_eq!(first.partners, [(1, 0.5), (0, 0.25), (2, 0.25)]);
        assert_eq!(summary.share_by_chain(0), [1.0, 0.5]);
    }

    #[test]
    fn a_response_from_outside_is_wrong_and_has_no_partner() {
        let links = vec![moved(1, 1, 0), moved(2, 1, 2), moved(2, 2, 0)];
        let summary = LinksSummary::count(&[(4, links)], RowNumbers::new(&[1, 2]));
        let [first, second] = [summary.row(0), summary.row(1)];
        assert_eq!((first.p_moved, first.p_outside), (0.5, 0.25));
        assert_eq!(first.partners, [(0, 0.5), (1, 0.25)]);
        assert_eq!((second.p_moved, second.p_outside), (0.25, 0.25));
        let always = vec![moved(1, 1, 0)];
        let summary = LinksSummary::count(&[(1, always)], RowNumbers::new(&[1, 2]));
        assert_eq!(summary.best(0), 0);
    }

    #[test]
    fn chains_that_disagree_on_a_row_are_found() {
        let always = (1..=100)
            .flat_map(|d| [moved(d, 1, 2), moved(d, 2, 1)])
            .collect();
        let never = Vec::new();
        let numbers = RowNumbers::new(&[1, 2, 3]);
        let summary = LinksSummary::count(&[(100, always), (100, never)], numbers.clone());
        let finding = summary.findings().unwrap().to_string();
        assert!(finding.contains("row 1 (1.00), row 2 (1.00)"), "{finding}");
        let same: Vec<MovedRow> = (1..=100)
            .filter(|d| d % 3 == 0)
            .flat_map(|d| [moved(d, 1, 2), moved(d, 2, 1)])
            .collect();
        let summary = LinksSummary::count(&[(100, same.clone()), (100, same)], numbers);
        assert_eq!(summary.findings(), None);
    }
}
