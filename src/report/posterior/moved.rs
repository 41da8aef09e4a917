//! The number of moved rows and the mismatch rate, each beside its prior.

use std::collections::HashMap;

use super::grid_around;
use crate::numerics::density;
use crate::numerics::log_gamma;
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::report::by_chain::{bare_axis, draws};
use crate::report::format::{percent, significant};
use crate::report::page::Picture;
use crate::sampler::links::{LinkFacts, LinkSpace, OutsidePrior, Prior, RatePrior};

const MOST_BARS: usize = 60;
const NUM_POINTS: usize = 120;
const POSTERIOR: Series = Series(0);
const PRIOR: Series = Series(1);

/// None where every link was kept.
pub fn picture(fit: &Posterior) -> Option<Picture> {
    let num_rows = fit.links.as_ref()?.num_rows();
    let prior = prior_of_num_moved(fit);
    let (number, words) = number_panel(fit, num_rows, prior.as_deref())?;
    let rate = rate_panel(fit);
    let rate_words = rate.as_ref().map_or("", |_| {
        " Right: the density of the mismatch rate, the probability that a row is linked wrongly."
    });
    let no_error_words = no_error_words(fit).unwrap_or_default();
    let figure = Figure::new("Moved rows, before and after seeing the data", &words);
    let figure = figure.columns(2).panel(number);
    let has_prior = prior.is_some() || rate.is_some();
    let figure = rate.into_iter().fold(figure, Figure::panel);
    let figure = figure.legend(POSTERIOR, "posterior");
    let figure = match has_prior {
        true => figure.legend(PRIOR, "prior"),
        false => figure,
    };
    let of_prior = prior.map_or("", |_| ", and what the prior thought of it");
    let caption = format!(
        "How many rows a draw links elsewhere: the share of draws with each number{of_prior}.{rate_words}{no_error_words} {words}"
    );
    Some(Picture::new(&figure, caption))
}

/// P(d rows are moved) before the fit, for d = 0, 1, ...; None where it is not known.
fn prior_of_num_moved(fit: &Posterior) -> Option<Vec<f64>> {
    let rows = &fit.rows;
    // Which pairs were candidates is not saved, and their prior could not be summed anyway; nor are covariates of rates.
    let has_candidates = rows.iter().any(|row| row.num_candidates.is_some());
    if has_candidates || fit.config.permutation.rate_formula.is_some() {
        return None;
    }
    let mut numbers = HashMap::new();
    let blocks: Option<Vec<usize>> = rows
        .iter()
        .map(|row| {
            let next = numbers.len();
            Some(*numbers.entry(row.block.as_ref()?).or_insert(next))
        })
        .collect();
    let safe: Option<Vec<bool>> = rows.iter().map(|row| row.safe).collect();
    let matches: Option<Vec<f64>> = rows.iter().map(|row| row.match_probability).collect();
    let facts = LinkFacts {
        block_of_row: blocks.as_deref(),
        safe: safe.as_deref(),
        match_probability: matches.as_deref(),
        candidates: None,
    };
    if !fit.config.permutation.audit_by_block.is_empty() {
        return by_block(fit, &numbers, blocks.as_deref()?, facts);
    }
    let (num_rows, kind) = (rows.len(), fit.config.permutation.prior.kind());
    let whole = Prior::new(kind, LinkSpace::new(num_rows, facts));
    match fit.config.permutation.outside {
        None => whole.num_moved_probabilities(),
        Some(outside) => OutsidePrior::new(kind, outside.share(), num_rows, num_rows, facts)
            .num_wrong_probabilities(&whole),
    }
}

/// The same where blocks, by label and by row, have rates of their own.
fn by_block(
    fit: &Posterior,
    numbers: &HashMap<&String, usize>,
    of_row: &[usize],
    facts: LinkFacts,
) -> Option<Vec<f64>> {
    let mut labels = vec![String::new(); numbers.len()];
    for (label, number) in numbers {
        labels[*number] = label.to_string();
    }
    let rates = fit.config.permutation.block_rates(&labels)?;
    let num_rows = of_row.len();
    let whole = Prior::by_block(&rates, of_row, LinkSpace::new(num_rows, facts));
    match fit.config.permutation.outside {
        None => whole.num_moved_probabilities(),
        Some(outside) => {
            let size = (num_rows, num_rows);
            OutsidePrior::by_block(&rates, of_row, outside.share(), size, facts)
                .num_wrong_probabilities(&whole)
        }
    }
}

/// A histogram over all chains with the prior's probabilities of the same numbers, and what it shows in words.
fn number_panel(
    fit: &Posterior,
    num_rows: usize,
    prior: Option<&[f64]>,
) -> Option<(Panel, String)> {
    let pooled = draws(fit, "n_moved").concat();
    let numbers: Vec<usize> = pooled
        .iter()
        .filter(|number| number.is_finite())
        .map(|number| *number as usize)
        .collect();
    let (low, high) = (*numbers.iter().min()?, *numbers.iter().max()?);
    let width = (high - low + 1).div_ceil(MOST_BARS);
    // A few numbers on both sides, so that a single bar is seen to be one.
    let first = low.saturating_sub(2 * width) / width * width;
    let num_bins = (high + 3 * width - first).div_ceil(width);
    let num_bins = num_bins.min((num_rows + 1 - first.min(num_rows)).div_ceil(width));
    let mut counts = vec![0; num_bins];
    for number in &numbers {
        if let Some(count) = counts.get_mut((number - first) / width) {
            *count += 1;
        }
    }
    let edge = |bin: usize| (first + bin * width) as f64 - 0.5;
    let total = numbers.len() as f64;
    let shares = counts.iter().map(|count| f64::from(*count) / total);
    let bars = (0..num_bins)
        .zip(shares)
        .map(|(bin, share)| (edge(bin), edge(bin + 1), share));
    let line = prior.map(|prior| {
        let points = (0..num_bins).map(|bin| {
            let from = first + bin * width;
            let within = &prior[from.min(prior.len())..(from + width).min(prior.len())];
            let middle = (edge(bin) + edge(bin + 1)) / 2.0;
            (middle, within.iter().sum::<f64>())
        });
        Mark::line(PRIOR, points.collect())
    });
    let label = match width {
        1 => "share of draws".into(),
        _ => format!("share of draws, {width} numbers a bar"),
    };
    let panel = Panel::new("Number of moved rows")
        .x(Axis::linear("moved rows").range(edge(0), edge(num_bins)))
        .y(Axis::linear(label))
        .mark(Mark::bars(POSTERIOR, bars.collect()))
        .marks(line);
    Some((panel, number_words(fit, prior, (low, high))))
}

fn number_words(fit: &Posterior, prior: Option<&[f64]>, (low, high): (usize, usize)) -> String {
    let found = match fit.quantity("n_moved") {
        Some(row) => match (row.mean, row.q5, row.q95) {
            (Some(mean), Some(q5), Some(q95)) => format!(
                "the posterior mean is {} (90 % interval {q5:.0} to {q95:.0})",
                significant(mean, 3)
            ),
            _ => "the posterior could not be summarised".into(),
        },
        None => "the posterior could not be summarised".into(),
    };
    let Some(prior) = prior else {
        return format!(
            "What the prior thought of these numbers is not drawn, because with such links it cannot be summed; {found}."
        );
    };
    let expected: f64 = prior.iter().enumerate().map(|(d, p)| d as f64 * p).sum();
    let within: f64 = prior[low.min(prior.len())..(high + 1).min(prior.len())]
        .iter()
        .sum();
    let could = match fit.num_rows() == Some(prior.len() - 1) {
        true => "",
        false => " that can move",
    };
    format!(
        "The prior expected {} of {} rows{could} to be moved, and gave a probability of {} to the numbers between {low} and {high} that the draws have; {found}.",
        significant(expected, 3),
        prior.len() - 1,
        percent(within),
    )
}

/// A rate of exactly 0 is a point, which a density cannot show: its probability before and after the data.
fn no_error_words(fit: &Posterior) -> Option<String> {
    let before = fit.config.permutation.prior.rate()?.no_error;
    let rates = draws(fit, "mismatch_rate").concat();
    if before == 0.0 || rates.is_empty() {
        return None;
    }
    let zeros = rates.iter().filter(|rate| **rate == 0.0).count();
    Some(format!(
        " That the linkage made no error at all had a probability of {} before the data and has {} after.",
        percent(before),
        percent(zeros as f64 / rates.len() as f64)
    ))
}

/// Only the beta-binomial prior has a rate. Draws and prior are those of rates above 0.
fn rate_panel(fit: &Posterior) -> Option<Panel> {
    let RatePrior { a, b, no_error } = fit.config.permutation.prior.rate()?;
    let mut rates = draws(fit, "mismatch_rate").concat();
    let num_draws = rates.len() as f64;
    rates.retain(|rate| *rate > 0.0);
    let share = rates.len() as f64 / num_draws;
    let around = grid_around(&rates, NUM_POINTS)?;
    let (low, high) = (around[0].max(0.0), around[NUM_POINTS - 1].min(1.0));
    let grid = crate::numerics::grid(low, high, NUM_POINTS);
    let mut posterior = reflected_density(&rates, &grid)?;
    posterior.iter_mut().for_each(|height| *height *= share);
    let highest = posterior.iter().copied().fold(0.0, f64::max);
    let log_scale = log_gamma(a + b) - log_gamma(a) - log_gamma(b) + (-no_error).ln_1p();
    let prior =
        |rate: f64| ((a - 1.0) * rate.ln() + (b - 1.0) * (1.0 - rate).ln() + log_scale).exp();
    // The ends are left out, where 0 times the logarithm of 0 would stand for a = 1.
    let line: Vec<(f64, f64)> = grid
        .iter()
        .filter(|rate| **rate > 0.0 && **rate < 1.0)
        .map(|rate| (*rate, prior(*rate)))
        .collect();
    // A prior that is infinite at an end must not press the posterior flat.
    let of_prior = line.iter().map(|point| point.1).fold(0.0, f64::max);
    let top = 1.08 * highest.max(of_prior.min(1.5 * highest));
    let panel = Panel::new("Mismatch rate")
        .x(Axis::linear("mismatch rate"))
        .y(bare_axis(0.0, top))
        .mark(Mark::area(
            POSTERIOR,
            grid.into_iter().zip(posterior).collect(),
        ))
        .mark(Mark::line(PRIOR, line));
    Some(panel)
}

/// What a kernel puts beyond 0 and 1 is folded back.
fn reflected_density(draws: &[f64], grid: &[f64]) -> Option<Vec<f64>> {
    let mirrored = |at: f64| grid.iter().map(|x| at - x).collect::<Vec<f64>>();
    let inside = density(draws, grid)?;
    let below = density(draws, &mirrored(0.0))?;
    let above = density(draws, &mirrored(2.0))?;
    let sums = inside.iter().zip(&below).zip(&above);
    Some(sums.map(|((a, b), c)| a + b + c).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prior_is_that_of_the_links_that_were_possible() {
        let free = Posterior::example(&[50, 50], 2).with_links(10);
        let caption = picture(&free).unwrap().caption;
        // With probability one half none; otherwise Beta(1, 9) over ten rows, without the case of one: its mean is 1.
        assert!(
            caption.contains("The prior expected 0.500 of 10 rows to be moved"),
            "{caption}"
        );
        let mut known = free.with_known();
        let caption = picture(&known).unwrap().caption;
        assert!(caption.contains("cannot be summed; "), "{caption}");
        for row in &mut known.rows {
            row.num_candidates = None;
            row.match_probability = None;
        }
        let caption = picture(&known).unwrap().caption;
        assert!(
            caption.contains(" rows that can move to be moved"),
            "{caption}"
        );
    }

    #[test]
    fn a_rate_of_zero_is_said_in_words() {
        let mut fit = Posterior::example(&[50, 50], 2).with_links(10);
        let caption = picture(&fit).unwrap().caption;
        let words = "no error at all had a probability of 50 % before the data and has 0 % after.";
        assert!(caption.contains(words), "{caption}");
        fit.config.permutation.prior = crate::config::Prior::BetaBinomial {
            a: 1.0,
            b: 1.0,
            no_error: 0.0,
            audit: None,
        };
        let caption = picture(&fit).unwrap().caption;
        assert!(!caption.contains("no error"), "{caption}");
        // Beta(1, 1) over ten rows, without the case of one: 10/11 of the mass, and 54/11 of its mean.
        assert!(
            caption.contains("The prior expected 5.40 of 10 rows to be moved"),
            "{caption}"
        );
    }

    #[test]
    fn folding_back_keeps_the_whole_mass() {
        let draws: Vec<f64> = (0..500).map(|k| (f64::from(k) / 500.0).powi(3)).collect();
        let grid = crate::numerics::grid(0.0, 1.0, 2001);
        let density = reflected_density(&draws, &grid).unwrap();
        let ends = (density[0] + density[2000]) / 2.0;
        let area = (density.iter().sum::<f64>() - ends) / 2000.0;
        assert!((area - 1.0).abs() < 1e-3, "{area}");
    }
}
