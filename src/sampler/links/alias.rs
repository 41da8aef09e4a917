//! Walker's alias table: O(1) draws from weights, rebuilt in place without allocation.

#[derive(Clone, Debug, Default)]
pub(crate) struct AliasTable {
    /// Probability of keeping the slot that was hit.
    keep: Vec<f64>,
    alias: Vec<usize>,
    small: Vec<usize>,
    large: Vec<usize>,
}

impl AliasTable {
    pub fn reserve(&mut self, capacity: usize) {
        for list in [&mut self.alias, &mut self.small, &mut self.large] {
            list.clear();
            list.reserve(capacity);
        }
        self.keep.clear();
        self.keep.reserve(capacity);
    }

    /// Vose's construction, from positive weights that need not sum to one.
    pub fn rebuild(&mut self, weights: impl ExactSizeIterator<Item = f64> + Clone) {
        let scale = weights.len() as f64 / weights.clone().sum::<f64>();
        self.keep.clear();
        self.alias.clear();
        self.small.clear();
        self.large.clear();
        for (slot, weight) in weights.enumerate() {
            let share = weight * scale;
            self.keep.push(share);
            self.alias.push(slot);
            if share < 1.0 {
                self.small.push(slot);
            } else {
                self.large.push(slot);
            }
        }
        while let (Some(&small), Some(&large)) = (self.small.last(), self.large.last()) {
            self.small.pop();
            self.alias[small] = large;
            self.keep[large] -= 1.0 - self.keep[small];
            if self.keep[large] < 1.0 {
                self.large.pop();
                self.small.push(large);
            }
        }
        // What rounding leaves over has a full slot of its own.
        for &slot in self.small.iter().chain(&self.large) {
            self.keep[slot] = 1.0;
        }
    }

    /// The slot that 64 uniform bits stand for.
    #[inline]
    pub fn pick(&self, bits: u64) -> usize {
        let (slot, rest) = split(bits, self.keep.len());
        if (rest as f64) < self.keep[slot] * TWO_TO_64 {
            slot
        } else {
            self.alias[slot]
        }
    }
}

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// A uniform index below `len` from 64 uniform bits, and what is left of them, as 64 bits again: of their precision, that of
/// the index is gone.
#[inline]
pub(crate) fn split(bits: u64, len: usize) -> (usize, u64) {
    let product = u128::from(bits) * len as u128;
    ((product >> 64) as usize, product as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_holds_exactly_the_weights() {
        let weights = [0.5, 3.0, 1e-9, 7.0, 2.0, 2.0];
        let mut table = AliasTable::default();
        table.rebuild([1.0, 1.0].into_iter());
        table.rebuild(weights.iter().copied());
        let mut mass = [0.0; 6];
        for slot in 0..6 {
            mass[slot] += table.keep[slot] / 6.0;
            mass[table.alias[slot]] += (1.0 - table.keep[slot]) / 6.0;
        }
        let sum: f64 = weights.iter().sum();
        for (slot, weight) in weights.iter().enumerate() {
            assert!((mass[slot] - weight / sum).abs() < 1e-15);
        }
    }
}
