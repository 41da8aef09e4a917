//! The links: a one-to-one choice among the pairs, and the probability that each is right.

use super::labels::Labels;
use super::pairs::Pair;
use crate::numerics::best_assignment;

/// Pairs that are right by their labels, and the most probable one-to-one links among the others: the sum of
/// logit(p) - logit(threshold) is largest, which at 0.5 is the mode of independent pairs given that they are one to one. Where
/// the pairs have no probabilities there are as many links as possible.
pub(super) fn pick(
    pairs: &[Pair],
    labels: &Labels,
    (num_left, num_right): (usize, usize),
    threshold: f64,
) -> Vec<(usize, usize)> {
    // Each row may also stay without a link, which is worth 0: a column of its own behind those of the right file.
    let mut rows: Vec<Vec<(usize, f64)>> = (0..num_left)
        .map(|row| vec![(num_right + row, 0.0)])
        .collect();
    for pair in pairs.iter().filter(|pair| labels.allow(pair)) {
        let worth = worth(pair, threshold);
        if worth > 0.0 {
            rows[pair.left].push((pair.right, worth));
        }
    }
    let columns = best_assignment(&rows, num_right + num_left).into_iter();
    let links = columns
        .enumerate()
        .filter(|(_, column)| *column < num_right);
    labels.links().chain(links).collect()
}

fn worth(pair: &Pair, threshold: f64) -> f64 {
    match pair.probability {
        None => 1.0,
        // A threshold of 0 takes every pair.
        Some(p) => log_odds(p) - log_odds(threshold.max(1e-12)),
    }
}

fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// For each link the probability that it is right, given that links are one to one and pairs else independent with their
/// odds: belief propagation over the pairs, which converges on every graph (Bayati and Nair 2006, A rigorous proof of the
/// cavity method for counting matchings) and is exact where the pairs close no circle.
pub(super) fn link_probabilities(
    links: &[(usize, usize)],
    possible: &[&Pair],
    (num_left, num_right): (usize, usize),
) -> Vec<f64> {
    /// Far more than pairs of certainty 1e-9 need; the last two rounds lie on both sides of the fixed point.
    const MOST_ROUNDS: usize = 2000;
    let odds: Vec<f64> = possible.iter().map(|pair| pair.weight()).collect();
    // How free of other partners a record is, as its partner in the pair hears it.
    let (mut of_left, mut of_right) = (vec![1.0; odds.len()], vec![1.0; odds.len()]);
    for _ in 0..MOST_ROUNDS {
        let new_left = freedom(possible, &odds, &of_right, num_left, |pair| pair.left);
        let new_right = freedom(possible, &odds, &of_left, num_right, |pair| pair.right);
        let change = largest_change(&new_left, &of_left).max(largest_change(&new_right, &of_right));
        (of_left, of_right) = (new_left, new_right);
        if change < 1e-10 {
            break;
        }
    }
    let mut of_link = vec![0.0; num_left];
    let mut partner = vec![None; num_left];
    for &(left, right) in links {
        partner[left] = Some(right);
    }
    for (k, pair) in possible.iter().enumerate() {
        if partner[pair.left] == Some(pair.right) {
            let weight = odds[k] * of_left[k] * of_right[k];
            of_link[pair.left] = weight / (1.0 + weight);
        }
    }
    links.iter().map(|&(left, _)| of_link[left]).collect()
}

/// For each pair 1 / (1 + the sum over the other pairs of its record of their odds and of the freedom of their partners).
fn freedom(
    pairs: &[&Pair],
    odds: &[f64],
    of_partner: &[f64],
    num_records: usize,
    record: impl Fn(&Pair) -> usize,
) -> Vec<f64> {
    let mut sums = vec![0.0; num_records];
    // The largest term is kept apart: taken from a sum, it would leave nothing of the others.
    let mut largest = vec![(0.0, usize::MAX); num_records];
    for (k, pair) in pairs.iter().enumerate() {
        let (term, record) = (odds[k] * of_partner[k], record(pair));
        let held = &mut largest[record];
        if term > held.0 {
            sums[record] += held.0;
            *held = (term, k);
        } else {
            sums[record] += term;
        }
    }
    let others = |(k, pair): (usize, &&Pair)| {
        let record = record(pair);
        let (term, holder) = largest[record];
        let others = match holder == k {
            true => sums[record],
            false => (sums[record] - odds[k] * of_partner[k]).max(0.0) + term,
        };
        1.0 / (1.0 + others)
    };
    pairs.iter().enumerate().map(others).collect()
}

fn largest_change(new: &[f64], old: &[f64]) -> f64 {
    let changes = new.iter().zip(old).map(|(new, old)| (new - old).abs());
    changes.fold(0.0, f64::max)
}
