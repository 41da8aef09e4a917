//! A folder with the draws and no other CSV file, which `cmdstanpy.from_csv(folder)` reads.

use std::fs;
use std::path::{Path, PathBuf};

use super::{ExportError, Posterior};
use crate::posterior::ExportFolder;
use crate::text::{FileError, make_folder};

/// Copies the draws of every chain; returns the folder.
pub fn write_cmdstan(fit: &Posterior, to: &Path, force: bool) -> Result<PathBuf, ExportError> {
    let export = ExportFolder::new(to);
    let folder = to.join(ExportFolder::CMDSTAN);
    // A chain of an earlier fit among those of this one would go unnoticed.
    for path in export.files()? {
        match path.parent() == Some(folder.as_path()) {
            true if force => fs::remove_file(&path).map_err(FileError::write_to(&path))?,
            true => return Err(ExportError::Exists { path }),
            false => {}
        }
    }
    for chain in &fit.chains {
        let (from, name) = (
            fit.folder.draws(chain.chain),
            ExportFolder::cmdstan(chain.chain),
        );
        export.add(&name)?;
        make_folder(&folder)?;
        let path = to.join(name);
        if let Err(error) = fs::copy(from, &path) {
            let _ = fs::remove_file(&path);
            return Err(FileError::write(&path)(error).into());
        }
    }
    Ok(folder)
}
