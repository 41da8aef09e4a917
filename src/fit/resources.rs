//! Disk and memory that the draws of a fit take at least, and whether this machine has them.
//!
//! Both needs are lower bounds, so a fit that is refused could not have ended.

use std::path::Path;

use super::{FitError, Prepared};
use crate::config::Update;
use crate::posterior::Folder;
use crate::posterior::draws::{Checkpoint, is_log_lik};
use crate::sampler::chain::{LINK_COLUMNS, SAMPLER_COLUMNS};
use crate::text::{bytes_in_words, free_memory};

/// Bytes that draws take at least.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Needs {
    disk: f64,
    memory: f64,
}

/// Bytes that are free; None where the system does not tell.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Room {
    disk: Option<f64>,
    memory: Option<f64>,
}

impl Prepared {
    /// Refuses draws that cannot fit on the disk of the output folder, or into memory.
    pub fn check_room(&self) -> Result<(), FitError> {
        let folder = self.work_folder()?;
        let sampler = &self.config.sampler;
        let num_draws = sampler.chains as f64 * sampler.draws.div_ceil(sampler.thin) as f64;
        let needs = self.needs(num_draws, num_draws - self.num_saved(&folder) as f64);
        needs.check(Room::at(folder.path()), &folder)
    }

    /// Draws that are on the disk already. A damaged checkpoint vouches for none; whoever needs it says so.
    fn num_saved(&self, folder: &Folder) -> usize {
        let chains = 1..=self.config.sampler.chains;
        let saved = chains.filter_map(|chain| Checkpoint::read(folder, chain).ok()?);
        saved.map(|saved| saved.num_draws()).sum()
    }

    fn needs(&self, num_draws: f64, num_missing: f64) -> Needs {
        /// One digit and what separates it from the next number.
        const SHORTEST: usize = 2;
        /// A continuous quantity is written with all its digits, 17 as a rule.
        const CONTINUOUS: usize = 12;
        /// The log density, the step size and the energy.
        const CONTINUOUS_COLUMNS: usize = 3;
        let outputs = self.model.output_names();
        let of_links = match self.config.permutation.update {
            Update::None => 0,
            _ => LINK_COLUMNS.len(),
        };
        let own = SAMPLER_COLUMNS.len() + of_links;
        let num_columns = own + outputs.len();
        let num_continuous = CONTINUOUS_COLUMNS + self.model.dim();
        let row = SHORTEST * num_columns + (CONTINUOUS - SHORTEST) * num_continuous;
        let num_kept = own + outputs.iter().filter(|name| !is_log_lik(name)).count();
        Needs {
            disk: num_missing.max(0.0) * row as f64,
            memory: num_draws * (size_of::<f64>() * num_kept) as f64,
        }
    }
}

impl Needs {
    fn check(self, room: Room, folder: &Folder) -> Result<(), FitError> {
        let disk = format!("on the disk of {}", folder.path().display());
        for (need, free, place) in [
            (self.disk, room.disk, disk.as_str()),
            (self.memory, room.memory, "in memory"),
        ] {
            match free {
                Some(free) if need > free => {
                    return Err(FitError::TooLarge {
                        need: bytes_in_words(need),
                        free: bytes_in_words(free),
                        place: place.to_string(),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Room {
    /// What is free for a folder that may not be there yet.
    fn at(folder: &Path) -> Room {
        // The parent of a relative path of one word is the empty path.
        let here = Path::new(".");
        let existing = folder.ancestors().find(|path| path.exists());
        Room {
            disk: free_disk(existing.unwrap_or(here)),
            memory: free_memory(),
        }
    }
}

/// The space that users other than root can still fill.
#[cfg(unix)]
fn free_disk(folder: &Path) -> Option<f64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: statvfs is plain data, for which zeros are a value.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: `path` ends with a zero and `found` is a valid place; the call keeps no pointer to either.
    let code = unsafe { libc::statvfs(path.as_ptr(), &mut found) };
    (code == 0).then_some(found.f_bavail as f64 * found.f_frsize as f64)
}

#[cfg(not(unix))]
fn free_disk(_folder: &Path) -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(needs: (f64, f64), room: (Option<f64>, Option<f64>)) -> Option<String> {
        let needs = Needs {
            disk: needs.0,
            memory: needs.1,
        };
        let room = Room {
            disk: room.0,
            memory: room.1,
        };
        let checked = needs.check(room, &Folder::new("out/wages"));
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn what_cannot_fit_is_refused_with_both_numbers() {
        let disk = refusal((3e9, 1e9), (Some(2e9), Some(2e9))).unwrap();
        assert_eq!(
            disk,
            "the draws take at least 3.0 GB on the disk of out/wages, where 2.0 GB are free: lower sampler.draws or sampler.chains, or raise sampler.thin"
        );
        let memory = refusal((1e9, 640e9), (Some(2e9), Some(64e9))).unwrap();
        assert!(memory.contains("at least 640 GB in memory, where 64 GB are free"));
        let small = refusal((8.8e6, 1e6), (Some(2.1e6), Some(64e9))).unwrap();
        assert!(small.contains("at least 8.8 MB on the disk of out/wages, where 2.1 MB are free"));
        assert_eq!(refusal((1e9, 1e9), (Some(1e9), Some(1e9))), None);
        assert_eq!(refusal((1e18, 1e18), (None, None)), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_tells_what_is_free() {
        let temporary = tempfile::tempdir().unwrap();
        let room = Room::at(&temporary.path().join("not/there/yet"));
        assert!(room.disk.unwrap() > 0.0 && room.memory.unwrap() > 0.0);
        assert_eq!(free_disk(Path::new("/proc")), Some(0.0));
    }
}
