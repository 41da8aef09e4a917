//! The table of blocks: how many wrong links are expected in each.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::posterior::Row;
use crate::posterior::links::RowLinks;
use crate::report::format::{percent, significant};

/// Blocks shown, those with the largest expected number of moved rows.
const MOST_BLOCKS: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockTable {
    pub blocks: Vec<Block>,
    pub num_left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    pub label: String,
    pub num_rows: usize,
    /// The expected number of moved rows, as sorted and as shown.
    pub expected: f64,
    pub expected_text: String,
    pub share: f64,
    pub share_text: String,
}

impl BlockTable {
    /// None where the data have no blocks.
    pub fn new(links: &[RowLinks], data: &[Row]) -> Option<BlockTable> {
        let mut sums: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
        for (links, row) in links.iter().zip(data) {
            let (num_rows, expected) = sums.entry(row.block.as_deref()?).or_default();
            *num_rows += 1;
            *expected += links.p_moved;
        }
        let blocks = sums.into_iter().map(|(label, (num_rows, expected))| {
            let share = expected / num_rows as f64;
            Block {
                label: label.into(),
                num_rows,
                expected,
                expected_text: significant(expected, 3),
                share,
                share_text: percent(share),
            }
        });
        let mut blocks: Vec<Block> = blocks.collect();
        blocks.sort_by(|a, b| b.expected.total_cmp(&a.expected));
        let num_left_out = blocks.len().saturating_sub(MOST_BLOCKS);
        blocks.truncate(MOST_BLOCKS);
        (!blocks.is_empty()).then_some(BlockTable {
            blocks,
            num_left_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{data_rows, row_links};
    use super::*;

    #[test]
    fn blocks_are_ranked_by_the_expected_number_of_moved_rows() {
        let shares = [0.1, 0.9, 0.2, 0.8, 0.0];
        let links: Vec<RowLinks> = (0..5).map(|k| row_links(k, &[(9, shares[k])])).collect();
        let mut data = data_rows(&links);
        assert_eq!(BlockTable::new(&links, &data), None);
        for (row, label) in data.iter_mut().zip(["n", "<s>", "n", "<s>", "e"]) {
            row.block = Some(label.into());
        }
        let table = BlockTable::new(&links, &data).unwrap();
        let shown = table.blocks.iter().map(|block| {
            let texts = (block.expected_text.as_str(), block.share_text.as_str());
            (block.label.as_str(), block.num_rows, texts)
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(
            shown,
            [
                ("<s>", 2, ("1.70", "85 %")),
                ("n", 2, ("0.300", "15 %")),
                ("e", 1, ("0", "0 %")),
            ]
        );
    }

    #[test]
    fn many_blocks_are_cut_at_the_quietest() {
        let links: Vec<RowLinks> = (0..300)
            .map(|k| row_links(k, &[(k + 1, k as f64 / 400.0)]))
            .collect();
        let mut data = data_rows(&links);
        for row in &mut data {
            row.block = Some(format!("block {}", row.number));
        }
        let table = BlockTable::new(&links, &data).unwrap();
        assert_eq!((table.blocks.len(), table.num_left_out), (200, 100));
        assert_eq!(table.blocks[0].label, "block 300");
        assert_eq!(table.blocks[199].label, "block 101");
    }
}
