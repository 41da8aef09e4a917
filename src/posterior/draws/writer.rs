//! The two files of a chain: its draws, and the links of each draw where they are updated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::cut::{for_each_row, moved_rows, remove_surplus};
use super::links_csv::LinksWriter;
use super::{ChainHeader, ChainSample, Checkpoint, CsvWriter, LinkDraws};
use crate::posterior::Folder;
use crate::posterior::links::RowNumbers;
use crate::sampler::chain::{ChainState, Draw, DrawSink};
use crate::sampler::hmc::Metric;

/// A reader never waits longer than this to see new rows.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// How often the states of chains are saved, and how long the fit has taken.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoints {
    /// None where no state is saved.
    pub every: Option<Duration>,
    /// When this run of the fit began.
    pub start: Instant,
    /// The time of earlier runs, in seconds.
    pub earlier_seconds: f64,
}

impl Checkpoints {
    /// The time of the fit so far, over all its runs.
    pub fn seconds(&self) -> f64 {
        self.earlier_seconds + self.start.elapsed().as_secs_f64()
    }
}

/// Writes the files of a chain, and keeps its draws in memory.
pub struct ChainWriter {
    folder: Folder,
    chain: usize,
    draws: CsvWriter,
    links: Option<LinksWriter>,
    sample: ChainSample,
    checkpoints: Checkpoints,
    num_draws: usize,
    /// Draws of an earlier run that still have to be copied; the new files have other names until then.
    num_earlier: usize,
    row_numbers: Option<RowNumbers>,
    flushed: Instant,
}

impl ChainWriter {
    /// `row_numbers` of the user's file where links are updated, else None; `num_earlier` is the number of draws that an
    /// earlier run left in the files of the chain.
    pub fn create(
        folder: &Folder,
        header: &ChainHeader,
        columns: &[String],
        row_numbers: Option<RowNumbers>,
        checkpoints: Checkpoints,
        num_earlier: usize,
    ) -> io::Result<ChainWriter> {
        let chain = header.chain;
        let place = |path: PathBuf| match num_earlier {
            0 => path,
            _ => partial(&path),
        };
        let links = row_numbers
            .clone()
            .map(|numbers| LinksWriter::create(&place(folder.links(chain)), numbers))
            .transpose()?;
        Ok(ChainWriter {
            draws: CsvWriter::create(&place(folder.draws(chain)), header, columns)?,
            links,
            folder: folder.clone(),
            chain,
            sample: ChainSample::new(
                header,
                columns,
                row_numbers.as_ref().map(RowNumbers::num_rows),
            ),
            checkpoints,
            num_draws: 0,
            num_earlier,
            row_numbers,
            flushed: Instant::now(),
        })
    }

    /// The draws that were written, but for what [`ChainSample`] leaves out.
    pub fn into_sample(self) -> ChainSample {
        self.sample
    }

    /// Copies the draws of an earlier run into the new files, which then take the place of the earlier ones.
    fn copy_earlier(&mut self) -> io::Result<()> {
        self.copy_draws()?;
        self.copy_links()?;
        self.sync()?;
        let draws = self.folder.draws(self.chain);
        let links = self.folder.links(self.chain);
        fs::rename(partial(&draws), &draws)?;
        if self.links.is_some() {
            fs::rename(partial(&links), &links)?;
        }
        self.folder.sync();
        remove_surplus(&self.folder, self.chain)?;
        self.num_draws = self.num_earlier;
        Ok(())
    }

    fn copy_draws(&mut self) -> io::Result<()> {
        for_each_row(&self.folder, self.chain, self.num_earlier, |line| {
            let values = line.trim_end().split(',').map(str::parse);
            let values = values.collect::<Result<Vec<f64>, _>>();
            self.sample
                .push(&values.map_err(|_| lost("it is damaged"))?);
            self.draws.written_row(line)
        })
    }

    fn copy_links(&mut self) -> io::Result<()> {
        let (Some(writer), Some(rows)) = (&mut self.links, &self.row_numbers) else {
            return Ok(());
        };
        let moved = moved_rows(&self.folder, self.chain, self.num_earlier)?;
        moved.iter().try_for_each(|link| writer.written_row(link))?;
        let known = |place: Option<usize>| place.ok_or_else(|| lost("it is damaged"));
        let moved = moved.iter().map(|link| {
            let (row, column) = (rows.place(link.row), rows.column(link.linked_to));
            Ok((link.draw - 1, known(row)?, known(column)?))
        });
        let moved = moved.collect::<io::Result<Vec<_>>>()?;
        let links = LinkDraws::from_moved(rows.num_rows(), self.num_earlier, moved);
        self.sample.links = Some(links);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.links.as_mut().map_or(Ok(()), LinksWriter::flush)?;
        self.draws.flush()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.links.as_mut().map_or(Ok(()), LinksWriter::sync)?;
        self.draws.sync()
    }
}

/// Where a file is written until it can take the place of an earlier one.
fn partial(path: &Path) -> PathBuf {
    path.with_extension("csv.partial")
}

pub(super) fn lost(what: &str) -> io::Error {
    io::Error::other(format!("{what}: fit again with --force"))
}

impl DrawSink for ChainWriter {
    fn adapted(&mut self, step_size: f64, metric: &Metric) -> io::Result<()> {
        self.draws.adaptation(step_size, metric)?;
        match self.num_earlier {
            0 => Ok(()),
            _ => self.copy_earlier(),
        }
    }

    fn draw(&mut self, draw: Draw) -> io::Result<()> {
        self.num_draws += 1;
        self.sample.draw(draw)?;
        self.draws.row(draw.values)?;
        if let (Some(writer), Some(links)) = (&mut self.links, draw.links) {
            writer.draw(self.num_draws, links)?;
        }
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
            self.flushed = Instant::now();
        }
        Ok(())
    }

    fn finish(&mut self, warmup_seconds: f64, sampling_seconds: f64) -> io::Result<()> {
        self.sample.finish(warmup_seconds, sampling_seconds)?;
        self.draws.finish(warmup_seconds, sampling_seconds)?;
        match self.checkpoints.every {
            Some(_) => self.sync()?,
            None => self.flush()?,
        }
        if self.num_draws == 0 {
            // Readers refuse a chain without draws, and with it all the others.
            fs::remove_file(self.folder.draws(self.chain))?;
            if self.links.is_some() {
                fs::remove_file(self.folder.links(self.chain))?;
            }
        }
        Ok(())
    }

    fn place(&self) -> String {
        self.folder.draws(self.chain).display().to_string()
    }

    fn checkpoint_every(&self) -> Option<Duration> {
        self.checkpoints.every
    }

    fn checkpoint(&mut self, state: ChainState) -> io::Result<()> {
        self.sync()?;
        let seconds = self.checkpoints.seconds();
        Checkpoint::new(seconds, state).write(&self.folder)
    }
}
