//! One chain in memory, collected while its files are written.

use std::io;

use super::{ChainDraws, ChainHeader, LinkDraws};
use crate::sampler::chain::{Draw, DrawSink};
use crate::sampler::hmc::Metric;

/// The draws of one chain, and their links where links are updated.
///
/// `log_lik` is left out: with one number for each row it would be most of the memory, and only readers of the files use it.
#[derive(Debug, Clone)]
pub struct ChainSample {
    pub draws: ChainDraws,
    pub links: Option<LinkDraws>,
    /// Which columns of a row are kept.
    kept: Vec<usize>,
}

impl ChainSample {
    /// `num_rows` of the data where links are updated, else None.
    pub fn new(header: &ChainHeader, columns: &[String], num_rows: Option<usize>) -> ChainSample {
        let is_kept = |k: &usize| !is_log_lik(&columns[*k]);
        let kept: Vec<usize> = (0..columns.len()).filter(is_kept).collect();
        ChainSample {
            draws: ChainDraws {
                chain: header.chain,
                max_depth: header.max_depth,
                num_warmup: header.num_warmup,
                names: kept.iter().map(|k| columns[*k].clone()).collect(),
                columns: vec![Vec::new(); kept.len()],
                ..ChainDraws::default()
            },
            links: num_rows.map(LinkDraws::new),
            kept,
        }
    }
}

impl ChainSample {
    /// Appends a draw without its links.
    pub(super) fn push(&mut self, values: &[f64]) {
        for (column, k) in self.draws.columns.iter_mut().zip(&self.kept) {
            column.push(values[*k]);
        }
    }

    /// Keeps the first draws and their links.
    pub fn truncate(&mut self, num_draws: usize) {
        let columns = self.draws.columns.iter_mut();
        columns.for_each(|column| column.truncate(num_draws));
        if let Some(links) = &mut self.links {
            links.truncate(num_draws);
        }
    }
}

impl DrawSink for ChainSample {
    fn adapted(&mut self, _step_size: f64, _metric: &Metric) -> io::Result<()> {
        Ok(())
    }

    fn draw(&mut self, draw: Draw) -> io::Result<()> {
        self.push(draw.values);
        if let (Some(links), Some(pi)) = (&mut self.links, draw.links) {
            links.push(pi);
        }
        Ok(())
    }

    fn finish(&mut self, warmup_seconds: f64, sampling_seconds: f64) -> io::Result<()> {
        // The file has milliseconds, and what is computed from them is the same for both.
        let rounded = |seconds: f64| (seconds * 1000.0).round() / 1000.0;
        self.draws.warmup_seconds = rounded(warmup_seconds);
        self.draws.sampling_seconds = rounded(sampling_seconds);
        Ok(())
    }

    fn place(&self) -> String {
        "memory".into()
    }
}

/// Whether a column is the log likelihood of a row.
pub(crate) fn is_log_lik(column: &str) -> bool {
    column.split('.').next() == Some("log_lik")
}
