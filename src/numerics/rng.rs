//! Random number streams: one for each chain and purpose, whatever thread runs them.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub type ChainRng = ChaCha8Rng;

/// The stream of `chain` (from 1). Streams of one ChaCha key never overlap.
pub fn stream(seed: u64, chain: usize) -> ChainRng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(chain as u64);
    rng
}
