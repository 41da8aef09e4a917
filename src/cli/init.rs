//! `unshuffle init`: a Stan program, a config and example data to edit.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::failure::Failure;
use super::init_from::start;
use super::terminal::{absolute, refuse_input};
use crate::model::stan::{shipped_model, shipped_names};
use crate::text::{make_folder, write_whole};

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The folder to write to; with --from, the config (FILE.json without it)
    #[arg(required_unless_present = "from")]
    folder: Option<PathBuf>,
    /// A CSV file of your own: write a config that fits it
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    from: Option<PathBuf>,
    /// The column of --from to explain; without it the last one with numbers
    #[arg(long, value_name = "COLUMN", requires = "from")]
    response: Option<String>,
    /// A shipped model
    #[arg(long, default_value = "linear")]
    model: String,
    /// Overwrite files that are already there
    #[arg(long)]
    force: bool,
}

pub(super) fn init(args: InitArgs) -> Result<(), Failure> {
    match (&args.from, &args.folder) {
        (Some(file), config) => init_from(file, config.as_deref(), &args),
        (None, Some(folder)) => init_model(folder, &args),
        (None, None) => unreachable!("clap asks for one of them"),
    }
}

/// A config for a file of the user's own.
fn init_from(file: &Path, config: Option<&Path>, args: &InitArgs) -> Result<(), Failure> {
    let path = config.map_or_else(|| file.with_extension("json"), Path::to_path_buf);
    refuse_input(&path, &[file])?;
    if path.exists() && !args.force {
        return Err(Failure::user(format!(
            "{} is already there: name another config, or overwrite it with --force",
            path.display()
        )));
    }
    let from = absolute(file);
    let mut started = start(&from, args.response.as_deref())?;
    // A file in the config's own folder is named as one would by hand.
    let folder = absolute(&path).parent().map(Path::to_path_buf);
    if let (Some(name), true) = (from.file_name(), from.parent() == folder.as_deref()) {
        started.config["data"]["file"] = json!(name.to_string_lossy());
    }
    let text = serde_json::to_string_pretty(&started.config).expect("plain JSON") + "\n";
    write_whole(&path, text)?;
    started.words.iter().for_each(|line| say!("{line}"));
    say!("{}", path.display());
    say!("Look it over, then run: unshuffle check {}", path.display());
    Ok(())
}

fn init_model(folder: &Path, args: &InitArgs) -> Result<(), Failure> {
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
        let path = folder.join(name);
        if path.exists() && !args.force {
            return Err(Failure::user(format!(
                "{} is already there: choose another folder, or overwrite it with --force",
                path.display()
            )));
        }
    }
    make_folder(folder)?;
    for (name, text) in &files {
        let path = folder.join(name);
        write_whole(&path, text)?;
        say!("{}", path.display());
    }
    let config = folder.join("config.json");
    say!("Edit them, then run: unshuffle fit {}", config.display());
    Ok(())
}
