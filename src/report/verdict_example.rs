//! Made-up fits for tests of the report: chains, links and baselines of any shape, without Stan.

use std::path::Path;

use serde_json::json;

use crate::baseline::compare::Estimate;
use crate::config;
use crate::posterior::draws::{ChainDraws, MovedRow};
use crate::posterior::links::{LinksSummary, RowNumbers};
use crate::posterior::{Diagnostics, Folder, Posterior, Row};

/// What the made-up fit looks like; the default is a clean one with three mislinked rows of twenty.
pub struct Example {
    pub num_chains: usize,
    pub num_draws: usize,
    pub num_rows: usize,
    pub predictors: Vec<String>,
    /// Rows (from 0) that swap places, with the probability that they do.
    pub swaps: Vec<(usize, usize, f64)>,
    /// Swaps that only the first chain believes in.
    pub swaps_of_first_chain: Vec<(usize, usize)>,
    pub num_divergences: usize,
    /// How far least squares is from the fit, in posterior standard deviations.
    pub naive_shift: f64,
    pub id: Option<fn(usize) -> String>,
}

impl Default for Example {
    fn default() -> Example {
        Example {
            num_chains: 4,
            num_draws: 500,
            num_rows: 20,
            predictors: vec!["income".into()],
            swaps: vec![(2, 7, 0.96), (11, 15, 0.9)],
            swaps_of_first_chain: Vec::new(),
            num_divergences: 0,
            naive_shift: 5.0,
            id: None,
        }
    }
}

/// The generator of the reference numbers in `diagnostics`, so that every machine makes up the same draws.
struct Numbers(u64);

impl Numbers {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Close to standard normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

impl Example {
    pub fn fit(&self) -> Posterior {
        let mut numbers = Numbers(12345);
        let num_coefficients = self.predictors.len() + 1;
        let mut chains = Vec::new();
        let mut links = Vec::new();
        for chain in 1..=self.num_chains {
            let (draws, moved) = self.chain(chain, num_coefficients, &mut numbers);
            links.push((draws.num_draws(), moved));
            chains.push(draws);
        }
        let config = json!({
            "name": "example",
            "model": {"stan": "linear"},
            "data": {"file": "data.csv", "response": "food", "predictors": self.predictors},
            "sampler": {"chains": self.num_chains, "draws": self.num_draws},
        });
        let file = Path::new("/fits/example/config.json");
        let config = config::parse(&config.to_string(), file, &[]).unwrap();
        let mut fit = Posterior::of(Folder::new("/fits/example"), config, chains);
        let numbers: Vec<usize> = (1..=self.num_rows).collect();
        fit.links = Some(LinksSummary::count(&links, RowNumbers::new(&numbers)));
        let names =
            std::iter::once("(Intercept)").chain(self.predictors.iter().map(String::as_str));
        let naive = names.enumerate().map(|(k, name)| {
            let row = fit.quantity(&format!("beta.{}", k + 1)).unwrap();
            let (mean, sd) = (row.mean.unwrap(), row.sd.unwrap());
            let value = mean - self.naive_shift * sd;
            Estimate {
                method: "least_squares".into(),
                name: name.into(),
                value,
                standard_error: Some(sd),
                interval: Some([value - 1.6 * sd, value + 1.6 * sd]),
            }
        });
        fit.baselines = naive.collect();
        fit.rows = (0..self.num_rows).map(|row| self.row(row)).collect();
        fit.program = Some("model {}".into());
        fit.diagnostics = Some(Diagnostics {
            seconds: 1.5,
            ..Diagnostics::default()
        });
        fit
    }

    fn row(&self, row: usize) -> Row {
        let fitted = 1.0 + row as f64;
        Row {
            number: row + 1,
            id: self.id.map(|id| id(row)),
            block: None,
            safe: None,
            match_probability: None,
            num_candidates: None,
            response: fitted + 0.1,
            fitted: Some([fitted, fitted]),
        }
    }

    fn chain(
        &self,
        chain: usize,
        num_coefficients: usize,
        numbers: &mut Numbers,
    ) -> (ChainDraws, Vec<MovedRow>) {
        let mut names: Vec<String> = [
            "lp__",
            "energy__",
            "divergent__",
            "treedepth__",
            "n_moved__",
            "mismatch_rate__",
        ]
        .map(String::from)
        .to_vec();
        names.extend((1..=num_coefficients).map(|k| format!("beta.{k}")));
        names.push("sigma2".into());
        let mut columns = vec![Vec::with_capacity(self.num_draws); names.len()];
        let mut moved = Vec::new();
        for draw in 1..=self.num_draws {
            let mut pairs: Vec<(usize, usize)> = self
                .swaps
                .iter()
                .filter(|(.., probability)| numbers.uniform() < *probability)
                .map(|(a, b, _)| (*a, *b))
                .collect();
            if chain == 1 {
                pairs.extend(&self.swaps_of_first_chain);
            }
            for (a, b) in &pairs {
                for (row, linked_to) in [(a + 1, b + 1), (b + 1, a + 1)] {
                    moved.push(MovedRow {
                        draw,
                        row,
                        linked_to,
                    });
                }
            }
            let num_moved = 2.0 * pairs.len() as f64;
            let rate =
                (num_moved + 0.5 + 0.3 * numbers.normal()).abs() / (self.num_rows as f64 + 2.0);
            let divergent = chain == 1 && draw <= self.num_divergences;
            let mut values = vec![
                -40.0 + numbers.normal(),
                40.0 + numbers.normal(),
                f64::from(u8::from(divergent)),
                3.0,
                num_moved,
                rate,
            ];
            values.extend((0..num_coefficients).map(|k| 1.0 + k as f64 + 0.1 * numbers.normal()));
            values.push(0.5 + 0.02 * numbers.normal());
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        let draws = ChainDraws {
            chain,
            max_depth: 10,
            num_warmup: 500,
            warmup_seconds: 0.5,
            sampling_seconds: 0.5,
            names,
            columns,
        };
        (draws, moved)
    }
}
