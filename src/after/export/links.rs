//! The links of single draws, from the saved files of a fit.

use std::path::PathBuf;

use crate::posterior::Folder;
use crate::posterior::draws::{DrawsError, MovedRow, read_links};
use crate::posterior::links::RowNumbers;
use crate::sampler::links::Permutation;

/// The moved rows of every draw of one chain.
pub(crate) struct ChainLinks {
    path: PathBuf,
    /// Sorted by draw.
    moved: Vec<MovedRow>,
}

impl ChainLinks {
    pub fn read(folder: &Folder, chain: usize) -> Result<ChainLinks, DrawsError> {
        let path = folder.links(chain);
        let mut moved = read_links(&path)?;
        moved.sort_by_key(|link| link.draw);
        Ok(ChainLinks { path, moved })
    }

    /// `draw` counts from 0; every row number is known to be one of `rows`.
    pub fn draw(&self, draw: usize, rows: &RowNumbers) -> Result<Permutation, DrawsError> {
        let number = draw + 1;
        let start = self.moved.partition_point(|link| link.draw < number);
        let end = self.moved.partition_point(|link| link.draw <= number);
        let mut forward: Vec<usize> = (0..rows.num_rows()).collect();
        for link in &self.moved[start..end] {
            let ends = rows.place(link.row).zip(rows.column(link.linked_to));
            let (row, column) = ends.expect("checked when the links were counted");
            forward[row] = column;
        }
        Permutation::from_partial(forward, rows.num_columns()).map_err(|_| DrawsError::Malformed {
            path: self.path.clone(),
            line: start + 2,
            what: format!("the links of draw {number} are not one to one"),
        })
    }

    #[cfg(feature = "parquet")]
    pub fn all(&self) -> &[MovedRow] {
        &self.moved
    }
}
