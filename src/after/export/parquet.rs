//! All draws and all links of a fit as Parquet, one row group for each chain.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::ExportError;
use crate::posterior::ExportFolder;
use crate::posterior::draws::copied;
use crate::posterior::draws::{ChainDraws, MovedRow};
use crate::text::FileError;

/// The values of one column in one chain.
enum Values<'a> {
    Whole(Vec<i64>),
    Real(&'a [f64]),
}

/// The columns of one chain, by name.
type Chain<'a> = Vec<(&'a str, Values<'a>)>;

pub(super) fn write(
    to: &Path,
    chains: &[ChainDraws],
    links: &[&[MovedRow]],
) -> Result<(), ExportError> {
    let draws: Vec<Chain> = chains.iter().map(draws_of).collect();
    let moved: Vec<Chain> = chains
        .iter()
        .zip(links)
        .map(|(chain, links)| links_of(chain.chain, links))
        .collect();
    for (name, table) in [(ExportFolder::DRAWS, draws), (ExportFolder::LINKS, moved)] {
        let path = to.join(name);
        let written = write_table(&path, &table).map_err(io::Error::other);
        written.map_err(FileError::write(&path))?;
    }
    Ok(())
}

fn draws_of(chain: &ChainDraws) -> Chain<'_> {
    let num_draws = chain.num_draws();
    let mut columns = vec![
        ("chain", Values::Whole(vec![chain.chain as i64; num_draws])),
        ("draw", Values::Whole((1..=num_draws as i64).collect())),
    ];
    let named = chain.names.iter().zip(&chain.columns);
    columns.extend(named.map(|(name, values)| (name.as_str(), Values::Real(values))));
    let copies = copied(&chain.names).into_iter();
    columns.extend(copies.map(|(place, plain)| (plain, Values::Real(&chain.columns[place]))));
    columns
}

/// As links_<chain>.csv: moved rows only, numbered as in the user's file.
fn links_of(chain: usize, links: &[MovedRow]) -> Chain<'static> {
    let column = |value: fn(&MovedRow) -> usize| {
        Values::Whole(links.iter().map(|link| value(link) as i64).collect())
    };
    vec![
        ("chain", Values::Whole(vec![chain as i64; links.len()])),
        ("draw", column(|link| link.draw)),
        ("row", column(|link| link.row)),
        ("linked_to", column(|link| link.linked_to)),
    ]
}

fn write_table(path: &Path, chains: &[Chain]) -> Result<(), ParquetError> {
    let mut fields = Vec::new();
    for (name, values) in &chains[0] {
        let physical = match values {
            Values::Whole(_) => Physical::INT64,
            Values::Real(_) => Physical::DOUBLE,
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .build()?;
        fields.push(Arc::new(field));
    }
    let schema = Type::group_type_builder("fit")
        .with_fields(fields)
        .build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema), properties)?;
    for chain in chains {
        let mut group = writer.next_row_group()?;
        for (_, values) in chain {
            let mut column = group.next_column()?.expect("as many columns as fields");
            match values {
                Values::Whole(values) => column
                    .typed::<Int64Type>()
                    .write_batch(values, None, None)?,
                Values::Real(values) => column
                    .typed::<DoubleType>()
                    .write_batch(values, None, None)?,
            };
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
