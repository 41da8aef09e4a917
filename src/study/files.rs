//! Files that are whole or not there at all.

use std::path::Path;

use super::StudyError;
use crate::text::{make_folder, write_whole};

/// Whoever reads `path` sees the old text or the new one, never half of it.
pub fn write_then_rename(path: &Path, text: &str) -> Result<(), StudyError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    Ok(write_whole(path, text)?)
}

/// One line of CSV, quoted where it must be.
pub fn csv_line<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = csv::WriterBuilder::new().from_writer(Vec::new());
    line.write_record(fields).expect("memory can be written to");
    let bytes = line.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("text stays text")
}

/// A number as it stands in a table.
pub fn number(value: Option<f64>) -> String {
    value.map_or("NA".into(), crate::posterior::draws::format_float)
}

/// Enough digits for a picture.
pub fn rounded(value: f64) -> String {
    let text = format!("{value:.5e}");
    number(Some(text.parse().expect("a float as it was printed")))
}
