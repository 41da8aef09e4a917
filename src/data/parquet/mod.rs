//! A Parquet file as the text of a CSV, so that everything that reads tables reads it, too.

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// Its rows as CSV, with the names of the columns first.
pub(super) fn as_csv(path: &Path) -> Result<String, ParquetError> {
    let reader = SerializedFileReader::new(File::open(path)?)?;
    let fields = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .to_vec();
    let mut csv = csv::Writer::from_writer(Vec::new());
    let in_memory = "memory can be written to";
    let header = fields.iter().map(|field| field.name());
    csv.write_record(header).expect(in_memory);
    for row in reader.get_row_iter(None)? {
        let row = row?;
        debug_assert_eq!(row.len(), fields.len());
        let cells = row.get_column_iter().map(|(_, field)| cell(field));
        csv.write_record(cells).expect(in_memory);
    }
    let bytes = csv.into_inner().expect(in_memory);
    Ok(String::from_utf8(bytes).expect("UTF-8 was written"))
}

/// Numbers with all their digits; a missing value is an empty cell.
fn cell(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Double(value) => format!("{value:?}"),
        Field::Float(value) => format!("{value:?}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::table::Table;
    use super::*;

    /// As pandas and duckdb write: compressed by snappy, with a missing value.
    #[test]
    fn text_numbers_and_missing_values_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.parquet");
        let schema =
            "message m { optional binary id_l (UTF8); required int64 id_r; required double p; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let file = File::create(&path).unwrap();
        let mut writer =
            SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts = ["a, b".into(), "c".into()];
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<Int64Type>();
        typed.write_batch(&[7, 8, 9], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<DoubleType>();
        typed
            .write_batch(&[0.1 + 0.2, 1e-20, 1.0], None, None)
            .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();

        let table = Table::read(&path, "data.links.pairs").unwrap();
        assert_eq!(table.header, ["id_l", "id_r", "p"]);
        let row = |k: usize| [0, 1, 2].map(|column| table.cell(k, column).to_string());
        assert_eq!(row(0), ["a, b", "7", "0.30000000000000004"]);
        assert_eq!(row(1), ["", "8", "1e-20"]);
        assert_eq!(row(2), ["c", "9", "1.0"]);
        std::fs::write(&path, "no parquet").unwrap();
        let sentence = Table::read(&path, "data.file").err().unwrap().to_string();
        assert!(sentence.contains("cannot be read as Parquet"), "{sentence}");
    }
}
