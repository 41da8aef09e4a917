//! The blocks of a program's parameters that unshuffle sets and never samples: the response and, where it has them, the
//! weights of the rows.

use std::ops::Range;

/// Places of the set blocks in a vector of all parameters; theta is the rest, in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FixedBlocks {
    pub response: Range<usize>,
    /// Empty for a program without weights.
    pub weight: Range<usize>,
}

impl FixedBlocks {
    pub fn len(&self) -> usize {
        self.response.len() + self.weight.len()
    }

    pub fn contains(&self, place: usize) -> bool {
        self.response.contains(&place) || self.weight.contains(&place)
    }

    /// What is left of a vector with `length` entries: before, between and behind the two blocks.
    pub fn gaps(&self, length: usize) -> [Range<usize>; 3] {
        let mut blocks = [&self.weight, &self.response];
        blocks.sort_by_key(|block| (block.start, block.end));
        let [first, second] = blocks;
        [0..first.start, first.end..second.start, second.end..length]
    }

    /// Copies theta to its places.
    pub fn scatter(&self, theta: &[f64], full: &mut [f64]) {
        let mut start = 0;
        for gap in self.gaps(full.len()) {
            let end = start + gap.len();
            full[gap].copy_from_slice(&theta[start..end]);
            start = end;
        }
    }

    /// Copies theta, or its gradient, from its places.
    pub fn gather(&self, full: &[f64], theta: &mut [f64]) {
        let mut start = 0;
        for gap in self.gaps(full.len()) {
            let end = start + gap.len();
            theta[start..end].copy_from_slice(&full[gap]);
            start = end;
        }
    }

    /// Where the entry `index` of theta stands among all parameters.
    pub fn place_of(&self, index: usize, length: usize) -> usize {
        let mut places = self.gaps(length).into_iter().flatten();
        places.nth(index).expect("an entry of theta")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn theta_stands_around_the_blocks_wherever_they_are() {
        let full: Vec<f64> = (0..9).map(f64::from).collect();
        let blocks = |response, weight| FixedBlocks { response, weight };
        for (blocks, expected) in [
            (blocks(2..4, 6..8), vec![0.0, 1.0, 4.0, 5.0, 8.0]),
            (blocks(6..8, 2..4), vec![0.0, 1.0, 4.0, 5.0, 8.0]),
            (blocks(0..2, 2..4), vec![4.0, 5.0, 6.0, 7.0, 8.0]),
            (blocks(5..9, 0..0), vec![0.0, 1.0, 2.0, 3.0, 4.0]),
            (blocks(0..4, 0..0), vec![4.0, 5.0, 6.0, 7.0, 8.0]),
        ] {
            let mut theta = vec![0.0; 5];
            blocks.gather(&full, &mut theta);
            assert_eq!(theta, expected, "{blocks:?}");
            let mut back = vec![-1.0; 9];
            blocks.scatter(&theta, &mut back);
            for (k, value) in back.iter().enumerate() {
                let wanted = if blocks.contains(k) { -1.0 } else { k as f64 };
                assert_eq!(*value, wanted, "{blocks:?}");
            }
            for (index, value) in theta.iter().enumerate() {
                assert_eq!(blocks.place_of(index, 9) as f64, *value);
            }
            assert_eq!(blocks.len(), 4);
        }
    }
}
