//! The table of rows, ranked by the probability that their link is wrong.

use serde::Serialize;

use super::{MOVED, ranked};
use crate::numerics::sd;
use crate::posterior::Row;
use crate::posterior::links::RowLinks;
use crate::report::format::with_spread;

/// Rows shown; rows.csv has the others.
const MOST_ROWS: usize = 1000;
/// Partners shown, the best one included.
const NUM_PARTNERS: usize = 3;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinksTable {
    pub rows: Vec<Line>,
    pub num_rows: usize,
    pub num_left_out: usize,
    /// Whether the user named a column of ids.
    pub has_outside: bool,
    pub has_ids: bool,
    pub has_fitted: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// As in the user's file.
    pub number: usize,
    pub id: String,
    pub response: String,
    /// As linked, and at the best link; empty where the program has no coefficients.
    pub fitted: Vec<String>,
    pub p_moved: Probability,
    pub p_outside: Probability,
    /// Whether it is more likely wrong than right.
    pub moved: bool,
    /// Whether the page says why it is doubted.
    pub explained: bool,
    pub partners: Vec<Partner>,
}

/// A row whose predictors may belong to the response.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Partner {
    /// Number and id.
    pub label: String,
    pub probability: Probability,
    pub is_itself: bool,
}

/// As it is shown, and as it is sorted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Probability {
    pub text: String,
    pub value: f64,
}

impl From<f64> for Probability {
    fn from(value: f64) -> Probability {
        Probability {
            text: probability(value),
            value,
        }
    }
}

impl LinksTable {
    /// `has_outside`: whether responses may come from outside the file.
    pub fn new(
        links: &[RowLinks],
        data: &[Row],
        label: &dyn Fn(usize) -> String,
        has_outside: bool,
    ) -> LinksTable {
        let responses: Vec<f64> = data.iter().map(|row| row.response).collect();
        // One more digit than the spread has, so that neighbours in the table differ.
        let spread = sd(&responses).unwrap_or(0.0) / 10.0;
        let mut order = ranked(links);
        let num_left_out = order.len().saturating_sub(MOST_ROWS);
        order.truncate(MOST_ROWS);
        let lines = order.into_iter().enumerate().map(|(place, row)| {
            let (own, values) = (&links[row], &data[row]);
            let partners = own.partners.iter().take(NUM_PARTNERS);
            let partners = partners.map(|&(column, p)| Partner {
                label: label(column),
                probability: p.into(),
                is_itself: column == row,
            });
            Line {
                number: values.number,
                id: values.id.clone().unwrap_or_default(),
                response: with_spread(values.response, spread),
                fitted: values
                    .fitted
                    .iter()
                    .flatten()
                    .map(|&value| with_spread(value, spread))
                    .collect(),
                p_moved: own.p_moved.into(),
                p_outside: own.p_outside.into(),
                moved: own.p_moved > MOVED,
                explained: place < super::why::MOST_ROWS,
                partners: partners.collect(),
            }
        });
        LinksTable {
            rows: lines.collect(),
            num_rows: links.len(),
            num_left_out,
            has_outside,
            has_ids: data.iter().any(|row| row.id.is_some()),
            has_fitted: data.iter().any(|row| row.fitted.is_some()),
        }
    }
}

/// Three decimals, but 0 and 1 only where they are meant.
pub(super) fn probability(p: f64) -> String {
    match p {
        p if p > 0.0 && p < 0.001 => "<0.001".into(),
        p if p < 1.0 && p > 0.999 => ">0.999".into(),
        p => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{data_rows, row_links};
    use super::*;

    #[test]
    fn partners_have_number_and_id() {
        let links = [
            row_links(0, &[(1, 0.7), (2, 0.2)]),
            row_links(1, &[(0, 0.7)]),
            row_links(2, &[(0, 0.2), (1, 0.0005)]),
        ];
        let mut data = data_rows(&links);
        for (row, id) in data.iter_mut().zip(["<script>", "b \"q\"", "3"]) {
            row.id = Some(id.into());
        }
        let label = |row: usize| format!("{} ({})", row + 1, data[row].id.as_ref().unwrap());
        let table = LinksTable::new(&links, &data, &label, false);
        assert!(table.has_ids && table.has_fitted);
        let first = &table.rows[0];
        assert_eq!(
            (first.number, first.id.as_str(), first.moved),
            (1, "<script>", true)
        );
        let partners: Vec<(&str, &str, bool)> = first
            .partners
            .iter()
            .map(|p| (p.label.as_str(), p.probability.text.as_str(), p.is_itself))
            .collect();
        assert_eq!(
            partners,
            [
                ("2 (b \"q\")", "0.700", false),
                ("3 (3)", "0.200", false),
                ("1 (<script>)", "0.100", true)
            ]
        );
        assert_eq!(first.p_moved.text, "0.900");
        assert_eq!(table.rows[2].partners[2].probability.text, "<0.001");
        assert_eq!(first.fitted, ["0.25", "1.25"]);
    }

    #[test]
    fn a_long_file_is_cut_at_the_least_suspicious_rows() {
        let links: Vec<RowLinks> = (0..1500)
            .map(|k| row_links(k, &[((k + 1) % 1500, k as f64 / 2000.0)]))
            .collect();
        let table = LinksTable::new(&links, &data_rows(&links), &|row| row.to_string(), false);
        assert_eq!((table.rows.len(), table.num_left_out), (1000, 500));
        assert_eq!(table.rows[0].number, 1500);
        assert_eq!(table.rows[999].number, 501);
        assert!(table.rows[99].explained && !table.rows[100].explained);
        assert!(!table.has_ids);
    }

    #[test]
    fn probabilities_do_not_pretend() {
        let shown = [0.0, 0.0002, 0.5, 0.9995, 1.0].map(probability);
        assert_eq!(shown, ["0.000", "<0.001", "0.500", ">0.999", "1.000"]);
    }
}
