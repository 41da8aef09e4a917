//! `unshuffle convert`: the pairs of a linkage program become a linked file, candidates and a config.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::config_args::how_linked;
use super::failure::Failure;
use super::json;
use super::terminal::absolute;
use crate::config;
use crate::data::{self, CANDIDATES, Conversion, LINKED};

const CONFIG: &str = "config.json";

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// The CSV file whose rows are to be fitted
    left: PathBuf,
    /// The CSV file that they are linked to
    right: PathBuf,
    /// The pairs of records: splink's predictions, fastLink's matches with their posterior, or two columns of ids
    pairs: PathBuf,
    /// The regression, for example "log(wage) ~ education"; its response is in one file, its predictors in the other
    #[arg(long)]
    formula: String,
    /// Column of both files that the pairs name records by [default: pairs have row numbers, from 1]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The same column of the right file, if it has another name there
    #[arg(long, value_name = "COLUMN", requires = "id")]
    id_right: Option<String>,
    /// Columns of the pairs with the record of the left and of the right file, if they are not found by their names
    #[arg(long, num_args = 2, value_names = ["LEFT", "RIGHT"])]
    columns: Option<Vec<String>>,
    /// Column of the pairs with their probability [default: match_probability or posterior, if there]
    #[arg(long, value_name = "COLUMN")]
    probability: Option<String>,
    /// Link pairs whose probability is above this
    #[arg(long, value_name = "P", default_value_t = 0.5)]
    threshold: f64,
    /// A CSV file of pairs checked by hand: 1 where they belong together, 0 where not
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Let every row be relinked anywhere, not only where pairs are
    #[arg(long)]
    no_candidates: bool,
    /// The shipped model or Stan program of the config
    #[arg(long, default_value = "linear")]
    model: String,
    /// The folder to write to
    #[arg(long, value_name = "DIR", default_value = "linked")]
    output: PathBuf,
    /// Replace the files of an earlier conversion
    #[arg(long)]
    force: bool,
}

pub(super) fn convert(args: ConvertArgs) -> Result<(), Failure> {
    let probability = match &args.probability {
        Some(column) => Some(column.clone()),
        None => data::probability_column(&args.pairs)?,
    };
    let id_right = args.id_right.as_ref().or(args.id.as_ref());
    let typed = json!({
        "model": {"stan": args.model},
        "data": {
            "left": args.left, "right": args.right, "formula": args.formula,
            "links": {
                "pairs": args.pairs, "left": args.id, "right": id_right, "columns": args.columns,
                "probability": probability, "threshold": args.threshold, "labels": args.labels,
                "candidates": !args.no_candidates,
            },
        },
    });
    let place = Path::new("the arguments of convert");
    let config = config::parse(&typed.to_string(), place, &[])?;
    let conversion = data::convert(&config.data, &args.model)?;
    let files = write(&conversion, &args)?;
    tell(&conversion, &args);
    json::result(
        "files",
        files.iter().map(|file| absolute(file)).collect::<Vec<_>>(),
    );
    json::result("notes", &conversion.notes);
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    say!("Written: {}", names.join(", "));
    say!("Next: unshuffle fit {}", args.output.join(CONFIG).display());
    Ok(())
}

fn tell(conversion: &Conversion, args: &ConvertArgs) {
    let Conversion {
        notes,
        num_candidates,
        num_movable,
        ..
    } = conversion;
    let linkage = notes.linkage.as_ref().expect("links were picked");
    for line in how_linked(linkage) {
        say!("{line}");
    }
    if notes.num_unlinked > 0 {
        say!("unlinked {} rows of the right file", notes.num_unlinked);
    }
    let num_links = linkage.num_links;
    match (num_candidates, args.no_candidates) {
        (0, false) => say!(
            "pairs    no other pair has both of its records linked, so a row may be relinked anywhere"
        ),
        (0, true) => {}
        (many, _) => say!("pairs    {many} candidates for other links"),
    }
    say!("links    {num_movable} of {num_links} rows can move");
    if *num_candidates > 0 && num_movable * 10 < num_links {
        note!(
            "warning: few rows can move, since the row whose place is taken must have a candidate, too, until a circle \
             closes; keep more pairs (a lower threshold of the linkage program), or let rows move anywhere with \
             --no-candidates"
        );
    }
}

/// Refuses to replace files unless asked to.
fn write(conversion: &Conversion, args: &ConvertArgs) -> Result<Vec<PathBuf>, Failure> {
    let candidates = conversion.candidates.as_ref();
    let config = serde_json::to_string_pretty(&conversion.config).expect("plain JSON") + "\n";
    let mut files = vec![(LINKED, &conversion.linked)];
    files.extend(candidates.map(|text| (CANDIDATES, text)));
    files.push((CONFIG, &config));
    let earlier = [LINKED, CANDIDATES, CONFIG].map(|name| args.output.join(name));
    if let (Some(path), false) = (earlier.iter().find(|path| path.exists()), args.force) {
        return Err(Failure::user(format!(
            "{} already exists: choose another --output, or replace it with --force",
            path.display()
        )));
    }
    let failed =
        |path: &Path, error| Failure::user(format!("cannot write {}: {error}", path.display()));
    fs::create_dir_all(&args.output).map_err(|error| failed(&args.output, error))?;
    for path in earlier.iter().filter(|path| path.exists()) {
        fs::remove_file(path).map_err(|error| failed(path, error))?;
    }
    let mut written = Vec::new();
    for (name, text) in files {
        let path = args.output.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        written.push(path);
    }
    Ok(written)
}
