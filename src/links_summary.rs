//! What the draws say of each row's link: P(moved), likely partners, the posterior mean of the permutation matrix.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::diagnostics::{Finding, Worst, ess_mean};
use crate::draws::{ChainDraws, DrawsError, MovedRow, format_float, read_links};

/// Partners listed in rows.csv, the best one included.
const NUM_PARTNERS: usize = 3;
/// A smaller difference between chains in one row's P(moved) is not worth a word...
const DISAGREEMENT: f64 = 0.1;
/// ...and a larger one must exceed this many standard errors: a large file has many rows to be unlucky with.
const STANDARD_ERRORS: f64 = 5.0;

/// Counts over all saved draws. Rows and columns count from 0 here, from 1 in files.
#[derive(Debug, Clone)]
pub struct LinksSummary {
    num_draws: usize,
    /// For each row: how often it was linked to each other row.
    partners: Vec<BTreeMap<usize, usize>>,
    /// For each chain and row: the draws in which it was moved.
    moved_draws: Vec<Vec<Vec<usize>>>,
    chain_lengths: Vec<usize>,
}

/// One row's posterior, as in rows.csv.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLinks {
    pub p_moved: f64,
    /// Rows of X with their probabilities, the row's own included, most probable first.
    pub partners: Vec<(usize, f64)>,
}

/// What rows.csv says of each row besides its links.
#[derive(Debug, Clone, Copy)]
pub struct RowValues<'a> {
    /// The user's names of the rows.
    pub ids: Option<&'a [String]>,
    pub response: &'a [f64],
    /// What the predictors of each row predict, where the program has coefficients.
    pub fitted: Option<&'a [f64]>,
}

impl LinksSummary {
    /// None where the fit has no draws, or no links files because every link stayed as it was.
    pub fn read(
        folder: &Path,
        chains: &[ChainDraws],
        num_rows: usize,
    ) -> Result<Option<LinksSummary>, DrawsError> {
        if chains.is_empty() {
            return Ok(None);
        }
        let mut links = Vec::with_capacity(chains.len());
        for chain in chains {
            let path = folder.join(format!("links_{}.csv", chain.chain));
            if !path.exists() {
                return Ok(None);
            }
            let moved = read_links(&path)?;
            if let Some(bad) = moved.iter().find(|m| m.row.max(m.linked_to) > num_rows) {
                return Err(DrawsError::Malformed {
                    path,
                    line: 1,
                    what: format!(
                        "row {} is not among the {num_rows} rows of the data",
                        bad.row
                    ),
                });
            }
            links.push((chain.num_draws(), moved));
        }
        Ok(Some(LinksSummary::count(&links, num_rows)))
    }

    /// From saved files alone: rows.csv has one line for each row of the data.
    pub fn read_saved(
        folder: &Path,
        chains: &[ChainDraws],
    ) -> Result<Option<LinksSummary>, DrawsError> {
        let path = folder.join("rows.csv");
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|source| DrawsError::Read { path, source })?;
        let num_rows = csv::Reader::from_reader(text.as_bytes()).records().count();
        LinksSummary::read(folder, chains, num_rows)
    }

    pub(crate) fn count(links: &[(usize, Vec<MovedRow>)], num_rows: usize) -> LinksSummary {
        let mut summary = LinksSummary {
            num_draws: links.iter().map(|(num_draws, _)| num_draws).sum(),
            partners: vec![BTreeMap::new(); num_rows],
            moved_draws: vec![vec![Vec::new(); num_rows]; links.len()],
            chain_lengths: links.iter().map(|(num_draws, _)| *num_draws).collect(),
        };
        for (moved_draws, (num_draws, moved)) in summary.moved_draws.iter_mut().zip(links) {
            // A killed process may have written the links of a draw that its other file lacks.
            for link in moved.iter().filter(|link| link.draw <= *num_draws) {
                let row = link.row - 1;
                *summary.partners[row].entry(link.linked_to - 1).or_insert(0) += 1;
                moved_draws[row].push(link.draw - 1);
            }
        }
        summary
    }

    pub fn num_rows(&self) -> usize {
        self.partners.len()
    }

    pub fn row(&self, row: usize) -> RowLinks {
        let total = self.num_draws.max(1) as f64;
        let others = &self.partners[row];
        let num_moved: usize = others.values().sum();
        let mut partners: Vec<(usize, f64)> = others
            .iter()
            .map(|(column, count)| (*column, *count as f64 / total))
            .chain([(row, (self.num_draws - num_moved) as f64 / total)])
            .filter(|(_, probability)| *probability > 0.0)
            .collect();
        partners.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        RowLinks {
            p_moved: num_moved as f64 / total,
            partners,
        }
    }

    /// P(moved) of one row in each chain; not a number for a chain without draws.
    pub fn share_by_chain(&self, row: usize) -> Vec<f64> {
        let chains = self.moved_draws.iter().zip(&self.chain_lengths);
        chains
            .map(|(moved, length)| moved[row].len() as f64 / *length as f64)
            .collect()
    }

    /// Writes rows.csv and pi_mean.csv.
    pub fn write(&self, folder: &Path, rows: &RowValues) -> Result<(), DrawsError> {
        let write = |name: &str, text: io::Result<Vec<u8>>| {
            let path = folder.join(name);
            text.and_then(|text| fs::write(&path, text))
                .map_err(|source| DrawsError::Write { path, source })
        };
        write("rows.csv", self.rows_csv(rows))?;
        write("pi_mean.csv", self.pi_mean_csv())
    }

    fn rows_csv(&self, rows: &RowValues) -> io::Result<Vec<u8>> {
        let ids = rows.ids;
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut header = vec!["row".to_string()];
        header.extend(ids.map(|_| "id".to_string()));
        header.extend(["p_moved", "p_right", "best_link", "p_best"].map(String::from));
        for k in 2..=NUM_PARTNERS {
            header.extend([format!("link_{k}"), format!("p_{k}")]);
        }
        header.push("response".into());
        header.extend(
            rows.fitted
                .map(|_| ["fitted".into(), "fitted_best".into()])
                .into_iter()
                .flatten(),
        );
        writer.write_record(&header)?;
        for row in 0..self.num_rows() {
            let links = self.row(row);
            let mut record = vec![(row + 1).to_string()];
            record.extend(ids.map(|ids| ids[row].clone()));
            record.push(format_float(links.p_moved));
            record.push(format_float(1.0 - links.p_moved));
            for k in 0..NUM_PARTNERS {
                match links.partners.get(k) {
                    Some((column, p)) => {
                        record.extend([(column + 1).to_string(), format_float(*p)])
                    }
                    None => record.extend([String::new(), String::new()]),
                }
            }
            record.push(format_float(rows.response[row]));
            if let Some(fitted) = rows.fitted {
                let best = links.partners.first().map_or(row, |(column, _)| *column);
                record.extend([row, best].map(|place| format_float(fitted[place])));
            }
            writer.write_record(&record)?;
        }
        writer.into_inner().map_err(|error| error.into_error())
    }

    fn pi_mean_csv(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        writeln!(out, "row,column,probability")?;
        for row in 0..self.num_rows() {
            let mut partners = self.row(row).partners;
            partners.sort_by_key(|(column, _)| *column);
            for (column, probability) in partners {
                writeln!(
                    out,
                    "{},{},{}",
                    row + 1,
                    column + 1,
                    format_float(probability)
                )?;
            }
        }
        Ok(out)
    }

    /// Rows on which the chains disagree: P(moved) differs, and by more than their own mixing explains.
    pub fn findings(&self) -> Option<Finding> {
        let shortest = self.chain_lengths.iter().copied().min().unwrap_or(0);
        if shortest < 4 || self.chain_lengths.len() < 2 {
            return None;
        }
        let differing = (0..self.num_rows()).filter_map(|row| {
            let shares = self.share_by_chain(row);
            let share = |chain: usize| shares[chain];
            let chains = 0..self.chain_lengths.len();
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
            disagree.then(|| (format!("row {}", row + 1), difference))
        });
        Worst::above(DISAGREEMENT, differing.collect::<Vec<_>>()).map(Finding::LinksDisagree)
    }

    /// 1 in the draws of `chain` in which `row` was moved, else 0.
    fn indicator(&self, chain: usize, row: usize) -> Vec<f64> {
        let mut indicator = vec![0.0; self.chain_lengths[chain]];
        for draw in &self.moved_draws[chain][row] {
            indicator[*draw] = 1.0;
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
        let summary = LinksSummary::count(&chains, 3);
        let first = summary.row(0);
        assert_eq!(first.p_moved, 0.75);
        assert_eq!(first.partners, [(1, 0.5), (0, 0.25), (2, 0.25)]);
        assert_eq!(summary.share_by_chain(0), [1.0, 0.5]);
        let values = RowValues {
            ids: None,
            response: &[0.5, 1.0, 2.0],
            fitted: Some(&[10.0, 11.0, 12.0]),
        };
        let rows = String::from_utf8(summary.rows_csv(&values).unwrap()).unwrap();
        assert_eq!(
            rows.lines().next(),
            Some(
                "row,p_moved,p_right,best_link,p_best,link_2,p_2,link_3,p_3,response,fitted,fitted_best"
            )
        );
        assert_eq!(
            rows.lines().nth(1),
            Some("1,0.75,0.25,2,0.5,1,0.25,3,0.25,0.5,10,11")
        );
        let mean = String::from_utf8(summary.pi_mean_csv().unwrap()).unwrap();
        assert_eq!(
            mean.lines().filter(|line| line.starts_with("2,")).count(),
            2
        );
    }

    #[test]
    fn chains_that_disagree_on_a_row_are_found() {
        let always = (1..=100)
            .flat_map(|d| [moved(d, 1, 2), moved(d, 2, 1)])
            .collect();
        let never = Vec::new();
        let summary = LinksSummary::count(&[(100, always), (100, never)], 3);
        let finding = summary.findings().unwrap().to_string();
        assert!(finding.contains("row 1 (1.00), row 2 (1.00)"), "{finding}");
        let same: Vec<MovedRow> = (1..=100)
            .filter(|d| d % 3 == 0)
            .flat_map(|d| [moved(d, 1, 2), moved(d, 2, 1)])
            .collect();
        let summary = LinksSummary::count(&[(100, same.clone()), (100, same)], 3);
        assert_eq!(summary.findings(), None);
    }
}
