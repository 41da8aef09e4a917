//! Groups of labelled arrays as Zarr (format 2) in one zip file, as xarray reads them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The values of an array, the last dimension running fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Real(Vec<f64>),
    Whole(Vec<i64>),
    Flag(Vec<bool>),
    Text(Vec<String>),
}

/// An array with named dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub name: String,
    /// Name and length of each.
    pub dims: Vec<(String, usize)>,
    pub values: Values,
}

/// Arrays that share their dimensions; one that is named like a dimension has its coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Group {
    pub name: &'static str,
    pub arrays: Vec<Array>,
}

/// Writes the groups, each with the attributes `about`.
pub(super) fn write(path: &Path, groups: &[Group], about: &Value) -> io::Result<()> {
    let mut archive = ZipWriter::new(BufWriter::new(File::create(path)?));
    let mut metadata = Map::new();
    let zarr_group = json!({"zarr_format": 2});
    metadata.insert(".zgroup".into(), zarr_group.clone());
    metadata.insert(".zattrs".into(), about.clone());
    for group in groups {
        let inside = |name: &str| format!("{}/{name}", group.name);
        metadata.insert(inside(".zgroup"), zarr_group.clone());
        metadata.insert(inside(".zattrs"), about.clone());
        for array in &group.arrays {
            let inside = |name: &str| format!("{}/{}/{name}", group.name, array.name);
            metadata.insert(inside(".zarray"), array.description());
            let dims: Vec<&String> = array.dims.iter().map(|(name, _)| name).collect();
            metadata.insert(inside(".zattrs"), json!({"_ARRAY_DIMENSIONS": dims}));
            // All values are in one chunk, whose name has a 0 for each dimension.
            let chunk = vec!["0"; array.dims.len().max(1)].join(".");
            add(&mut archive, &inside(&chunk), &array.values.bytes())?;
        }
    }
    for (name, value) in &metadata {
        add(&mut archive, name, value.to_string().as_bytes())?;
    }
    let all = json!({"metadata": metadata, "zarr_consolidated_format": 1});
    add(&mut archive, ".zmetadata", all.to_string().as_bytes())?;
    archive.finish()?.flush()
}

fn add(archive: &mut ZipWriter<BufWriter<File>>, name: &str, bytes: &[u8]) -> io::Result<()> {
    archive.start_file(name, SimpleFileOptions::default())?;
    archive.write_all(bytes)
}

impl Array {
    fn description(&self) -> Value {
        let shape: Vec<usize> = self.dims.iter().map(|(_, length)| *length).collect();
        // Zarr has no chunks of length 0.
        let chunks: Vec<usize> = shape.iter().map(|length| (*length).max(1)).collect();
        json!({
            "zarr_format": 2,
            "shape": shape,
            "chunks": chunks,
            "dtype": self.values.dtype(),
            "compressor": null,
            "fill_value": null,
            "order": "C",
            "filters": null,
        })
    }
}

impl Values {
    /// NumPy's name of the type.
    fn dtype(&self) -> String {
        match self {
            Values::Real(_) => "<f8".into(),
            Values::Whole(_) => "<i8".into(),
            Values::Flag(_) => "|b1".into(),
            Values::Text(texts) => format!("<U{}", longest(texts)),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Values::Real(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::Whole(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::Flag(values) => values.iter().map(|flag| u8::from(*flag)).collect(),
            Values::Text(texts) => {
                let padding = std::iter::repeat('\0');
                let padded = |text: &String| {
                    text.chars()
                        .chain(padding.clone())
                        .take(longest(texts))
                        .collect::<Vec<_>>()
                };
                let characters = texts.iter().flat_map(padded);
                characters
                    .flat_map(|c| u32::from(c).to_le_bytes())
                    .collect()
            }
        }
    }
}

/// The number of characters that each text gets.
fn longest(texts: &[String]) -> usize {
    let lengths = texts.iter().map(|text| text.chars().count());
    lengths.max().unwrap_or(0).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_padded_to_the_longest() {
        let texts = Values::Text(vec!["é".into(), "ab".into()]);
        assert_eq!(texts.dtype(), "<U2");
        let expected = [[0xe9, 0], [0x61, 0x62]].concat();
        let expected: Vec<u8> = expected
            .iter()
            .flat_map(|c: &u32| c.to_le_bytes())
            .collect();
        assert_eq!(texts.bytes(), expected);
        assert_eq!(Values::Flag(vec![true, false]).bytes(), [1, 0]);
    }
}
