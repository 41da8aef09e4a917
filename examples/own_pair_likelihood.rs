//! A pair likelihood of one's own in the links step: arrivals that were linked to departures, two of them wrongly.
//!
//!     cargo run --release --example own_pair_likelihood

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use unshuffle::links::{ActiveSet, PairLogLik, Permutation, Prior};

/// Journeys take about an hour: Laplace errors with a scale of 0.2 hours.
struct Journeys {
    departure: Vec<f64>,
    arrival: Vec<f64>,
}

impl PairLogLik for Journeys {
    fn len(&self) -> usize {
        self.departure.len()
    }

    fn pair(&self, row: usize, column: usize) -> f64 {
        -(self.arrival[row] - self.departure[column] - 1.0).abs() / 0.2
    }

    /// The average over all departures against its own; it only decides which rows are proposed more often.
    fn log_mislink_ratio(&self, row: usize) -> f64 {
        let all = (0..self.len()).map(|column| self.pair(row, column).exp());
        (all.sum::<f64>() / self.len() as f64).ln() - self.pair(row, row)
    }
}

fn main() {
    // Arrivals 2 and 3 are exchanged.
    let pairs = Journeys {
        departure: vec![6.0, 7.0, 8.5, 9.8, 11.0, 12.5],
        arrival: vec![7.2, 9.4, 8.1, 10.7, 12.1, 13.4],
    };
    let prior = Prior::beta_binomial(pairs.len(), 1.0, 9.0);
    let mut links = Permutation::identity(pairs.len());
    let mut kernel = ActiveSet::default();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let num_draws = 5000;
    let mut moved = vec![0; pairs.len()];
    for _ in 0..num_draws {
        kernel.step(&mut links, &pairs, &prior, &mut rng);
        links.moved().iter().for_each(|&row| moved[row] += 1);
    }
    for (row, &count) in moved.iter().enumerate() {
        let share = f64::from(count) / f64::from(num_draws);
        println!("arrival {}: P(mismatched) = {share:.2}", row + 1);
    }
}
