//! Who changed places with whom: the cycles of the permutation that many draws have in common.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::table::Probability;
use crate::posterior::Posterior;
use crate::posterior::draws::LinkDraws;

/// Cycles in a smaller share of the draws say nothing.
const LEAST_SHARE: f64 = 0.05;
/// Cycles shown, the most frequent first.
const MOST_CYCLES: usize = 100;
/// Longer cycles hardly ever come twice.
const LONGEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cycles {
    pub cycles: Vec<Cycle>,
    pub num_left_out: usize,
    /// The expected number of rows in the cycles of the table, and of moved rows at all.
    pub num_rows: String,
    pub num_moved: String,
}

/// Rows whose responses changed places.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cycle {
    /// Each row, then the one whose predictors its response belongs to, and the first again.
    pub words: String,
    pub num_rows: usize,
    pub share: Probability,
}

impl Cycles {
    /// None where links were kept, or where no cycle is frequent.
    pub fn new(fit: &Posterior) -> Option<Cycles> {
        let links = fit.links.as_ref()?;
        let num_draws: usize = links.chains().iter().map(LinkDraws::num_draws).sum();
        // A frequent cycle has frequent links alone.
        let least = (1.0 - 1e-9) * LEAST_SHARE * num_draws as f64;
        let frequent = links.frequent(least);
        let is_frequent = |row, column| frequent.contains(&(row, column));
        let mut found: Vec<(Vec<usize>, f64)> = counted(links.chains(), is_frequent)
            .into_iter()
            .map(|(cycle, count)| (cycle, count as f64 / num_draws as f64))
            .filter(|(_, share)| *share >= LEAST_SHARE)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let num_left_out = found.len().saturating_sub(MOST_CYCLES);
        found.truncate(MOST_CYCLES);
        let in_table: f64 = found.iter().map(|(rows, p)| rows.len() as f64 * p).sum();
        let moved: usize = links
            .chains()
            .iter()
            .map(|chain| {
                (0..links.num_rows())
                    .map(|row| chain.row(row).len())
                    .sum::<usize>()
            })
            .sum();
        let cycle = |(rows, share): (Vec<usize>, f64)| Cycle {
            words: words(&rows, |row| fit.row_label(row)),
            num_rows: rows.len(),
            share: share.into(),
        };
        (!found.is_empty()).then(|| Cycles {
            cycles: found.into_iter().map(cycle).collect(),
            num_left_out,
            num_rows: format!("{in_table:.1}"),
            num_moved: format!("{:.1}", moved as f64 / num_draws as f64),
        })
    }
}

/// In how many draws each cycle of frequent links is; a cycle begins with its first row. The others are many in a large file.
fn counted(
    chains: &[LinkDraws],
    is_frequent: impl Fn(usize, usize) -> bool,
) -> HashMap<Vec<usize>, usize> {
    let mut counts = HashMap::new();
    for draw in chains.iter().flat_map(LinkDraws::by_draw) {
        let links = draw.iter().copied();
        let next: HashMap<usize, usize> =
            links.filter(|(row, to)| is_frequent(*row, *to)).collect();
        // Rows come in ascending order, so the first row of a cycle is met first.
        let mut is_seen = HashSet::new();
        for &(first, _) in &draw {
            if !is_seen.insert(first) {
                continue;
            }
            let mut cycle = vec![first];
            // Files that were edited may hold what is no permutation; it is not counted.
            let mut row = next.get(&first);
            while let Some(&here) = row.filter(|row| **row != first && cycle.len() < next.len()) {
                is_seen.insert(here);
                cycle.push(here);
                row = next.get(&here);
            }
            if row == Some(&first) && cycle.len() <= LONGEST {
                *counts.entry(cycle).or_insert(0) += 1;
            }
        }
    }
    counts
}

fn words(rows: &[usize], label: impl Fn(usize) -> String) -> String {
    match rows {
        [a, b] => format!("{} \u{21c4} {}", label(*a), label(*b)),
        _ => {
            let around = rows.iter().chain(&rows[..1]);
            let labels: Vec<String> = around.map(|row| label(*row)).collect();
            labels.join(" \u{2192} ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::verdict_example::Example;

    #[test]
    fn swaps_are_counted_in_the_draws() {
        let fit = Example::default().fit();
        let cycles = Cycles::new(&fit).unwrap();
        let shown: Vec<(&str, usize)> = cycles
            .cycles
            .iter()
            .map(|c| (c.words.as_str(), c.num_rows))
            .collect();
        assert_eq!(shown, [("3 \u{21c4} 8", 2), ("12 \u{21c4} 16", 2)]);
        let p_moved = fit.links.as_ref().unwrap().row(2).p_moved;
        assert_eq!(cycles.cycles[0].share.value, p_moved);
        assert_eq!(cycles.num_rows, cycles.num_moved, "nothing else moves");
    }

    #[test]
    fn a_cycle_of_three_goes_round_in_its_direction() {
        // In the second of two draws, the response of row 1 belongs to the predictors of row 4, and so on.
        let draws = LinkDraws::from_moved(5, 2, [(1, 1, 4), (1, 4, 2), (1, 2, 1)]);
        let counts = counted(&[draws], |_, _| true);
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(vec![1, 4, 2], 1)]);
        let label = |row: usize| row.to_string();
        assert_eq!(
            words(&[1, 4, 2], label),
            "1 \u{2192} 4 \u{2192} 2 \u{2192} 1"
        );
    }

    #[test]
    fn what_is_no_permutation_is_not_counted() {
        let open = LinkDraws::from_moved(5, 1, [(0, 1, 4)]);
        let rho = LinkDraws::from_moved(5, 1, [(0, 0, 1), (0, 1, 2), (0, 2, 1)]);
        assert!(counted(&[open], |_, _| true).is_empty());
        assert!(
            counted(&[rho], |_, _| true)
                .keys()
                .all(|cycle| cycle[0] != 0)
        );
    }

    #[test]
    fn rare_cycles_are_not_shown() {
        let example = Example {
            swaps: vec![(2, 7, 0.01)],
            ..Example::default()
        };
        assert_eq!(Cycles::new(&example.fit()), None);
    }
}
