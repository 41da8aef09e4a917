//! The user's own file with some of its rows mislinked.

use csv::WriterBuilder;
use rand::Rng;

use super::{STREAM, SimulateError, Truth, mislink};
use crate::baseline::least_squares;
use crate::config::{Data, DataSource};
use crate::data::{self, Dataset, Formula, Table};

/// What to mislink.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file and the roles of its columns. Rows are mislinked within blocks only, and safe rows never.
    pub data: Data,
    /// Columns to leave out, such as another form of the response, which would show the right links.
    pub drop: Vec<String>,
    pub fraction: f64,
    /// Swap neighbours in the file instead of random rows.
    pub adjacent: bool,
}

/// A file of its own: the cells as they were, save that responses have changed places.
#[derive(Debug, Clone)]
pub struct Mislinked {
    pub csv: String,
    /// The coefficients and sigma are those of least squares on the unharmed file, for the first response of a list.
    pub truth: Truth,
    /// Whether a list of responses was moved.
    pub is_list: bool,
}

pub fn mislink_file(source: &Source, seed: u64) -> Result<Mislinked, SimulateError> {
    let dataset = data::read(&source.data)?;
    let mut rng = crate::numerics::rng::stream(seed, STREAM);
    let pi = if source.adjacent {
        let num_rows = dataset.num_rows();
        let mut pi: Vec<usize> = (0..num_rows).collect();
        let count = mislink::count(source.fraction, num_rows)?;
        mislink::adjacent(&mut pi, count, &mut rng);
        pi
    } else {
        wrong_links(&dataset, source.fraction, &mut rng)?
    };
    let csv = with_responses_moved(source, &dataset.row_numbers, &pi)?;
    let fit = least_squares(dataset.x.view(), &dataset.response_less_offset());
    let sigma = fit.sigma2.sqrt();
    let truth = Truth::new(dataset.predictor_names, fit.beta, Some(sigma), pi, None);
    Ok(Mislinked {
        csv,
        truth,
        is_list: dataset.response_names.is_some(),
    })
}

/// A permutation that mislinks `fraction` of the rows: a uniform derangement inside each block, in which safe rows stay.
pub(super) fn wrong_links(
    dataset: &Dataset,
    fraction: f64,
    rng: &mut impl Rng,
) -> Result<Vec<usize>, SimulateError> {
    let num_rows = dataset.num_rows();
    let mut pi: Vec<usize> = (0..num_rows).collect();
    let count = mislink::count(fraction, num_rows)?;
    mislink::within_blocks(&mut pi, &block_of_row(dataset), count, rng)?;
    Ok(pi)
}

/// Rows that may change places; a safe row stands alone, so that it stays.
fn block_of_row(dataset: &Dataset) -> Vec<usize> {
    let mut of_row = match &dataset.blocks {
        Some(blocks) => blocks.of_row.clone(),
        None => vec![0; dataset.num_rows()],
    };
    let mut next = of_row.iter().max().map_or(0, |last| last + 1);
    for (block, safe) in of_row.iter_mut().zip(dataset.safe.iter().flatten()) {
        if *safe {
            *block = next;
            next += 1;
        }
    }
    of_row
}

/// The text of the rows that `data::read` has found to be sound; `row_numbers` says which they are.
fn with_responses_moved(
    source: &Source,
    row_numbers: &[usize],
    pi: &[usize],
) -> Result<String, SimulateError> {
    let DataSource::File { file } = &source.data.source else {
        return Err(SimulateError::NotOneFile);
    };
    let table = Table::read(file, "data.file")?;
    let names = &table.header;
    let formula = Formula::new(&source.data, names, &table.file)?;
    let position = |column: &str| names.iter().position(|name| name == column);
    let response: Vec<Option<usize>> = formula
        .response_columns()
        .into_iter()
        .map(position)
        .collect();
    let dropped = dropped_columns(source, &formula, names)?;

    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let kept = |k: &usize| !dropped.contains(k);
    let mut write = |cells: &mut dyn Iterator<Item = &str>| {
        writer
            .write_record(cells)
            .expect("memory can be written to");
    };
    write(&mut (0..names.len()).filter(kept).map(|k| names[k].as_str()));
    for (number, &home) in row_numbers.iter().zip(pi) {
        write(&mut (0..names.len()).filter(kept).map(|k| {
            let moves = response.contains(&Some(k));
            let number = if moves { row_numbers[home] } else { *number };
            &table.rows[number - 1][k]
        }));
    }
    let bytes = writer.into_inner().expect("memory can be written to");
    Ok(String::from_utf8(bytes).expect("UTF-8 was read"))
}

fn dropped_columns(
    source: &Source,
    formula: &Formula,
    names: &[String],
) -> Result<Vec<usize>, SimulateError> {
    let Data {
        id, block, safe, ..
    } = &source.data;
    let mut used = formula.response_columns();
    used.extend(formula.predictor_columns());
    used.extend([id, block, safe].into_iter().flatten().map(String::as_str));
    let place = |column: &String| {
        let refuse = |problem| SimulateError::Drop {
            column: column.clone(),
            problem,
        };
        if used.contains(&column.as_str()) {
            return Err(refuse("is used by the fit; keep it"));
        }
        let position = names.iter().position(|name| name == column);
        position.ok_or_else(|| refuse("is not a column of the file; check its spelling"))
    };
    source.drop.iter().map(place).collect()
}
