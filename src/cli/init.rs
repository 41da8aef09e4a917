//! `unshuffle init`: a Stan program, a config and example data to edit.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use crate::model::stan::{shipped_model, shipped_names};

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The folder to write to
    folder: PathBuf,
    /// A shipped model
    #[arg(long, default_value = "linear")]
    model: String,
    /// Overwrite files that are already there
    #[arg(long)]
    force: bool,
}

pub(super) fn init(args: InitArgs) -> Result<(), Failure> {
    let model = shipped_model(&args.model).ok_or_else(|| {
        let names = shipped_names().join(", ");
        Failure::user(format!(
            "there is no shipped model `{}`: choose one of {names}",
            args.model
        ))
    })?;
    let files = [
        (format!("{}.stan", model.name), model.stan.to_string()),
        ("config.json".to_string(), model.starting_config()),
        ("example.csv".to_string(), model.example_data().to_string()),
    ];
    for (name, _) in &files {
        let path = args.folder.join(name);
        if path.exists() && !args.force {
            return Err(Failure::user(format!(
                "{} is already there: choose another folder, or overwrite it with --force",
                path.display()
            )));
        }
    }
    let failed = |error: std::io::Error| {
        Failure::user(format!(
            "cannot write to {}: {error}",
            args.folder.display()
        ))
    };
    fs::create_dir_all(&args.folder).map_err(failed)?;
    for (name, text) in &files {
        let path = args.folder.join(name);
        fs::write(&path, text).map_err(failed)?;
        say!("{}", path.display());
    }
    let config = args.folder.join("config.json");
    say!("Edit them, then run: unshuffle fit {}", config.display());
    Ok(())
}
