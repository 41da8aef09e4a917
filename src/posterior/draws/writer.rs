//! The two files of a chain: its draws, and the links of each draw where they are updated.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::links_csv::LinksWriter;
use super::{ChainHeader, ChainSample, CsvWriter};
use crate::posterior::Folder;
use crate::sampler::chain::{Draw, DrawSink};
use crate::sampler::hmc::Metric;

/// A reader never waits longer than this to see new rows.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Writes the files of a chain, and keeps its draws in memory.
pub struct ChainWriter {
    path: PathBuf,
    draws: CsvWriter,
    links_path: Option<PathBuf>,
    links: Option<LinksWriter>,
    sample: ChainSample,
    num_draws: usize,
    flushed: Instant,
}

impl ChainWriter {
    /// `row_numbers` of the user's file where links are updated, else None.
    pub fn create(
        folder: &Folder,
        header: &ChainHeader,
        columns: &[String],
        row_numbers: Option<&[usize]>,
    ) -> io::Result<ChainWriter> {
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
            sample: ChainSample::new(header, columns, row_numbers.map(<[usize]>::len)),
            num_draws: 0,
            flushed: Instant::now(),
        })
    }

    /// The draws that were written, but for what [`ChainSample`] leaves out.
    pub fn into_sample(self) -> ChainSample {
        self.sample
    }
}

impl DrawSink for ChainWriter {
    fn adapted(&mut self, step_size: f64, metric: &Metric) -> io::Result<()> {
        self.draws.adaptation(step_size, metric)
    }

    fn draw(&mut self, draw: Draw) -> io::Result<()> {
        self.num_draws += 1;
        self.sample.draw(draw)?;
        self.draws.row(draw.values)?;
        if let (Some(writer), Some(links)) = (&mut self.links, draw.links) {
            writer.draw(self.num_draws, links)?;
        }
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.draws.flush()?;
            self.links.as_mut().map_or(Ok(()), LinksWriter::flush)?;
            self.flushed = Instant::now();
        }
        Ok(())
    }

    fn finish(&mut self, warmup_seconds: f64, sampling_seconds: f64) -> io::Result<()> {
        self.sample.finish(warmup_seconds, sampling_seconds)?;
        self.links.as_mut().map_or(Ok(()), LinksWriter::flush)?;
        self.draws.finish(warmup_seconds, sampling_seconds)?;
        if self.num_draws == 0 {
            // Readers refuse a chain without draws, and with it all the others.
            fs::remove_file(&self.path)?;
            self.links_path.as_ref().map_or(Ok(()), fs::remove_file)?;
        }
        Ok(())
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}
