//! The links of each draw: moved rows only, numbered as in the user's file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::DrawsError;
use crate::permutation::Permutation;

const HEADER: &str = "draw,row,linked_to";

pub struct LinksWriter {
    out: BufWriter<File>,
}

impl LinksWriter {
    pub fn create(path: &Path) -> io::Result<LinksWriter> {
        let mut out = BufWriter::new(File::create(path)?);
        writeln!(out, "{HEADER}")?;
        Ok(LinksWriter { out })
    }

    /// `draw` counts from 1.
    pub fn draw(&mut self, draw: usize, pi: &Permutation) -> io::Result<()> {
        let mut moved = pi.moved().to_vec();
        moved.sort_unstable();
        for row in moved {
            writeln!(self.out, "{draw},{},{}", row + 1, pi.column_of(row) + 1)?;
        }
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// One moved row of one draw; all from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedRow {
    pub draw: usize,
    pub row: usize,
    pub linked_to: usize,
}

pub fn read_links(path: &Path) -> Result<Vec<MovedRow>, DrawsError> {
    let text = fs::read_to_string(path).map_err(|source| DrawsError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let malformed = |line: usize, what: &str| DrawsError::Malformed {
        path: path.to_path_buf(),
        line,
        what: what.to_string(),
    };
    let mut lines = text.lines().enumerate();
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
