//! The two files of a chain: its draws, and the links of each draw where they are updated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::links_csv::LinksWriter;
use super::{ChainHeader, ChainSample, CsvWriter};
use crate::posterior::Folder;
use crate::sampler::hmc::Metric;
use crate::sampler::links::Permutation;

/// A reader never waits longer than this to see new rows.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Writes the files of a chain, and keeps its draws in memory.
pub struct ChainWriter<'a> {
    path: PathBuf,
    draws: CsvWriter,
    links_path: Option<PathBuf>,
    links: Option<LinksWriter>,
    sample: &'a mut ChainSample,
    num_draws: usize,
    flushed: Instant,
}

impl<'a> ChainWriter<'a> {
    /// `row_numbers` of the user's file where links are updated, else None.
    pub fn create(
        folder: &Folder,
        header: &ChainHeader,
        columns: &[String],
        row_numbers: Option<&[usize]>,
        sample: &'a mut ChainSample,
    ) -> io::Result<ChainWriter<'a>> {
        let chain = header.chain;
        let path = folder.draws(chain);
        let links_path = row_numbers.map(|_| folder.links(chain));
        let links = links_path.as_deref().zip(row_numbers);
        let links = links.map(|(path, numbers)| LinksWriter::create(path, numbers));
        Ok(ChainWriter {
            draws: CsvWriter::create(&path, header, columns)?,
            links: links.transpose()?,
            path,
            links_path,
            sample,
            num_draws: 0,
            flushed: Instant::now(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn adaptation(&mut self, step_size: f64, metric: &Metric) -> io::Result<()> {
        self.draws.adaptation(step_size, metric)
    }

    pub fn draw(&mut self, row: &[f64], links: Option<&Permutation>) -> io::Result<()> {
        self.num_draws += 1;
        self.sample.push(row, links);
        self.draws.row(row)?;
        if let (Some(writer), Some(links)) = (&mut self.links, links) {
            writer.draw(self.num_draws, links)?;
        }
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.draws.flush()?;
            self.links.as_mut().map_or(Ok(()), LinksWriter::flush)?;
            self.flushed = Instant::now();
        }
        Ok(())
    }

    pub fn finish(mut self, warmup: Duration, sampling: Duration) -> io::Result<()> {
        self.sample.finish(warmup, sampling);
        self.links.as_mut().map_or(Ok(()), LinksWriter::flush)?;
        self.draws.finish(warmup, sampling)?;
        if self.num_draws == 0 {
            // Readers refuse a chain without draws, and with it all the others.
            fs::remove_file(&self.path)?;
            self.links_path.map_or(Ok(()), fs::remove_file)?;
        }
        Ok(())
    }
}
