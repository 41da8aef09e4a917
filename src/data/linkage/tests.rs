//! Picked links against all one-to-one choices, and their probabilities against sums over them.

use rand::Rng;

use super::labels::Labels;
use super::pairs::Pair;
use super::pick::{link_probabilities, pick};
use crate::numerics::rng;

/// Every one-to-one choice among the pairs, as lists of their indices.
fn choices(pairs: &[Pair]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for (index, pair) in pairs.iter().enumerate() {
        let fits = |choice: &&Vec<usize>| {
            let clash = |&k: &usize| pairs[k].left == pair.left || pairs[k].right == pair.right;
            !choice.iter().any(clash)
        };
        let longer: Vec<Vec<usize>> = found.iter().filter(fits).cloned().collect();
        found.extend(longer.into_iter().map(|mut choice| {
            choice.push(index);
            choice
        }));
    }
    found
}

fn random_pairs(seed: usize, sizes: (usize, usize)) -> Vec<Pair> {
    let mut rng = rng::stream(seed as u64, 0);
    let mut pairs = Vec::new();
    for left in 0..sizes.0 {
        for right in 0..sizes.1 {
            if rng.random_bool(0.6) {
                pairs.push(Pair {
                    left,
                    right,
                    probability: Some(rng.random_range(0.02..0.98)),
                });
            }
        }
    }
    pairs
}

fn log_odds(pairs: &[Pair], links: &[(usize, usize)]) -> f64 {
    let chosen = pairs
        .iter()
        .filter(|pair| links.contains(&(pair.left, pair.right)));
    chosen.map(|pair| pair.weight().ln()).sum()
}

#[test]
fn the_most_probable_links_are_picked() {
    let sizes = (4, 5);
    let mut num_greedy_fails = 0;
    for seed in 0..200 {
        let pairs = random_pairs(seed, sizes);
        let links = pick(&pairs, &Labels::default(), sizes, 0.5);
        let best = choices(&pairs).into_iter().map(|choice| {
            let weights = choice.iter().map(|&k| pairs[k].weight().ln());
            weights.sum::<f64>()
        });
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        assert!(
            (log_odds(&pairs, &links) - best).abs() < 1e-9,
            "seed {seed}"
        );
        num_greedy_fails += usize::from(log_odds(&pairs, &greedy(&pairs)) < best - 1e-9);
    }
    // The cases can tell: taking the most probable pair first is often worse.
    assert!(num_greedy_fails > 10, "{num_greedy_fails}");
}

fn greedy(pairs: &[Pair]) -> Vec<(usize, usize)> {
    let mut order: Vec<&Pair> = pairs.iter().filter(|pair| pair.weight() > 1.0).collect();
    order.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    let mut links: Vec<(usize, usize)> = Vec::new();
    for pair in order {
        if links
            .iter()
            .all(|&(left, right)| left != pair.left && right != pair.right)
        {
            links.push((pair.left, pair.right));
        }
    }
    links
}

#[test]
fn a_higher_threshold_keeps_fewer_links() {
    let sizes = (4, 5);
    let num_links = |threshold: f64| -> usize {
        let links = (0..50).map(|seed| {
            pick(
                &random_pairs(seed, sizes),
                &Labels::default(),
                sizes,
                threshold,
            )
            .len()
        });
        links.sum()
    };
    assert!(num_links(0.0) > num_links(0.5));
    assert!(num_links(0.5) > num_links(0.9));
    for seed in 0..50 {
        let pairs = random_pairs(seed, sizes);
        for (left, right) in pick(&pairs, &Labels::default(), sizes, 0.9) {
            let pair = pairs
                .iter()
                .find(|pair| (pair.left, pair.right) == (left, right));
            assert!(pair.unwrap().probability.unwrap() > 0.9);
        }
    }
}

#[test]
fn pairs_without_probabilities_give_as_many_links_as_possible() {
    let pair = |left, right| Pair {
        left,
        right,
        probability: None,
    };
    // Taking (0, 0) first would leave row 1 without a link.
    let pairs = [pair(0, 0), pair(0, 1), pair(1, 0)];
    let mut links = pick(&pairs, &Labels::default(), (2, 2), 0.5);
    links.sort_unstable();
    assert_eq!(links, [(0, 1), (1, 0)]);
}

/// The probability of link (0, 0) given that links are one to one, by enumeration.
fn enumerated(pairs: &[Pair]) -> f64 {
    let (mut with, mut all) = (0.0, 0.0);
    for choice in choices(pairs) {
        let weight: f64 = choice.iter().map(|&k| pairs[k].weight()).product();
        all += weight;
        if choice
            .iter()
            .any(|&k| (pairs[k].left, pairs[k].right) == (0, 0))
        {
            with += weight;
        }
    }
    with / all
}

#[test]
fn a_link_shares_its_probability_with_the_other_pairs_of_its_records() {
    let pair = |left, right, p| Pair {
        left,
        right,
        probability: Some(p),
    };
    let lonely = [pair(0, 0, 0.8)];
    let shared = [pair(0, 0, 0.9), pair(0, 1, 0.9)];
    let star = [
        pair(0, 0, 0.9),
        pair(0, 1, 0.7),
        pair(0, 2, 0.2),
        pair(1, 0, 0.6),
        pair(2, 0, 0.95),
    ];
    // No circle: 0-0, 0-1, 1-1, 1-2, 2-2.
    let chain = [
        pair(0, 0, 0.7),
        pair(0, 1, 0.8),
        pair(1, 1, 0.95),
        pair(1, 2, 0.99),
        pair(2, 2, 1.0 - 1e-9),
    ];
    for pairs in [&lonely[..], &shared, &star, &chain] {
        let refs: Vec<&Pair> = pairs.iter().collect();
        let found = link_probabilities(&[(0, 0)], &refs, (3, 3))[0];
        let expected = enumerated(pairs);
        assert!((found - expected).abs() < 1e-9, "{found} where {expected}");
    }
    // Two equal candidates are not 0.9 each.
    let refs: Vec<&Pair> = shared.iter().collect();
    let found = link_probabilities(&[(0, 0)], &refs, (1, 2))[0];
    assert!((found - 9.0 / 19.0).abs() < 1e-9);
}

/// Where pairs close circles the probabilities are close, and far closer than those of the pairs alone.
#[test]
fn circles_change_the_probabilities_little() {
    let sizes = (4, 4);
    let (mut error, mut error_alone) = (0.0f64, 0.0f64);
    for seed in 0..200 {
        let mut pairs = random_pairs(seed, sizes);
        pairs.retain(|pair| (pair.left, pair.right) != (0, 0));
        pairs.push(Pair {
            left: 0,
            right: 0,
            probability: Some(0.9),
        });
        let refs: Vec<&Pair> = pairs.iter().collect();
        let found = link_probabilities(&[(0, 0)], &refs, sizes)[0];
        let expected = enumerated(&pairs);
        error = error.max((found - expected).abs());
        error_alone = error_alone.max((0.9 - expected).abs());
    }
    assert!(error < 0.05, "{error}");
    assert!(error_alone > 0.3, "{error_alone}");
}
