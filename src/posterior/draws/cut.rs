//! Chains of one length: readers of CmdStan files refuse others, and chains of an interrupted fit end anywhere.
//!
//! Draws beyond the common length are moved into surplus_draws_<chain>.csv and surplus_links_<chain>.csv, from where
//! `fit --resume` takes them back. Every step leaves each draw in at least one file, so that a kill loses none.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::links_csv::{LinksWriter, MovedRow, read_links};
use crate::posterior::Folder;
use crate::posterior::links::RowNumbers;

/// What the first line of surplus_draws_<chain>.csv says before the number of draws that are not in it.
const BEFORE: &str = "# draws before these = ";

/// The length that keeps most draws when shorter chains are left out and longer ones cut; of two, the one that keeps more
/// chains.
pub fn common_length(lengths: &[usize]) -> usize {
    let num_kept = |length: usize| length * lengths.iter().filter(|&&l| l >= length).count();
    let mut candidates = lengths.to_vec();
    candidates.sort_unstable();
    let best = candidates.iter().map(|&length| num_kept(length)).max();
    let best = candidates.iter().find(|&&l| Some(num_kept(l)) == best);
    best.copied().unwrap_or(0)
}

/// Cuts the files of a chain to its first `num_draws` draws; without draws they are removed. `num_samples` in the header
/// becomes `num_draws` times `thin`.
pub fn cut_files(folder: &Folder, chain: usize, num_draws: usize, thin: usize) -> io::Result<()> {
    let place = |path: PathBuf, surplus: PathBuf| Cut {
        path,
        surplus,
        num_draws,
    };
    let draws = place(folder.draws(chain), folder.surplus_draws(chain));
    draws.of_draws(thin)?;
    let links = place(folder.links(chain), folder.surplus_links(chain));
    if links.path.exists() {
        links.of_links()?;
    }
    folder.sync();
    Ok(())
}

/// One file that is cut.
struct Cut {
    path: PathBuf,
    surplus: PathBuf,
    num_draws: usize,
}

impl Cut {
    fn of_draws(&self, thin: usize) -> io::Result<()> {
        let mut kept = BufWriter::new(File::create(partial(&self.path))?);
        let mut surplus = BufWriter::new(File::create(partial(&self.surplus))?);
        writeln!(surplus, "{BEFORE}{}", self.num_draws)?;
        let mut lines = Lines::open(&self.path)?;
        while let Some(line) = lines.next()? {
            match line {
                Line::Comment(text) if text.contains(" num_samples = ") => {
                    writeln!(kept, "#     num_samples = {}", self.num_draws * thin)?
                }
                Line::Row(number, text) if number >= self.num_draws => {
                    surplus.write_all(text.as_bytes())?
                }
                Line::Comment(text) | Line::Names(text) | Line::Row(_, text) => {
                    kept.write_all(text.as_bytes())?
                }
            }
        }
        on_disk(surplus)?;
        on_disk(kept)?;
        self.settle()
    }

    fn of_links(&self) -> io::Result<()> {
        let all = read_links(&self.path).map_err(io::Error::other)?;
        let is_kept = |link: &&MovedRow| link.draw <= self.num_draws;
        let (kept, surplus): (Vec<_>, Vec<_>) = all.iter().partition(is_kept);
        for (path, rows) in [(&self.path, kept), (&self.surplus, surplus)] {
            let mut writer = LinksWriter::create(&partial(path), RowNumbers::new(&[]))?;
            rows.iter().try_for_each(|row| writer.written_row(row))?;
            writer.sync()?;
        }
        self.settle()
    }

    /// First the surplus: a draw may be in both files, but not in none.
    fn settle(&self) -> io::Result<()> {
        fs::rename(partial(&self.surplus), &self.surplus)?;
        match self.num_draws {
            0 => fs::remove_file(partial(&self.path)).and_then(|()| fs::remove_file(&self.path)),
            _ => fs::rename(partial(&self.path), &self.path),
        }
    }
}

/// The rows of a chain's draws, each with its newline, up to `num_draws`: those of its file, then those of its surplus.
pub(super) fn for_each_row(
    folder: &Folder,
    chain: usize,
    num_draws: usize,
    mut row: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut num_rows = 0;
    for path in [folder.draws(chain), folder.surplus_draws(chain)] {
        if num_rows == num_draws || !path.exists() {
            continue;
        }
        let mut lines = Lines::open(&path)?;
        while let Some(line) = lines.next()? {
            match line {
                Line::Row(number, text) if number == num_rows && num_rows < num_draws => {
                    row(text)?;
                    num_rows += 1;
                }
                _ => {}
            }
        }
    }
    match num_rows == num_draws {
        true => Ok(()),
        false => Err(super::writer::lost(
            "it has fewer draws than its checkpoint says",
        )),
    }
}

/// The moved rows of a chain's draws up to `num_draws`: those of its file, then those of its surplus.
pub(super) fn moved_rows(
    folder: &Folder,
    chain: usize,
    num_draws: usize,
) -> io::Result<Vec<MovedRow>> {
    let mut moved: Vec<MovedRow> = Vec::new();
    for path in [folder.links(chain), folder.surplus_links(chain)] {
        if path.exists() {
            let last = moved.last().map_or(0, |link| link.draw);
            let rows = read_links(&path).map_err(io::Error::other)?;
            moved.extend(rows.into_iter().filter(|link| link.draw > last));
        }
    }
    moved.retain(|link| link.draw <= num_draws);
    Ok(moved)
}

/// Removes the surplus of a chain whose files have all its draws again.
pub(super) fn remove_surplus(folder: &Folder, chain: usize) -> io::Result<()> {
    for path in [folder.surplus_draws(chain), folder.surplus_links(chain)] {
        if path.exists() {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// A line of a file of draws, with its newline.
enum Line<'a> {
    Comment(&'a str),
    /// The names of the columns.
    Names(&'a str),
    /// A draw and how many are before it.
    Row(usize, &'a str),
}

/// The whole lines of draws_<chain>.csv or of its surplus.
struct Lines {
    reader: BufReader<File>,
    line: String,
    /// None before the names of the columns.
    num_rows: Option<usize>,
}

impl Lines {
    fn open(path: &Path) -> io::Result<Lines> {
        Ok(Lines {
            reader: BufReader::new(File::open(path)?),
            line: String::new(),
            num_rows: None,
        })
    }

    /// None at the end; half a line at the end of the file of a killed process is not one.
    fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        self.reader.read_line(&mut self.line)?;
        if !self.line.ends_with('\n') {
            return Ok(None);
        }
        if let Some(before) = self.line.strip_prefix(BEFORE) {
            self.num_rows = before.trim_end().parse().ok();
        }
        if self.line.starts_with('#') {
            return Ok(Some(Line::Comment(&self.line)));
        }
        let number = self.num_rows;
        self.num_rows = Some(number.map_or(0, |number| number + 1));
        Ok(Some(match number {
            Some(number) => Line::Row(number, &self.line),
            None => Line::Names(&self.line),
        }))
    }
}

fn partial(path: &Path) -> PathBuf {
    path.with_extension("csv.partial")
}

fn on_disk(mut out: BufWriter<File>) -> io::Result<()> {
    out.flush()?;
    out.get_ref().sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_length_keeps_most_draws() {
        for (lengths, expected) in [
            (&[][..], 0),
            (&[0, 0], 0),
            (&[24_244, 24_229], 24_229),
            (&[1000, 3], 1000),
            (&[1000, 500], 500),
            (&[1000, 0, 1000, 300], 1000),
            (&[7, 7, 7, 6], 6),
        ] {
            assert_eq!(common_length(lengths), expected, "{lengths:?}");
        }
    }

    fn rows(folder: &Folder, num_draws: usize) -> io::Result<String> {
        let mut text = String::new();
        for_each_row(folder, 1, num_draws, |row| {
            text += row;
            Ok(())
        })?;
        Ok(text)
    }

    const DRAWS: &str = "#     num_samples = 8\nlp__,x\n# Step size = 1\n-1,1\n-2,2\n-3,3\n# end\n";
    const LINKS: &str = "draw,row,linked_to\n1,4,5\n1,5,4\n3,4,5\n3,5,4\n";

    fn folder(temporary: &tempfile::TempDir) -> Folder {
        let folder = Folder::new(temporary.path());
        folder.write("draws_1.csv", DRAWS).unwrap();
        folder.write("links_1.csv", LINKS).unwrap();
        folder
    }

    #[test]
    fn what_is_cut_off_comes_back() {
        for (kept, rest) in [
            (2, "-3,3\n"),
            (1, "-2,2\n-3,3\n"),
            (0, "-1,1\n-2,2\n-3,3\n"),
        ] {
            let temporary = tempfile::tempdir().unwrap();
            let folder = folder(&temporary);
            cut_files(&folder, 1, kept, 2).unwrap();
            let draws = folder.read("draws_1.csv").unwrap();
            assert_eq!(draws.is_some(), kept > 0);
            if let Some(draws) = draws {
                let header = DRAWS.replace("= 8", &format!("= {}", 2 * kept));
                assert_eq!(draws, header.replace(rest, ""));
            }
            assert_eq!(rows(&folder, 3).unwrap(), "-1,1\n-2,2\n-3,3\n");
            assert_eq!(rows(&folder, 2).unwrap(), "-1,1\n-2,2\n");
            assert!(rows(&folder, 4).is_err());
            assert_eq!(moved_rows(&folder, 1, 3).unwrap().len(), 4);
            assert_eq!(moved_rows(&folder, 1, 2).unwrap().len(), 2);
            remove_surplus(&folder, 1).unwrap();
            assert!(rows(&folder, 3).is_err());
        }
    }

    #[test]
    fn a_kill_between_two_steps_loses_no_draw_and_doubles_none() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = folder(&temporary);
        cut_files(&folder, 1, 1, 2).unwrap();
        // The surplus is there already, the file not yet cut; its last line is torn.
        folder
            .write("draws_1.csv", DRAWS.to_string() + "-4,")
            .unwrap();
        folder.write("links_1.csv", LINKS).unwrap();
        assert_eq!(rows(&folder, 3).unwrap(), "-1,1\n-2,2\n-3,3\n");
        assert_eq!(moved_rows(&folder, 1, 3).unwrap().len(), 4);
        assert!(rows(&folder, 4).is_err());
    }
}
