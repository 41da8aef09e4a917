//! Rank normalisation: draws replaced by the normal scores of their ranks over all chains.

use crate::numerics::special::normal_quantile;

/// Normal scores of the pooled ranks, by Blom's offset of 3/8 (Vehtari et al. 2021, equation 14).
pub(super) fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let pooled = chains.concat();
    let size = pooled.len() as f64;
    let scores: Vec<f64> = average_ranks(&pooled)
        .into_iter()
        .map(|rank| normal_quantile((rank - 0.375) / (size + 0.25)))
        .collect();
    let num_draws = chains.first().map_or(0, Vec::len);
    scores
        .chunks(num_draws.max(1))
        .map(<[f64]>::to_vec)
        .collect()
}

/// Ranks from 1; tied draws share the average of their ranks.
fn average_ranks(draws: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..draws.len()).collect();
    order.sort_unstable_by(|&i, &j| draws[i].total_cmp(&draws[j]));
    let mut ranks = vec![0.0; draws.len()];
    let mut num_before = 0;
    // `==` and not `total_cmp` joins ties, so that -0 and 0, which sort side by side, are one value.
    for ties in order.chunk_by(|&i, &j| draws[i] == draws[j]) {
        let rank = num_before as f64 + (ties.len() + 1) as f64 / 2.0;
        ties.iter().for_each(|&i| ranks[i] = rank);
        num_before += ties.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_average_rank() {
        assert_eq!(
            average_ranks(&[3.0, 1.0, 3.0, 2.0, 3.0]),
            [4.0, 1.0, 4.0, 2.0, 4.0]
        );
        assert_eq!(average_ranks(&[0.0, -0.0, 1.0]), [1.5, 1.5, 3.0]);
    }

    #[test]
    fn scores_keep_the_shape_and_are_symmetric() {
        let scores = normal_scores(&[vec![1.0, 4.0], vec![2.0, 3.0]]);
        assert_eq!(scores.len(), 2);
        assert!((scores[0][0] + scores[0][1]).abs() < 1e-15);
        assert!((scores[0][1] - normal_quantile(3.625 / 4.25)).abs() < 1e-15);
    }
}
