//! The user's own file with some of its rows mislinked.

use csv::{ReaderBuilder, StringRecord, WriterBuilder};

use super::{STREAM, SimulateError, Truth, mislink};
use crate::baseline::least_squares;
use crate::config::Data;
use crate::data::{self, DataError, clean, detect_delimiter};

/// What to mislink.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file and the roles of its columns. With a block column, rows are mislinked within blocks only.
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
    /// The coefficients and sigma are those of least squares on the unharmed file.
    pub truth: Truth,
}

pub fn mislink_file(source: &Source, seed: u64) -> Result<Mislinked, SimulateError> {
    let dataset = data::read(&source.data)?;
    let num_rows = dataset.num_rows();
    let mut rng = crate::rng::stream(seed, STREAM);
    let mut pi: Vec<usize> = (0..num_rows).collect();
    let count = mislink::count(source.fraction, num_rows)?;
    if source.adjacent {
        mislink::adjacent(&mut pi, count, &mut rng);
    } else {
        let one_block = || vec![0; num_rows];
        let block_of_row = dataset
            .blocks
            .map_or_else(one_block, |blocks| blocks.of_row);
        mislink::within_blocks(&mut pi, &block_of_row, count, &mut rng)?;
    }
    let csv = with_responses_moved(source, &pi)?;
    let fit = least_squares(dataset.x.view(), &dataset.response);
    let sigma = fit.sigma2.sqrt();
    let truth = Truth::new(dataset.predictor_names, fit.beta, sigma, pi, None);
    Ok(Mislinked { csv, truth })
}

/// The text of the file, which `data::read` has found to be sound.
fn with_responses_moved(source: &Source, pi: &[usize]) -> Result<String, SimulateError> {
    let file = source.data.file.display().to_string();
    let text = std::fs::read_to_string(&source.data.file)
        .map_err(|source| DataError::Unreadable { file, source })?;
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(detect_delimiter(text))
        .from_reader(text.as_bytes());
    let mut records = reader.records().map(|r| r.expect("read once already"));
    let header = records.next().expect("read once already");
    let names: Vec<&str> = header.iter().map(clean).collect();
    // What is shorter is a blank line.
    let rows: Vec<StringRecord> = records.filter(|row| row.len() == names.len()).collect();
    assert_eq!(rows.len(), pi.len(), "the rows that data::read found");
    let response = names.iter().position(|name| *name == source.data.response);
    let response = response.expect("data::read found it");
    let dropped = dropped_columns(source, &names)?;

    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    let kept = |k: &usize| !dropped.contains(k);
    let mut write = |cells: &mut dyn Iterator<Item = &str>| {
        writer
            .write_record(cells)
            .expect("memory can be written to");
    };
    write(&mut (0..names.len()).filter(kept).map(|k| names[k]));
    for (row, &home) in rows.iter().zip(pi) {
        write(&mut (0..names.len()).filter(kept).map(|k| match k {
            k if k == response => &rows[home][k],
            k => &row[k],
        }));
    }
    let bytes = writer.into_inner().expect("memory can be written to");
    Ok(String::from_utf8(bytes).expect("UTF-8 was read"))
}

fn dropped_columns(source: &Source, names: &[&str]) -> Result<Vec<usize>, SimulateError> {
    let Data {
        response,
        predictors,
        id,
        block,
        ..
    } = &source.data;
    let used = |column: &String| {
        [Some(response), id.as_ref(), block.as_ref()].contains(&Some(column))
            || predictors.contains(column)
    };
    let place = |column: &String| {
        let refuse = |problem| SimulateError::Drop {
            column: column.clone(),
            problem,
        };
        if used(column) {
            return Err(refuse("is used by the fit; keep it"));
        }
        let position = names.iter().position(|name| name == column);
        position.ok_or_else(|| refuse("is not a column of the file; check its spelling"))
    };
    source.drop.iter().map(place).collect()
}
