//! The links: what was known of them, rows and blocks by the probability of being wrong, why a row is doubted, the mean
//! permutation matrix, and the fit before and after.

mod before_after;
mod by_block;
mod calibration;
mod cycles;
mod known;
mod matrix;
mod table;
mod why;

use serde::Serialize;

use super::page::Picture;
use crate::posterior::Posterior;
use crate::posterior::links::RowLinks;

use by_block::BlockTable;
use calibration::Calibration;
use cycles::Cycles;
use table::LinksTable;
use why::Why;

/// Above this probability a row counts as moved.
const MOVED: f64 = 0.5;

#[derive(Debug, Clone, Serialize)]
pub struct LinksSection {
    /// What was known of the links before the fit, in sentences.
    pub known: Vec<String>,
    pub table: LinksTable,
    /// None where no cycle is frequent.
    pub cycles: Option<Cycles>,
    /// None for a file of more than some rows.
    pub matrix: Option<Picture>,
    /// How the probability of each of the most doubtful rows comes about.
    pub why: Vec<Why>,
    /// None where the data have no blocks.
    pub blocks: Option<BlockTable>,
    /// None where no match probabilities were given.
    pub calibration: Option<Calibration>,
}

impl LinksSection {
    /// None where every link was kept.
    pub fn new(fit: &Posterior) -> Option<LinksSection> {
        let links = fit.links.as_ref()?;
        let rows = links.rows_to_show();
        let label = |row: usize| fit.row_label(row);
        let number = |row: usize| links.numbers().number(row);
        Some(LinksSection {
            known: known::sentences(fit),
            table: LinksTable::new(
                &rows,
                &fit.rows,
                &label,
                fit.config.permutation.outside.is_some(),
            ),
            cycles: Cycles::new(fit),
            matrix: matrix::picture(&rows, &number),
            why: why::explanations(fit, &rows),
            blocks: BlockTable::new(&rows, &fit.rows),
            calibration: Calibration::new(fit, &rows),
        })
    }
}

/// Observed against fitted, before and after; None where links were kept, and for a program without coefficients.
pub fn before_after(fit: &Posterior) -> Option<Picture> {
    let links = fit.links.as_ref()?;
    let rows = links.rows_to_show();
    before_after::picture(&rows, &fit.rows, &|row| fit.row_label(row))
}

/// Row numbers by P(moved), largest first; rows that tie keep the order of the file.
fn ranked(rows: &[RowLinks]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[b].p_moved.total_cmp(&rows[a].p_moved).then(a.cmp(&b)));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::Row;
    use crate::report::page;

    /// Rows with so much probability on so many columns; what is left is their own.
    pub fn row_links(row: usize, others: &[(usize, f64)]) -> RowLinks {
        let p_moved: f64 = others.iter().map(|(_, p)| p).sum();
        let mut partners = others.to_vec();
        partners.push((row, 1.0 - p_moved));
        partners.retain(|(_, p)| *p > 0.0);
        partners.sort_by(|a, b| b.1.total_cmp(&a.1));
        RowLinks {
            p_moved,
            p_outside: 0.0,
            partners,
        }
    }

    /// Row k has the response k and is fitted as k + 0.25.
    pub fn data_rows(links: &[RowLinks]) -> Vec<Row> {
        let rows = links.iter().enumerate().map(|(k, row)| Row {
            number: k + 1,
            id: None,
            block: None,
            safe: None,
            match_probability: None,
            num_candidates: None,
            response: k as f64,
            fitted: Some([k, row.partners[0].0].map(|place| place as f64 + 0.25)),
        });
        rows.collect()
    }

    #[test]
    fn rows_are_ranked_by_the_probability_of_being_wrong() {
        let shares = [0.1, 0.9, 0.1, 0.95];
        let rows: Vec<RowLinks> = (0..4).map(|k| row_links(k, &[(9, shares[k])])).collect();
        assert_eq!(ranked(&rows), [3, 1, 0, 2]);
    }

    #[test]
    fn what_was_known_is_on_the_page_and_stays_text() {
        let plain = Posterior::example(&[40, 40], 2).with_links(10);
        let html = page::html(&plain);
        for heading in [
            "What was known",
            "Wrong links by block",
            "Were the given probabilities",
        ] {
            assert!(!html.contains(heading), "{heading}");
        }
        let mut known = plain.with_known();
        known.rows[3].number = 40;
        let html = page::html(&known);
        for part in [
            "<h3>What was known of the links</h3>",
            "the rows stand in 4 blocks",
            "<h3>Wrong links by block</h3>",
            "&lt;a&gt;</th><td>4</td>",
            "<h3>Were the given probabilities right?</h3>",
            "By the given probabilities 2.2 of 10 links",
            "3 rows of the file were left out because a value is missing: &lt;i&gt;income",
            ">40 (id &lt;3&gt;) <small>",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("<a>") && !html.contains("<i>income"));
    }
}
