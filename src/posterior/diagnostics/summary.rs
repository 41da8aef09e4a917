//! One row of a summary: the statistics of one quantity with the columns of stansummary.

use serde::Serialize;

use super::chains::pool;
use super::ess::{ess_bulk, ess_tail};
use super::mcse::mcse_mean;
use super::rhat::r_hat;
use crate::numerics::stats::{finite, mad, mean, quantile_of_sorted, sd, sorted};

/// Names of the numbers of a row, in the order of [`SummaryRow::numbers`].
pub(super) const COLUMNS: [&str; 11] = [
    "Mean",
    "MCSE",
    "StdDev",
    "MAD",
    "5%",
    "50%",
    "95%",
    "ESS_bulk",
    "ESS_tail",
    "ESS_bulk/s",
    "R_hat",
];

/// Numbers are `None` (shown as NA) where they do not exist: everything when a draw is not finite, errors and diagnostics
/// when the quantity is constant or has fewer than four draws per chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The quantity, under Stan's name.
    pub name: String,
    /// Posterior mean.
    pub mean: Option<f64>,
    /// Monte Carlo standard error of the mean.
    pub mcse: Option<f64>,
    /// Posterior standard deviation.
    pub sd: Option<f64>,
    /// Median absolute deviation, scaled to a standard deviation.
    pub mad: Option<f64>,
    /// 5 % quantile.
    pub q5: Option<f64>,
    /// Median.
    pub q50: Option<f64>,
    /// 95 % quantile.
    pub q95: Option<f64>,
    /// Bulk effective sample size.
    pub ess_bulk: Option<f64>,
    /// Tail effective sample size.
    pub ess_tail: Option<f64>,
    /// Bulk effective draws for each second of sampling.
    pub ess_bulk_per_s: Option<f64>,
    /// Rank-normalised split R-hat.
    pub r_hat: Option<f64>,
}

#[cfg(test)]
thread_local! {
    /// How many quantities this thread has summarised, for tests that count.
    pub(crate) static NUM_SUMMARIZED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// `seconds` is the sampling time of all chains together, as stansummary counts it.
pub fn summarize(name: &str, chains: &[&[f64]], seconds: Option<f64>) -> SummaryRow {
    #[cfg(test)]
    NUM_SUMMARIZED.with(|number| number.set(number.get() + 1));
    let pooled = pool(chains);
    let sorted = sorted(&pooled);
    let quantile = |probability| quantile_of_sorted(sorted.as_deref()?, probability);
    let ess_bulk = ess_bulk(chains);
    SummaryRow {
        name: name.to_owned(),
        mean: mean(&pooled),
        mcse: mcse_mean(chains),
        sd: sd(&pooled),
        mad: mad(&pooled),
        q5: quantile(0.05),
        q50: quantile(0.5),
        q95: quantile(0.95),
        ess_bulk,
        ess_tail: ess_tail(chains),
        ess_bulk_per_s: ess_bulk
            .zip(seconds)
            .and_then(|(ess, seconds)| finite(ess / seconds)),
        r_hat: r_hat(chains),
    }
}

impl SummaryRow {
    /// Whether every draw was the same, which makes its missing diagnostics harmless.
    pub fn is_constant(&self) -> bool {
        self.sd == Some(0.0)
    }

    /// Whether all its diagnostics exist; where one is missing in a quantity that varies, nothing vouches for it.
    pub fn is_judged(&self) -> bool {
        self.is_constant()
            || (self.r_hat.is_some() && self.ess_bulk.is_some() && self.ess_tail.is_some())
    }

    pub(super) fn numbers(&self) -> [Option<f64>; 11] {
        [
            self.mean,
            self.mcse,
            self.sd,
            self.mad,
            self.q5,
            self.q50,
            self.q95,
            self.ess_bulk,
            self.ess_tail,
            self.ess_bulk_per_s,
            self.r_hat,
        ]
    }

    #[cfg(test)]
    pub(super) fn from_numbers(name: String, numbers: [Option<f64>; 11]) -> Self {
        let [
            mean,
            mcse,
            sd,
            mad,
            q5,
            q50,
            q95,
            ess_bulk,
            ess_tail,
            ess_bulk_per_s,
            r_hat,
        ] = numbers;
        Self {
            name,
            mean,
            mcse,
            sd,
            mad,
            q5,
            q50,
            q95,
            ess_bulk,
            ess_tail,
            ess_bulk_per_s,
            r_hat,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::numerics::quantile;
    use crate::posterior::diagnostics::{mcse_mean, reference};

    /// Rows that differ in scale, with a constant, a stuck and a broken quantity among them.
    pub(in crate::posterior::diagnostics) fn example_rows() -> Vec<SummaryRow> {
        let chains = reference::chains(1000, 0.3, 0.0);
        let scaled = |scale: f64, shift: f64| -> Vec<Vec<f64>> {
            chains
                .iter()
                .map(|chain| chain.iter().map(|x| scale * x + shift).collect())
                .collect()
        };
        let row =
            |name, chains: &[Vec<f64>]| summarize(name, &reference::slices(chains), Some(2.0));
        vec![
            row("lp__", &scaled(3.0, -123456.0)),
            row("beta.1", &scaled(1.0, 0.0)),
            row("tiny, with \"quotes\"", &scaled(1e-9, 2e-8)),
            row("large", &scaled(1e9, 5e10)),
            row("fixed", &scaled(0.0, 0.25)),
            row("stuck", &[vec![1.0; 100], vec![2.0; 100]]),
            row("broken", &[vec![f64::NAN; 100]]),
        ]
    }

    #[test]
    fn a_row_holds_the_numbers_of_its_functions() {
        let chains = reference::chains(100, 0.6, 0.05);
        let chains = reference::slices(&chains);
        let pooled = chains.concat();
        let row = summarize("x", &chains, Some(0.5));
        assert_eq!(row.mean, mean(&pooled));
        assert_eq!(row.mcse, mcse_mean(&chains));
        assert_eq!(row.sd, sd(&pooled));
        assert_eq!(row.mad, mad(&pooled));
        assert_eq!(
            [row.q5, row.q50, row.q95],
            [0.05, 0.5, 0.95].map(|p| quantile(&pooled, p))
        );
        assert_eq!(row.ess_bulk, ess_bulk(&chains));
        assert_eq!(row.ess_tail, ess_tail(&chains));
        assert_eq!(row.ess_bulk_per_s, row.ess_bulk.map(|ess| ess / 0.5));
        assert_eq!(row.r_hat, r_hat(&chains));
        assert!(!row.is_constant());
        assert_eq!(SummaryRow::from_numbers("x".into(), row.numbers()), row);
    }

    #[test]
    fn an_unknown_or_zero_time_gives_no_rate() {
        let chains = reference::chains(100, 0.6, 0.05);
        let chains = reference::slices(&chains);
        assert_eq!(summarize("x", &chains, None).ess_bulk_per_s, None);
        assert_eq!(summarize("x", &chains, Some(0.0)).ess_bulk_per_s, None);
    }

    #[test]
    fn a_constant_keeps_its_value_and_has_no_diagnostics() {
        let row = summarize("x", &[&[0.1; 100], &[0.1; 100]], Some(1.0));
        assert!(row.is_constant());
        assert_eq!(
            (row.mean, row.q50, row.sd),
            (Some(0.1), Some(0.1), Some(0.0))
        );
        assert_eq!(
            (row.mcse, row.ess_bulk, row.ess_tail, row.r_hat),
            (None, None, None, None)
        );
    }

    #[test]
    fn no_draws_at_all_give_a_row_of_na() {
        assert_eq!(summarize("x", &[], None).numbers(), [None; 11]);
        assert_eq!(summarize("x", &[&[], &[]], None).numbers(), [None; 11]);
    }
}
