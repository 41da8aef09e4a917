//! Whether the chains agree on which rows are moved.

use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::links::LinksSummary;
use crate::report::by_chain::{reference_series, with_legend};
use crate::report::format::{count, significant};
use crate::report::page::Picture;

/// Rows whose link is settled in the same way in every chain are left out.
const SETTLED: f64 = 0.01;
const MOST_POINTS: usize = 500;

/// P(moved) of one row in one chain, and in the others together.
struct Compared {
    row: usize,
    chain: usize,
    own: f64,
    others: f64,
}

impl Compared {
    fn difference(&self) -> f64 {
        (self.own - self.others).abs()
    }
}

pub fn picture(fit: &Posterior) -> Result<Picture, String> {
    let links = fit
        .links
        .as_ref()
        .ok_or("Every link was kept, so there is nothing to agree on.")?;
    let lengths: Vec<usize> = fit.chains.iter().map(|chain| chain.num_draws()).collect();
    if lengths.iter().filter(|length| **length > 0).count() < 2 {
        return Err("One chain has no other to agree with: set sampler.chains to 4.".into());
    }
    let mut compared = compared(links, &lengths);
    compared.sort_by(|a, b| {
        let order = b.difference().total_cmp(&a.difference());
        order.then((a.row, a.chain).cmp(&(b.row, b.chain)))
    });
    let Some(worst) = compared.first() else {
        return Err(format!(
            "The chains agree on every row: none of the {} has P(moved) between {SETTLED} and {} in any chain.",
            count(links.num_rows(), "row"),
            1.0 - SETTLED
        ));
    };
    let mean = compared.iter().map(Compared::difference).sum::<f64>() / compared.len() as f64;
    let worst = format!(
        "Chains differ from the others by {} on average, and most, by {}, on row {} (chain {}: {} against {})",
        significant(mean, 2),
        significant(worst.difference(), 2),
        fit.row_label(worst.row),
        fit.chains[worst.chain].chain,
        significant(worst.own, 2),
        significant(worst.others, 2)
    );
    let num_all = compared.len();
    compared.truncate(MOST_POINTS);
    let points = |chain: usize| {
        let of_chain = compared.iter().filter(move |point| point.chain == chain);
        let labelled = of_chain.map(|point| {
            let label = format!(
                "row {}, chain {}: {}, others {}",
                fit.row_label(point.row),
                fit.chains[chain].chain,
                significant(point.own, 2),
                significant(point.others, 2)
            );
            (point.others, point.own, label)
        });
        Mark::labelled_points(Series(chain), labelled.collect())
    };
    let panel = Panel::new("")
        .x(Axis::linear("P(moved) in the other chains").range(-0.02, 1.02))
        .y(Axis::linear("P(moved) in the chain").range(-0.02, 1.02))
        .height(380.0)
        .mark(Mark::dashed(
            reference_series(fit),
            vec![(0.0, 0.0), (1.0, 1.0)],
        ))
        .marks((0..fit.chains.len()).map(points));
    let description = format!(
        "Scatter of each chain's probability that a row is moved against that of the other chains, with the diagonal. {worst}."
    );
    let figure = Figure::new("Agreement on the links", description).width(480.0);
    let figure =
        with_legend(figure.panel(panel), fit).legend(reference_series(fit), "full agreement");
    let left_out = match num_all > MOST_POINTS {
        true => format!(" Of {num_all} points the {MOST_POINTS} that disagree most are drawn."),
        false => String::new(),
    };
    let caption = format!(
        "The probability that a row is moved, in one chain against the other chains together; one point for each row and chain, without \
         rows that all chains hold settled. Points near the diagonal mean chains that agree. {worst}.{left_out}"
    );
    Ok(Picture::new(&figure, caption))
}

/// Every chain of every row that is not settled in the same way in all of them.
fn compared(links: &LinksSummary, lengths: &[usize]) -> Vec<Compared> {
    let total: usize = lengths.iter().sum();
    let of_row = |row: usize| {
        let shares = links.share_by_chain(row);
        let with_draws = (0..shares.len()).filter(|chain| lengths[*chain] > 0);
        let with_draws: Vec<usize> = with_draws.collect();
        let all_below = with_draws.iter().all(|chain| shares[*chain] < SETTLED);
        let all_above = with_draws
            .iter()
            .all(|chain| shares[*chain] > 1.0 - SETTLED);
        if all_below || all_above {
            return Vec::new();
        }
        let num_moved = |chain: usize| shares[chain] * lengths[chain] as f64;
        let moved: f64 = with_draws.iter().map(|chain| num_moved(*chain)).sum();
        let compare = |chain: usize| Compared {
            row,
            chain,
            own: shares[chain],
            others: (moved - num_moved(chain)).max(0.0) / (total - lengths[chain]) as f64,
        };
        with_draws.into_iter().map(compare).collect()
    };
    (0..links.num_rows()).flat_map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::draws::MovedRow;
    use crate::posterior::links::RowNumbers;

    #[test]
    fn opposite_certainties_are_shown_and_equal_ones_are_not() {
        let always = |rows: &[usize], num_draws: usize| {
            let links = (1..=num_draws).flat_map(|draw| {
                let of_draw = rows.iter().map(move |row| MovedRow {
                    draw,
                    row: *row,
                    linked_to: 1,
                });
                of_draw.collect::<Vec<_>>()
            });
            (num_draws, links.collect::<Vec<_>>())
        };
        let links = LinksSummary::count(
            &[always(&[1, 2], 10), always(&[2], 30)],
            RowNumbers::new(&[1, 2, 3]),
        );
        let compared = compared(&links, &[10, 30]);
        let shown = compared.iter().map(|c| (c.row, c.chain, c.own, c.others));
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown, [(0, 0, 1.0, 0.0), (0, 1, 0.0, 1.0)]);
    }
}
