//! Fits made up in memory, for tests of the report.

use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::json;

use crate::config;
use crate::data::Notes;
use crate::numerics::grid;
use crate::posterior::draws::{ChainDraws, MovedRow};
use crate::posterior::links::{LinksSummary, RowNumbers};
use crate::posterior::{DataSummary, Folder, Posterior, Predictive, Row};
use crate::sampler::chain::{LINK_COLUMNS, SAMPLER_COLUMNS};

impl Posterior {
    /// Chains of the given lengths: the coefficients of an intercept and `num_parameters - 1` predictors, standard normal and
    /// independent; no links and no predictive check.
    pub fn example(lengths: &[usize], num_parameters: usize) -> Posterior {
        let predictors: Vec<String> = (1..num_parameters).map(|k| format!("x<{k}>")).collect();
        let text = json!({
            "model": { "stan": "linear" },
            "data": { "file": "data.csv", "response": "y & z", "predictors": predictors },
        });
        let file = Path::new("/nowhere/example.json");
        let config = config::parse(&text.to_string(), file, &[]);
        let parameters = (1..=num_parameters).map(|k| format!("beta.{k}"));
        let names: Vec<String> = SAMPLER_COLUMNS
            .iter()
            .map(|name| name.to_string())
            .chain(parameters)
            .collect();
        let chain = |(k, length): (usize, &usize)| ChainDraws {
            chain: k + 1,
            max_depth: 10,
            columns: names
                .iter()
                .enumerate()
                .map(|(column, name)| made_up(name, (k * names.len() + column) as u64, *length))
                .collect(),
            names: names.clone(),
            ..ChainDraws::default()
        };
        let chains = lengths.iter().enumerate().map(chain).collect();
        let config = config.expect("a plain config");
        let mut fit = Posterior::of(Folder::new("/nowhere"), config, chains);
        fit.program = Some(String::new());
        fit
    }

    /// An even number of rows, in pairs of neighbours that are swapped in every other draw; in the last chain the first pair always.
    pub fn with_links(mut self, num_rows: usize) -> Posterior {
        let last = self.chains.len() - 1;
        let mut counted = Vec::new();
        for (k, chain) in self.chains.iter_mut().enumerate() {
            let num_draws = chain.num_draws();
            let swapped = |draw: usize, pair: usize| {
                (draw + pair).is_multiple_of(2) || (k == last && pair == 0)
            };
            let moved = (0..num_draws).flat_map(|draw| {
                let pairs = (0..num_rows / 2).filter(move |pair| swapped(draw, *pair));
                pairs.flat_map(move |pair| {
                    let (a, b) = (2 * pair + 1, 2 * pair + 2);
                    [(a, b), (b, a)].map(|(row, linked_to)| MovedRow {
                        draw: draw + 1,
                        row,
                        linked_to,
                    })
                })
            });
            counted.push((num_draws, moved.collect()));
            for name in LINK_COLUMNS {
                chain.names.push(name.into());
                chain.columns.push(made_up(name, k as u64, num_draws));
            }
        }
        let numbers: Vec<usize> = (1..=num_rows).collect();
        self.links = Some(LinksSummary::count(&counted, RowNumbers::new(&numbers)));
        let row = |k: usize| Row {
            number: k + 1,
            id: Some(format!("id <{k}>")),
            block: None,
            safe: None,
            match_probability: None,
            num_candidates: None,
            response: k as f64,
            fitted: None,
        };
        self.rows = (0..num_rows).map(row).collect();
        self.forget_summary();
        self
    }

    /// Ten rows of which everything was known: four blocks, one of a single row; two safe rows; candidates; match probabilities.
    pub fn with_known(mut self) -> Posterior {
        let blocks = ["a", "a", "a", "a", "b", "b", "b", "c", "c", "d"];
        assert_eq!(self.rows.len(), blocks.len());
        for (k, (row, block)) in self.rows.iter_mut().zip(blocks).enumerate() {
            row.block = Some(format!("<{block}>"));
            row.safe = Some(k < 2);
            row.num_candidates = Some(if k < 2 { 0 } else { 2 });
            row.match_probability = Some(0.6 + 0.04 * k as f64);
        }
        self.data = Some(DataSummary {
            predictor_names: self.predictors().into_iter().map(String::from).collect(),
            response_names: None,
            notes: Notes {
                num_dropped: 3,
                missing: vec![("<i>income</i>".into(), 3)],
                ..Notes::default()
            },
            num_rows: 10,
            num_movable: 7,
            num_blocks: Some(4),
            num_safe: Some(2),
            num_candidate_pairs: Some(16),
            spread: None,
            places: None,
            survey: None,
            rate_names: None,
            priors: None,
        });
        self
    }

    /// With a posterior predictive check.
    pub fn with_predictive(mut self) -> Posterior {
        let grid = grid(-3.0, 3.0, 120);
        let normal: Vec<f64> = grid.iter().map(|x| (-0.5 * x * x).exp() / 2.5).collect();
        self.predictive = Some(Predictive {
            replicated: vec![normal.clone(); 30],
            observed: normal,
            grid,
        });
        self
    }

    /// Replaces a column; the value is of chain and draw, both from 0.
    pub fn with_column(mut self, name: &str, value: impl Fn(usize, usize) -> f64) -> Posterior {
        for (k, chain) in self.chains.iter_mut().enumerate() {
            let column = chain.names.iter().position(|known| known == name);
            let column = &mut chain.columns[column.expect("a known column")];
            for (draw, place) in column.iter_mut().enumerate() {
                *place = value(k, draw);
            }
        }
        self.forget_summary();
        self
    }
}

fn made_up(name: &str, seed: u64, length: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let value = |_| match name {
        "accept_stat__" | "stepsize__" => 0.8,
        "treedepth__" => 3.0,
        "n_leapfrog__" => 7.0,
        "divergent__" => 0.0,
        "n_moved__" => (10.0 + 2.0 * normal()).round().max(2.0),
        "mismatch_rate__" => 0.1 + 0.01 * normal(),
        _ => normal(),
    };
    (0..length).map(value).collect()
}
