//! The files of a simulation: `data.csv`, `truth.json`, and a `config.json` that fits them.

use std::fmt::Write;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::{SimulateError, Simulated, TIME_AND_EVENT, Truth, predictor_names};
use crate::config::{Data, DataSource, Family};
use crate::text::{make_folder, write_whole};

/// Writes `data.csv`, `truth.json` and `config.json` into `folder`; replaces such files only with `force`.
pub fn write_files(
    folder: &Path,
    csv: &str,
    truth: &Truth,
    config: &str,
    force: bool,
) -> Result<(), SimulateError> {
    let files = [
        ("data.csv", csv.to_string()),
        ("truth.json", truth_text(truth)),
        ("config.json", config.to_string()),
    ];
    let existing = files.iter().map(|(name, _)| folder.join(name));
    if let Some(path) = existing.filter(|path| path.exists()).find(|_| !force) {
        return Err(SimulateError::Exists { path });
    }
    make_folder(folder)?;
    for (name, text) in files {
        let path = folder.join(name);
        write_whole(&path, text)?;
    }
    Ok(())
}

impl Simulated {
    /// Roles of the columns of `csv`, in a file `data.csv`.
    pub fn columns(&self) -> Data {
        let names = predictor_names(self.x.ncols());
        let regression = match self.events {
            None => Data::new("data.csv", "y", names),
            Some(_) => {
                let [time, event] = TIME_AND_EVENT;
                let formula = format!("Surv({time}, {event}) ~ {}", names.join(" + "));
                Data {
                    formula: Some(formula),
                    ..Data::new("data.csv", "", Vec::new())
                }
            }
        };
        Data {
            intercept: self.truth.beta.len() > self.x.ncols(),
            id: Some("row".into()),
            block: self.blocks.as_ref().map(|_| "block".into()),
            ..regression
        }
    }

    /// Columns row, x1 ... xD, block (where there are blocks) and y, or time and event; numbers read back exactly.
    pub fn csv(&self) -> String {
        let names = predictor_names(self.x.ncols()).join(",");
        let block = if self.blocks.is_some() { "block," } else { "" };
        let response = match self.events {
            None => "y".to_string(),
            Some(_) => TIME_AND_EVENT.join(","),
        };
        let mut text = format!("row,{names},{block}{response}\n");
        for (i, (x, y)) in self.x.rows().into_iter().zip(&self.y).enumerate() {
            let mut line = || -> std::fmt::Result {
                write!(text, "{}", i + 1)?;
                for value in x {
                    write!(text, ",{value}")?;
                }
                if let Some(blocks) = &self.blocks {
                    write!(text, ",{}", blocks[i] + 1)?;
                }
                write!(text, ",{y}")?;
                if let Some(events) = &self.events {
                    write!(text, ",{}", events[i])?;
                }
                writeln!(text)
            };
            line().expect("a string can be written to");
        }
        text
    }
}

/// A config for `data.csv` beside it. `model` is a shipped model and the family of its errors; `data` says which
/// columns have which role; `has_outside` whether responses may come from outside.
pub fn config_text(name: &str, model: (&str, Family), data: &Data, has_outside: bool) -> String {
    let (stan, family) = model;
    let mut model = vec![("stan", spaced(stan))];
    if family != Family::Gaussian {
        model.push(("family", spaced(&family)));
    }
    let columns = Data {
        source: DataSource::File {
            file: "data.csv".into(),
        },
        ..data.clone()
    };
    let columns = serde_json::to_value(columns).expect("plain JSON");
    let keys = [
        "file",
        "formula",
        "response",
        "predictors",
        "intercept",
        "id",
        "block",
        "safe",
    ];
    let columns: Vec<(&str, String)> = keys
        .into_iter()
        .filter(|key| !columns[key].is_null())
        .map(|key| (key, spaced(&columns[key])))
        .collect();
    let mut entries = vec![
        ("name", spaced(name)),
        ("model", on_one_line(&model)),
        ("data", on_one_line(&columns)),
    ];
    if has_outside {
        let outside = [("outside", "true".to_string())];
        entries.push(("permutation", on_one_line(&outside)));
    }
    entries.push(("output", spaced("fit")));
    on_lines(&entries)
}

/// The truth, a line for each entry.
fn truth_text(truth: &Truth) -> String {
    let value = serde_json::to_value(truth).expect("plain JSON");
    let order = [
        "coefficients",
        "beta",
        "sigma",
        "phi",
        "shape",
        "num_moved",
        "num_outside",
        "linked_to",
        "pi0",
    ];
    let entries = order.into_iter().filter(|key| !value[key].is_null());
    let entries: Vec<(&str, String)> = entries.map(|key| (key, spaced(&value[key]))).collect();
    on_lines(&entries)
}

fn on_lines(entries: &[(&str, String)]) -> String {
    format!("{{\n  {}\n}}\n", joined(entries, ",\n  "))
}

fn on_one_line(entries: &[(&str, String)]) -> String {
    format!("{{ {} }}", joined(entries, ", "))
}

fn joined(entries: &[(&str, String)], separator: &str) -> String {
    let entries: Vec<String> = entries
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"))
        .collect();
    entries.join(separator)
}

/// JSON on one line, with a space behind every comma and colon.
fn spaced<T: Serialize + ?Sized>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Spaced);
    value.serialize(&mut serializer).expect("plain JSON");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { to.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }
}
