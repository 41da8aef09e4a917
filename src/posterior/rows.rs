//! The rows of the data as a fit left them: what was known of each link before it, and what it predicts.

use std::path::Path;
use std::str::FromStr;

use csv::StringRecord;

use super::PosteriorError;
use super::links::LinksSummary;
use crate::data::Dataset;

/// One row of the data, as in rows.csv, besides its links.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The number of the row in the user's file.
    pub number: usize,
    pub id: Option<String>,
    pub block: Option<String>,
    pub safe: Option<bool>,
    /// The probability before the fit that the link is right.
    pub match_probability: Option<f64>,
    /// The number of other places where the row may belong; None where any place is one.
    pub num_candidates: Option<usize>,
    pub response: f64,
    /// What the predictors beside it predict, and those of its best link.
    pub fitted: Option<[f64; 2]>,
}

/// The rows of the data. `fitted` is what the predictors of each row, and of the places behind them, predict, where the
/// program has coefficients.
pub(super) fn rows(data: &Dataset, links: &LinksSummary, fitted: Option<&[f64]>) -> Vec<Row> {
    let num_candidates = num_candidates(data);
    let row = |row: usize| Row {
        number: data.row_numbers[row],
        id: data.row_ids.as_ref().map(|ids| ids[row].clone()),
        block: data
            .blocks
            .as_ref()
            .map(|blocks| blocks.labels[blocks.of_row[row]].clone()),
        safe: data.safe.as_ref().map(|safe| safe[row]),
        match_probability: data.match_probability.as_ref().map(|given| given[row]),
        num_candidates: num_candidates.as_ref().map(|numbers| numbers[row]),
        response: data.response[row],
        fitted: fitted.map(|fitted| [fitted[row], fitted[links.best(row)]]),
    };
    (0..data.num_rows()).map(row).collect()
}

fn num_candidates(data: &Dataset) -> Option<Vec<usize>> {
    let candidates = data.candidates.as_ref()?;
    let mut numbers = vec![0; data.num_rows()];
    for candidate in candidates {
        numbers[candidate.row] += 1;
    }
    Some(numbers)
}

/// Parses the text of rows.csv, which stands at `path`.
pub(super) fn parse_rows(text: &str, path: &Path) -> Result<Vec<Row>, PosteriorError> {
    let malformed = |what: String| PosteriorError::Rows {
        path: path.to_path_buf(),
        what,
    };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|e| malformed(e.to_string()))?
        .clone();
    let column = |name: &str| header.iter().position(|known| known == name);
    let needed = |name: &str| {
        column(name).ok_or_else(|| PosteriorError::NoColumn {
            path: path.to_path_buf(),
            name: name.into(),
        })
    };
    let (row, response) = (needed("row")?, needed("response")?);
    let [id, block, safe] = ["id", "block", "safe"].map(column);
    let [given, candidates] = ["match_probability", "num_candidates"].map(column);
    let [fitted, best] = ["fitted", "fitted_best"].map(column);
    let rows = reader.records().enumerate().map(|(index, record)| {
        let record = record.map_err(|error| malformed(error.to_string()))?;
        let text = |k: Option<usize>| k.and_then(|k| record.get(k)).map(String::from);
        let number = |k: usize| parsed::<f64>(&record, &header, index, k).map_err(malformed);
        let whole = |k: usize| parsed::<usize>(&record, &header, index, k).map_err(malformed);
        Ok(Row {
            number: whole(row)?,
            id: text(id),
            block: text(block),
            safe: text(safe).map(|safe| safe == "true"),
            match_probability: given.map(number).transpose()?,
            num_candidates: candidates.map(whole).transpose()?,
            response: number(response)?,
            fitted: match (fitted, best) {
                (Some(fitted), Some(best)) => Some([number(fitted)?, number(best)?]),
                _ => None,
            },
        })
    });
    rows.collect()
}

/// Column `k` of the record at `index`, both from 0, or what is wrong with it.
fn parsed<T: FromStr>(
    record: &StringRecord,
    header: &StringRecord,
    index: usize,
    k: usize,
) -> Result<T, String> {
    let field = record.get(k).and_then(|field| field.parse().ok());
    field.ok_or_else(|| format!("`{}` of row {} is no number", &header[k], index + 1))
}
