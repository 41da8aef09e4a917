//! `unshuffle export`: relinked data from a finished fit.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::json;
use super::terminal::{absolute, check_finished};
use crate::after::export::{Export, Settings, write_arviz, write_cmdstan};
use crate::config::WeightSide;
use crate::posterior::{ExportFolder, Folder, Posterior};

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The output folder of a fit
    folder: PathBuf,
    /// The folder to write to [default: `export` in the folder of the fit]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How many completed data sets to draw from the posterior
    #[arg(long, value_name = "M", default_value_t = 20)]
    sets: usize,
    /// Seed of the choice of draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A column that was measured with the response and moves with it, such as another form of it
    #[arg(long, value_name = "COLUMN")]
    also: Vec<String>,
    /// Replace an earlier export
    #[arg(long)]
    force: bool,
    /// End with exit code 1, and without an export, when the fit is not finished
    #[arg(long)]
    strict: bool,
    /// Write only arviz.nc, the draws and the data as netCDF for `arviz.from_netcdf`
    #[arg(long, conflicts_with_all = ["sets", "seed", "also"])]
    arviz: bool,
    /// Write only cmdstan/, a folder with the draws of all chains for `cmdstanpy.from_csv(folder)`
    #[arg(long, conflicts_with_all = ["sets", "seed", "also", "arviz"])]
    cmdstan: bool,
    /// Also write all draws and links as draws.parquet and links.parquet
    #[cfg(feature = "parquet")]
    #[arg(long, conflicts_with_all = ["arviz", "cmdstan"])]
    parquet: bool,
}

pub(super) fn export(args: ExportArgs) -> Result<(), Failure> {
    let to = args.output.clone();
    let to = to.unwrap_or_else(|| Folder::new(&args.folder).export().path().to_path_buf());
    if args.arviz {
        return arviz(&args, &to);
    }
    if args.cmdstan {
        return cmdstan(&args, &to);
    }
    let export = Export::read(&args.folder, &args.also)?;
    check_finished(export.fit(), args.strict)?;
    let settings = Settings {
        num_sets: args.sets,
        seed: args.seed,
        force: args.force,
    };
    let linkings = export.write(&to, &settings)?;
    #[cfg(feature = "parquet")]
    if args.parquet {
        export.write_parquet(&to)?;
    }
    for column in export.beside_response() {
        note!(
            "warning: `{column}` goes with the response in every row, so it is probably another form of it, but it stayed \
             with the predictors; if it was measured with the response, export again with --also {column} --force"
        );
    }
    json::result("folder", absolute(&to));
    if let Some((names, side)) = export.survey_columns() {
        let where_to = match side {
            WeightSide::Predictors => "stayed with the predictors",
            WeightSide::Response => "moved with the response",
        };
        note!(
            "The columns of the survey ({}) {where_to}.",
            names.join(", ")
        );
    }
    say!("Written to {}:", to.display());
    let num_rows = export.num_rows();
    for linking in linkings {
        say!(
            "{:<18} {:>6} of {num_rows} rows moved; {:.1} links expected to be right",
            linking.file.as_deref().unwrap_or("(as linked)"),
            linking.num_moved,
            linking.expected_right
        );
    }
    Ok(())
}

fn arviz(args: &ExportArgs, to: &Path) -> Result<(), Failure> {
    let fit = Posterior::read(&args.folder)?;
    check_finished(&fit, args.strict)?;
    if let Some(sentence) = write_arviz(&fit, to, args.force)? {
        note!("warning: {sentence}");
    }
    let path = to.join(ExportFolder::ARVIZ);
    json::result("file", absolute(&path));
    say!("Written: {}", path.display());
    Ok(())
}

fn cmdstan(args: &ExportArgs, to: &Path) -> Result<(), Failure> {
    let fit = Posterior::read(&args.folder)?;
    check_finished(&fit, args.strict)?;
    let folder = write_cmdstan(&fit, to, args.force)?;
    json::result("folder", absolute(&folder));
    say!("Written: {}", folder.display());
    Ok(())
}
