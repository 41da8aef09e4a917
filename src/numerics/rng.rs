//! Random number streams: one for each chain and purpose, whatever thread runs them.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub type ChainRng = ChaCha8Rng;

/// The stream of `chain` (from 1). Streams of one ChaCha key never overlap.
pub fn stream(seed: u64, chain: usize) -> ChainRng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(chain as u64);
    rng
}

/// Seeds of the generators that Stan's generated quantities draw from: one for each draw of a chain, whatever was drawn
/// before, so that a chain that is resumed has no generator of Stan's to restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawSeeds {
    seed: u64,
    chain: usize,
}

impl DrawSeeds {
    pub fn new(seed: u64, chain: usize) -> DrawSeeds {
        DrawSeeds { seed, chain }
    }

    /// The word number `draw` of a stream that nothing else draws from: chains have small numbers, and other purposes
    /// the largest.
    pub fn of_draw(self, draw: usize) -> u32 {
        let mut rng = stream(self.seed, self.chain);
        rng.set_stream((self.chain as u64).wrapping_add(1 << 62));
        rng.set_word_pos(draw as u128);
        rng.next_u32()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn draws_of_all_chains_have_seeds_of_their_own() {
        let mut seeds = BTreeSet::new();
        for seed in [1, 2] {
            for chain in 1..=4 {
                seeds.extend((0..50).map(|draw| DrawSeeds::new(seed, chain).of_draw(draw)));
            }
        }
        // Two of 400 among 2^32 agree with probability 2e-5.
        assert_eq!(seeds.len(), 400);
        let again = DrawSeeds::new(2, 4).of_draw(49);
        assert!(seeds.contains(&again));
    }
}
