//! The draws of one quantity by chain, and which quantities are worst off.

use std::cmp::Ordering;

use super::format::significant;
use crate::plot::{Axis, Figure, Series};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;

/// The draws of a quantity of the summary, one slice a chain.
pub fn draws<'a>(fit: &'a Posterior, name: &str) -> Vec<&'a [f64]> {
    let column = match name {
        "n_moved" => "n_moved__",
        "mismatch_rate" => "mismatch_rate__",
        "n_outside" => "n_outside__",
        "outside_share" => "outside_share__",
        _ => name,
    };
    let chains = fit.chains.iter();
    chains
        .map(|chain| chain.column(column).unwrap_or_default())
        .collect()
}

/// What could not be judged comes first, then the largest R-hat, then the smallest ESS; constants are last.
pub fn worst_first(fit: &Posterior) -> Vec<&SummaryRow> {
    let mut rows: Vec<&SummaryRow> = fit.summary().iter().collect();
    rows.sort_by(|a, b| by_trouble(a, b));
    rows
}

/// The order of [`worst_first`].
pub fn by_trouble(a: &SummaryRow, b: &SummaryRow) -> Ordering {
    let least_ess = |row: &SummaryRow| {
        let ess = [row.ess_bulk, row.ess_tail].into_iter().flatten();
        ess.fold(f64::INFINITY, f64::min)
    };
    let r_hat = |row: &SummaryRow| row.r_hat.unwrap_or(f64::INFINITY);
    a.is_constant()
        .cmp(&b.is_constant())
        .then(a.is_judged().cmp(&b.is_judged()))
        .then(r_hat(b).total_cmp(&r_hat(a)))
        .then(least_ess(a).total_cmp(&least_ess(b)))
}

/// The largest R-hat in words, for descriptions.
pub fn largest_r_hat(rows: &[&SummaryRow]) -> String {
    match rows.iter().filter_map(|row| row.r_hat).reduce(f64::max) {
        Some(largest) => format!("the largest R-hat is {}", shown_r_hat(largest)),
        None => "R-hat could not be computed".into(),
    }
}

/// Three decimals, as long as they say something.
pub fn shown_r_hat(r_hat: f64) -> String {
    if r_hat < 10.0 {
        format!("{r_hat:.3}")
    } else {
        significant(r_hat, 4)
    }
}

/// Names each chain.
pub fn with_legend(figure: Figure, fit: &Posterior) -> Figure {
    let chains = fit.chains.iter().enumerate();
    chains.fold(figure, |figure, (k, chain)| {
        figure.legend(Series(k), format!("chain {}", chain.chain))
    })
}

/// A series that is no chain's: black where that is free.
pub fn reference_series(fit: &Posterior) -> Series {
    const BLACK: usize = 6;
    Series(fit.chains.len().max(BLACK))
}

/// An axis without ticks.
pub fn bare_axis(low: f64, high: f64) -> Axis {
    Axis::categories("", Vec::<String>::new()).range(low, high)
}

/// The first few names of a list, and how many more there are.
pub fn listed(names: &[String], most: usize) -> String {
    let shown = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
