//! A Parquet file as the text of a CSV, so that everything that reads tables reads it, too.

mod pages;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;

use pages::Pages;

/// Why a file has no text.
#[derive(Debug)]
pub(super) enum Failure {
    Format(ParquetError),
    /// It takes more memory than it may.
    TooLarge,
}

impl<E: Into<ParquetError>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Format(error.into())
    }
}

/// Its rows as CSV, with the names of the columns first. Neither the CSV nor what is decoded for it takes more than `most`
/// bytes.
pub(super) fn as_csv(path: &Path, most: u64) -> Result<String, Failure> {
    let file = File::open(path)?;
    let reader = SerializedFileReader::new(file.try_clone()?)?;
    let metadata = reader.metadata();
    if least_bytes(metadata) > most {
        return Err(Failure::TooLarge);
    }
    let pages = Pages::read(&file, metadata)?;
    if pages.bytes > most {
        return Err(Failure::TooLarge);
    }
    let mut rows = reader.get_row_iter(None)?;
    if pages.has_prefixes {
        // By itself it decodes a thousand values at a time.
        rows = rows.with_batch_size(1);
    }
    write_rows(rows, metadata, most)
}

/// Each cell has at least a comma or the end of a line behind it.
fn least_bytes(metadata: &ParquetMetaData) -> u64 {
    let groups = metadata.row_groups().iter();
    let num_rows = groups.fold(0_u64, |sum, group| {
        sum.saturating_add(group.num_rows().try_into().unwrap_or(0))
    });
    let num_columns = metadata.file_metadata().schema_descr().num_columns();
    num_rows.saturating_mul(num_columns as u64)
}

fn write_rows(rows: RowIter, metadata: &ParquetMetaData, most: u64) -> Result<String, Failure> {
    let fields = metadata.file_metadata().schema().get_fields();
    let bytes = Bounded {
        bytes: Vec::new(),
        most,
    };
    let mut csv = csv::Writer::from_writer(bytes);
    // The text is in memory, so that writing fails by its size alone.
    let too_large = |_| Failure::TooLarge;
    csv.write_record(fields.iter().map(|field| field.name()))
        .map_err(too_large)?;
    for row in rows {
        let row = row?;
        debug_assert_eq!(row.len(), fields.len());
        for (_, field) in row.get_column_iter() {
            csv.write_field(cell(field)).map_err(too_large)?;
        }
        csv.write_record(None::<&[u8]>).map_err(too_large)?;
    }
    let bytes = csv.into_inner().map_err(|_| Failure::TooLarge)?.bytes;
    Ok(String::from_utf8(bytes).expect("UTF-8 was written"))
}

/// Bytes that refuse to become more than `most`: a value that is stored once may stand in every row.
struct Bounded {
    bytes: Vec<u8>,
    most: u64,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + more.len()) as u64 > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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

    fn writer(path: &Path, schema: &str) -> SerializedFileWriter<File> {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let file = File::create(path).unwrap();
        SerializedFileWriter::new(file, schema, Arc::new(properties.build())).unwrap()
    }

    /// A file with one column of texts.
    fn write_texts(path: &Path, texts: &[String]) {
        let mut writer = writer(path, "message m { required binary id (UTF8); }");
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let texts: Vec<_> = texts.iter().map(|text| text.as_str().into()).collect();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&texts, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
    }

    /// As pandas and duckdb write: compressed by snappy, with a missing value.
    #[test]
    fn text_numbers_and_missing_values_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pairs.parquet");
        let schema =
            "message m { optional binary id_l (UTF8); required int64 id_r; required double p; }";
        let mut writer = writer(&path, schema);
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

    fn is_too_large(path: &Path, most: u64) -> bool {
        matches!(as_csv(path, most), Err(Failure::TooLarge))
    }

    #[test]
    fn small_files_with_many_rows_or_long_values_are_refused_before_they_fill_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        // Runs of one value: the rows are counted in the metadata.
        write_texts(&path, &vec![String::new(); 100_000]);
        assert!(std::fs::metadata(&path).unwrap().len() < 1000);
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(least_bytes(reader.metadata()), 100_000);
        assert!(is_too_large(&path, 99_999));
        assert_eq!(as_csv(&path, 1_000_000).unwrap().lines().count(), 100_001);
        // One text of 10 kB that stands in every row: 10 MB, which no number in the file tells.
        write_texts(&path, &vec!["x".repeat(10_000); 1000]);
        assert!(std::fs::metadata(&path).unwrap().len() < 30_000);
        assert!(is_too_large(&path, 1_000_000));
        assert_eq!(as_csv(&path, 20_000_000).unwrap().len(), 10_001_003);
    }

    #[test]
    fn a_file_with_any_byte_changed_is_read_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let texts: Vec<String> = (0..40).map(|k| format!("text {}", k % 7)).collect();
        write_texts(&path, &texts);
        let whole = std::fs::read(&path).unwrap();
        let mut num_refused = 0;
        for at in 0..whole.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                std::fs::write(&path, bytes).unwrap();
                num_refused += usize::from(as_csv(&path, 1 << 20).is_err());
            }
        }
        assert!(num_refused > whole.len() / 4, "{num_refused}");
    }

    /// The header of the first page: its type, and its size in three bytes.
    fn declare(path: &Path, size: u32) {
        let mut bytes = std::fs::read(path).unwrap();
        assert_eq!(
            (bytes[4], bytes[6]),
            (0x15, 0x15),
            "two fields of whole numbers"
        );
        assert!(bytes[7] >= 0x80 && bytes[8] >= 0x80 && bytes[9] < 0x80);
        let signed = size << 1;
        bytes[7] = signed as u8 | 0x80;
        bytes[8] = (signed >> 7) as u8 | 0x80;
        bytes[9] = (signed >> 14) as u8 & 0x7f;
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn pages_that_declare_more_than_the_metadata_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write_texts(&path, &["x".repeat(10_000)]);
        let bytes = |path: &Path| {
            let file = File::open(path).unwrap();
            let reader = SerializedFileReader::new(file.try_clone().unwrap()).unwrap();
            let declared = reader.metadata().row_group(0).column(0).uncompressed_size();
            (
                declared,
                Pages::read(&file, reader.metadata()).unwrap().bytes,
            )
        };
        let (declared, found) = bytes(&path);
        // Headers are part of what is declared.
        assert!(
            found >= 10_000 && found as i64 <= declared,
            "{found}, {declared}"
        );
        declare(&path, 1_000_000);
        assert!(bytes(&path).1 >= 1_000_000 && bytes(&path).0 == declared);
        assert!(is_too_large(&path, 500_000));
    }
}
