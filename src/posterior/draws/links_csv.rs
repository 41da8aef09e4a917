//! The links of each draw: moved rows only, numbered as in the user's file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::DrawsError;
use super::read::whole_lines;
use crate::posterior::links::RowNumbers;
use crate::sampler::links::Permutation;
use crate::text::{FileError, read_saved};

const HEADER: &str = "draw,row,linked_to";

pub struct LinksWriter {
    out: BufWriter<File>,
    rows: RowNumbers,
}

impl LinksWriter {
    /// `rows` are the numbers of the user's file, by the row's place in the data.
    pub fn create(path: &Path, rows: RowNumbers) -> io::Result<LinksWriter> {
        let mut out = BufWriter::new(File::create(path)?);
        writeln!(out, "{HEADER}")?;
        Ok(LinksWriter { out, rows })
    }

    /// `draw` counts from 1.
    pub fn draw(&mut self, draw: usize, pi: &Permutation) -> io::Result<()> {
        let mut moved = pi.moved().to_vec();
        moved.sort_unstable();
        for row in moved {
            let own = self.rows.number(row);
            let other = self.rows.column_number(pi.column_of(row));
            writeln!(self.out, "{draw},{own},{other}")?;
        }
        Ok(())
    }

    /// A row as an earlier run of the same chain wrote it.
    pub(super) fn written_row(&mut self, moved: &MovedRow) -> io::Result<()> {
        let MovedRow {
            draw,
            row,
            linked_to,
        } = moved;
        writeln!(self.out, "{draw},{row},{linked_to}")
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes, and waits until the rows are on the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_data()
    }
}

/// One moved row of one draw; draws count from 1, rows are numbered as in the user's file. A response that belongs to nobody
/// in the file is linked to 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedRow {
    pub draw: usize,
    pub row: usize,
    pub linked_to: usize,
}

/// Reads the moved rows of every draw of a chain.
pub fn read_links(path: &Path) -> Result<Vec<MovedRow>, DrawsError> {
    let text = read_saved(path).map_err(FileError::read(path))?;
    let malformed = |line: usize, what: &str| DrawsError::Malformed {
        path: path.to_path_buf(),
        line,
        what: what.to_string(),
    };
    let mut lines = whole_lines(&text).lines().enumerate();
    if lines.next().map(|(_, line)| line) != Some(HEADER) {
        return Err(malformed(1, "the header is not `draw,row,linked_to`"));
    }
    lines
        .map(|(number, line)| {
            let mut fields = line.split(',').map(|field| field.parse::<usize>().ok());
            match [fields.next(), fields.next(), fields.next(), fields.next()] {
                [
                    Some(Some(draw)),
                    Some(Some(row)),
                    Some(Some(linked_to)),
                    None,
                ] => Ok(MovedRow {
                    draw,
                    row,
                    linked_to,
                }),
                _ => Err(malformed(number + 1, "it is not three whole numbers")),
            }
        })
        .collect()
}
