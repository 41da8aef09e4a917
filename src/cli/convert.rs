//! `unshuffle convert`: the pairs of a linkage program become a linked file, candidates and a config. Where records are
//! linked to nobody, the config names the two files.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::config_args::{how_linked, plural};
use super::failure::Failure;
use super::json;
use super::terminal::{absolute, from_folder, refuse_input};
use crate::config;
use crate::data::{self, CANDIDATES, Conversion, LINKED};
use crate::text::{FileError, make_folder, write_whole};

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
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = finite)]
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

/// A number as typed; JSON has no other.
fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "write a number of 0 or more and below 1".into())
}

/// Names a file of the arguments that is not there.
fn check_there(args: &ConvertArgs) -> Result<(), Failure> {
    let named = [
        (Some(&args.left), "the left file"),
        (Some(&args.right), "the right file"),
        (Some(&args.pairs), "the file of pairs"),
        (args.labels.as_ref(), "the file of --labels"),
    ];
    for (path, what) in named {
        if let Some(path) = path.filter(|path| !path.exists()) {
            let path = path.display();
            return Err(Failure::user(format!(
                "cannot find {path}, {what}; check its path"
            )));
        }
    }
    Ok(())
}

pub(super) fn convert(args: ConvertArgs) -> Result<(), Failure> {
    check_there(&args)?;
    let probability = match &args.probability {
        Some(column) => Some(column.clone()),
        None => data::probability_column(&args.pairs)?,
    };
    let id_right = args.id_right.as_ref().or(args.id.as_ref());
    // The config stands in another folder than the one that a program is named from.
    let model = match args.model.ends_with(".stan") {
        true => absolute(Path::new(&args.model)).display().to_string(),
        false => args.model.clone(),
    };
    let typed = json!({
        "model": {"stan": model},
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
    let conversion = data::convert(&config.data, &model)?;
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
    let (of_left, of_right) = notes.linked_to_nobody();
    if of_left + of_right > 0 {
        say!(
            "unlinked {of_left} {} of the left file and {of_right} of the right one are linked to nobody, so the config \
             names both files, and a response may belong to nobody",
            plural(of_left)
        );
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

/// The config, with the paths of its data as they are from the folder in which it stands.
fn config_text(config: &Value, folder: &Path) -> String {
    let mut config = config.clone();
    for place in ["left", "right", "links/pairs", "links/labels"] {
        if let Some(path) = config.pointer_mut(&format!("/data/{place}")) {
            let from_here = path.as_str().expect("a path").to_string();
            *path = json!(from_folder(Path::new(&from_here), folder));
        }
    }
    serde_json::to_string_pretty(&config).expect("plain JSON") + "\n"
}

/// Refuses files of these names that no earlier conversion wrote: its config names the linked file, or the pairs.
fn check_earlier(files: &[PathBuf], folder: &Path) -> Result<(), Failure> {
    let Some(found) = files.iter().find(|path| path.exists()) else {
        return Ok(());
    };
    let config = fs::read(folder.join(CONFIG)).unwrap_or_default();
    let config: Value = serde_json::from_slice(&config).unwrap_or_default();
    let data = &config["data"];
    let is_ours = data["file"] == LINKED || data["links"]["pairs"].is_string();
    match is_ours {
        true => Ok(()),
        false => Err(Failure::user(format!(
            "{} was not written by an earlier conversion, so it is not replaced: choose another --output, or move that file",
            found.display()
        ))),
    }
}

/// Refuses to replace files unless asked to.
fn write(conversion: &Conversion, args: &ConvertArgs) -> Result<Vec<PathBuf>, Failure> {
    let candidates = conversion.candidates.as_ref();
    let earlier = [LINKED, CANDIDATES, CONFIG].map(|name| args.output.join(name));
    let mut read = vec![&*args.left, &*args.right, &*args.pairs];
    read.extend(args.labels.as_deref());
    for path in &earlier {
        refuse_input(path, &read)?;
    }
    if let (Some(path), false) = (earlier.iter().find(|path| path.exists()), args.force) {
        return Err(Failure::user(format!(
            "{} already exists: choose another --output, or replace it with --force",
            path.display()
        )));
    }
    check_earlier(&earlier, &args.output)?;
    make_folder(&args.output)?;
    let config = config_text(&conversion.config, &args.output);
    let mut files = vec![(LINKED, &conversion.linked)];
    files.extend(candidates.map(|text| (CANDIDATES, text)));
    files.push((CONFIG, &config));
    let mut written = Vec::new();
    for (name, text) in files {
        let path = args.output.join(name);
        write_whole(&path, text)?;
        written.push(path);
    }
    // Candidates of an earlier conversion are none of this one's.
    for path in (earlier.iter()).filter(|path| path.exists() && !written.contains(path)) {
        fs::remove_file(path).map_err(FileError::write_to(path))?;
    }
    Ok(written)
}
