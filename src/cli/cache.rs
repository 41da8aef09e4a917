//! `unshuffle cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::compile::source_of;
use super::failure::Failure;
use super::progress::BuildProgress;
use crate::model::stan::{Cache, Compiler, Soundness, Toolchain, shipped_names};

#[derive(Debug, Args)]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// List compiled models and the parts of Stan, with their sizes
    List,
    /// Remove what this version cannot use: damaged, outdated and unfinished entries, and logs of failed compilations
    Clean {
        /// Remove everything, also Stan itself
        #[arg(long)]
        all: bool,
    },
    /// Write compiled models and what their fits need to one file, for a machine without compiler and network
    Pack {
        /// The bundle to write, a .tar.gz file
        #[arg(value_name = "BUNDLE")]
        bundle: PathBuf,
        /// Stan programs to compile and pack: paths of .stan files, or names of shipped models; by default all that are compiled
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Compile and pack every shipped model
        #[arg(long, conflicts_with = "files")]
        shipped: bool,
    },
    /// Add the models of a bundle to the cache; fits run what it holds, so unpack only bundles that you trust
    Unpack {
        #[arg(value_name = "BUNDLE")]
        bundle: PathBuf,
    },
}

pub(super) fn cache(args: CacheArgs) -> Result<(), Failure> {
    let cache = Cache::locate()?;
    match args.command {
        CacheCommand::List => list(&cache),
        CacheCommand::Clean { all } => clean(&cache, all)?,
        CacheCommand::Pack {
            bundle,
            files,
            shipped,
        } => {
            let shipped = shipped_names().into_iter().filter(|_| shipped);
            let files: Vec<PathBuf> = files
                .into_iter()
                .chain(shipped.map(PathBuf::from))
                .collect();
            pack(&cache, bundle, &files)?;
        }
        CacheCommand::Unpack { bundle } => {
            let unpacked = cache.unpack(&bundle, &BuildProgress::new())?;
            say!(
                "Unpacked to {}: {}",
                cache.root().display(),
                unpacked.models.join(", ")
            );
            if unpacked.num_known > 0 {
                say!("Entries that were there already: {}", unpacked.num_known);
            }
        }
    }
    Ok(())
}

fn list(cache: &Cache) {
    let entries = cache.entries();
    for entry in &entries {
        let state = match entry.soundness {
            Soundness::Sound => "",
            Soundness::Damaged => " (damaged)",
            Soundness::Outdated => " (of another version)",
            Soundness::Unfinished => " (unfinished)",
        };
        say!(
            "{:<10} {:>10}  {}{state}: {}",
            entry.kind,
            megabytes(entry.bytes),
            entry.what,
            entry.folder.display()
        );
    }
    let total = entries.iter().map(|entry| entry.bytes).sum();
    say!("Total: {} in {}", megabytes(total), cache.root().display());
    if let Some(bundle) = cache.bundle() {
        say!("Models that came with unshuffle: {}", bundle.display());
    }
}

fn clean(cache: &Cache, all: bool) -> Result<(), Failure> {
    let cleaned = cache.clean(all)?;
    say!(
        "Entries removed from {}: {} ({})",
        cache.root().display(),
        cleaned.num_entries,
        megabytes(cleaned.bytes)
    );
    if cleaned.num_in_use > 0 {
        say!(
            "Entries left, as other processes are making them: {}",
            cleaned.num_in_use
        );
    }
    Ok(())
}

fn pack(cache: &Cache, bundle: PathBuf, files: &[PathBuf]) -> Result<(), Failure> {
    let observer = BuildProgress::new();
    let jobs = super::default_threads();
    let mut only = Vec::new();
    if !files.is_empty() {
        // Models that a BridgeStan folder compiles need that folder's libraries, so they are not packed.
        let toolchain = Toolchain::find_or_fetch(None, cache, &observer)?;
        let compiler = Compiler::new(toolchain, cache.clone(), &observer, jobs);
        for file in files {
            let compiled = compiler.compile(&source_of(file)?)?;
            only.extend(compiled.library.parent().map(PathBuf::from));
        }
    }
    let only = (!files.is_empty()).then_some(only.as_slice());
    let packed = cache.pack(&bundle, only)?;
    say!(
        "Packed into {} ({}): {}",
        bundle.display(),
        megabytes(packed.bytes),
        packed.models.join(", ")
    );
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
