//! `unshuffle init --from FILE`: a config for a file of one's own, from what its columns look like.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use super::failure::Failure;
use crate::data::{Table, is_missing};
use crate::text::full_sentence;

/// A column of text with more values than this is no category.
const MOST_LEVELS: usize = 20;
/// Fewer rows than this cannot be fitted.
const LEAST_ROWS: usize = 3;

/// What a column of the file looks like.
#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Number {
        is_key: bool,
    },
    Category,
    /// A different value in every row.
    Key,
    /// Nothing varies, or too many texts.
    Useless(&'static str),
}

struct Column {
    name: String,
    kind: Kind,
    has_missing: bool,
}

/// A config, and in words what was chosen for it.
pub(super) struct Started {
    pub config: Value,
    pub words: Vec<String>,
}

/// Looks at a CSV file. Without a named response, the last column of numbers is taken for it.
pub(super) fn start(file: &Path, response: Option<&str>) -> Result<Started, Failure> {
    let columns = read(file)?;
    let is_number = |column: &&Column| matches!(column.kind, Kind::Number { .. });
    let response = match response {
        Some(name) => columns.iter().find(|c| c.name == name).ok_or_else(|| {
            let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            Failure::user(format!(
                "{} has no column `{name}` for --response: choose one of {}",
                file.display(),
                names.join(", ")
            ))
        })?,
        None => {
            let free = |c: &&Column| c.kind == Kind::Number { is_key: false };
            columns.iter().rfind(free).ok_or_else(|| {
                Failure::user(format!(
                    "{} has no column of numbers that could be the response: name one with --response",
                    file.display()
                ))
            })?
        }
    };
    if !is_number(&response) {
        return Err(Failure::user(format!(
            "the column `{}` of {} holds no numbers, or always the same: choose another --response",
            response.name,
            file.display()
        )));
    }
    let id = columns.iter().find(|c| is_id(c) && c.name != response.name);
    let is_id = |column: &Column| id.is_some_and(|id| id.name == column.name);
    let (mut predictors, mut words) = (Vec::new(), Vec::new());
    for column in &columns {
        match &column.kind {
            _ if column.name == response.name || is_id(column) => {}
            Kind::Number { .. } | Kind::Category => predictors.push(column),
            Kind::Key => words.push(format!(
                "left out  {}: every row has its own text",
                column.name
            )),
            Kind::Useless(why) => words.push(format!("left out  {}: {why}", column.name)),
        }
    }
    if predictors.is_empty() {
        return Err(Failure::user(format!(
            "{} has no column besides the response `{}` that could be a predictor",
            file.display(),
            response.name
        )));
    }
    let names: Vec<&str> = predictors.iter().map(|c| c.name.as_str()).collect();
    let mut data = json!({
        "file": file,
        "response": response.name,
        "predictors": names,
    });
    if let Some(id) = id {
        data["id"] = json!(id.name);
        words.insert(0, format!("id        {}", id.name));
    }
    let missing: Vec<&str> = predictors
        .iter()
        .copied()
        .chain([response])
        .filter(|c| c.has_missing)
        .map(|c| c.name.as_str())
        .collect();
    if !missing.is_empty() {
        data["missing"] = json!("drop");
        words.push(format!(
            "dropped   rows with missing values in {}",
            missing.join(", ")
        ));
    }
    words.insert(0, format!("predictors {}", names.join(", ")));
    words.insert(0, format!("response  {}", response.name));
    let config = json!({
        "model": {"stan": "linear"},
        "data": data,
    });
    Ok(Started { config, words })
}

/// A key that is named like one, or is text.
fn is_id(column: &Column) -> bool {
    let name = column.name.to_lowercase();
    let is_named = name == "id" || name.ends_with("_id") || name.ends_with("id_");
    matches!(column.kind, Kind::Key) || (is_named && column.kind == Kind::Number { is_key: true })
}

fn read(file: &Path) -> Result<Vec<Column>, Failure> {
    if !file.exists() {
        return Err(Failure::user(format!(
            "cannot find {}; check the path behind --from",
            file.display()
        )));
    }
    let table =
        Table::read(file, "--from").map_err(|error| Failure::user(full_sentence(&error)))?;
    if table.rows.len() < LEAST_ROWS {
        return Err(Failure::user(format!(
            "{} has too few rows to fit anything: {}",
            table.file,
            table.rows.len()
        )));
    }
    let cells = |k: usize| table.rows.iter().map(move |row| row[k].trim());
    let columns = table.header.iter().enumerate();
    Ok(columns
        .map(|(k, name)| column(name, &cells(k).collect::<Vec<_>>()))
        .collect())
}

fn column(name: &str, cells: &[&str]) -> Column {
    let known = cells.iter().copied().filter(|cell| !is_missing(cell));
    let known: Vec<&str> = known.collect();
    let levels: HashSet<&str> = known.iter().copied().collect();
    let is_key = levels.len() == cells.len();
    let all_numbers = known.iter().all(|cell| cell.parse::<f64>().is_ok());
    let kind = match levels.len() {
        0 => Kind::Useless("no value is known"),
        1 => Kind::Useless("every row has the same value"),
        _ if all_numbers => {
            let whole = known.iter().all(|cell| cell.parse::<u64>().is_ok());
            Kind::Number {
                is_key: is_key && whole,
            }
        }
        _ if is_key => Kind::Key,
        few if few <= MOST_LEVELS => Kind::Category,
        _ => Kind::Useless("too many different texts for a category"),
    };
    Column {
        name: name.into(),
        kind,
        has_missing: known.len() < cells.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(text: &str, response: Option<&str>) -> Result<Started, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("my.csv");
        std::fs::write(&file, text).unwrap();
        start(&file, response).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn columns_find_their_places() {
        let text = "person_id,town,name,age,flag,income\n1,a,Ann,30,1,10.5\n2,b,Bob,NA,1,11.5\n3,a,Cy,50,1,9.5\n4,b,Di,30,1,9.5\n";
        let Started { config, words } = started(text, None).unwrap();
        assert_eq!(config["data"]["response"], "income");
        assert_eq!(config["data"]["predictors"], json!(["town", "age"]));
        assert_eq!(config["data"]["id"], "person_id");
        assert_eq!(config["data"]["missing"], "drop");
        let words = words.join("\n");
        assert!(
            words.contains("left out  flag: every row has the same value"),
            "{words}"
        );
        assert!(
            words.contains("left out  name: every row has its own text"),
            "{words}"
        );
        let named = started(text, Some("age")).unwrap().config;
        assert_eq!(named["data"]["response"], "age");
        assert_eq!(named["data"]["predictors"], json!(["town", "income"]));
    }

    #[test]
    fn mistakes_are_named() {
        let text = "x,y\n1,2\n2,4\n4,1\n";
        for (text, response, expected) in [
            (text, Some("z"), "no column `z`"),
            ("x,y\na,2\nb,4\nc,1\n", Some("x"), "holds no numbers"),
            ("x,y\na,u\nb,v\nc,v\n", None, "no column of numbers"),
            ("y\n1\n2\n1\n", None, "no column besides"),
            ("x,y\n1,2\n", None, "too few rows"),
        ] {
            let message = started(text, response).err().unwrap();
            assert!(message.contains(expected), "{message}");
        }
    }
}
