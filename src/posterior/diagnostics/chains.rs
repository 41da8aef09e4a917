//! What every diagnostic asks of a set of chains before it computes: enough finite draws that are not all equal.

/// Below this, a half chain has no autocovariance to speak of.
const MIN_DRAWS_PER_CHAIN: usize = 4;

/// Whether R-hat, ESS and MCSE of these chains exist.
pub(super) fn can_be_judged(chains: &[&[f64]]) -> bool {
    let Some(first) = chains.first() else {
        return false;
    };
    assert!(
        chains.iter().all(|chain| chain.len() == first.len()),
        "chains must have equal lengths: truncate them to the shortest first"
    );
    first.len() >= MIN_DRAWS_PER_CHAIN
        && chains
            .iter()
            .flat_map(|chain| chain.iter())
            .all(|x| x.is_finite())
        && !is_constant(chains)
}

pub(super) fn is_constant<C: AsRef<[f64]>>(chains: &[C]) -> bool {
    let mut draws = chains.iter().flat_map(|chain| chain.as_ref());
    let first = draws.next();
    draws.all(|x| Some(x) == first)
}

pub(super) fn pool(chains: &[&[f64]]) -> Vec<f64> {
    chains.concat()
}

/// Both halves of every chain; the middle draw of an odd length is left out.
pub(super) fn split<C: AsRef<[f64]>>(chains: &[C]) -> Vec<Vec<f64>> {
    chains
        .iter()
        .flat_map(|chain| {
            let chain = chain.as_ref();
            let half = chain.len() / 2;
            [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()]
        })
        .collect()
}

/// The same function applied to every draw.
pub(super) fn map_draws<C: AsRef<[f64]>>(chains: &[C], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains
        .iter()
        .map(|chain| chain.as_ref().iter().map(|&x| f(x)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_short_or_non_finite_chains_cannot_be_judged() {
        assert!(can_be_judged(&[&[1.0, 2.0, 1.0, 3.0]]));
        assert!(!can_be_judged(&[]));
        assert!(!can_be_judged(&[&[], &[]]));
        assert!(!can_be_judged(&[&[1.0, 2.0, 3.0]]));
        assert!(!can_be_judged(&[&[0.1; 8], &[0.1; 8]]));
        assert!(can_be_judged(&[&[0.1; 8], &[0.2; 8]]));
        assert!(!can_be_judged(&[&[1.0, 2.0, f64::NAN, 3.0]]));
        assert!(!can_be_judged(&[&[1.0, 2.0, f64::NEG_INFINITY, 3.0]]));
    }

    #[test]
    #[should_panic(expected = "equal lengths")]
    fn chains_of_unequal_lengths_are_a_programming_error() {
        can_be_judged(&[&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0, 5.0]]);
    }

    #[test]
    fn splitting_an_odd_chain_leaves_out_its_middle() {
        let halves = split(&[&[1.0, 2.0, 3.0, 4.0, 5.0]]);
        assert_eq!(halves, [vec![1.0, 2.0], vec![4.0, 5.0]]);
    }
}
