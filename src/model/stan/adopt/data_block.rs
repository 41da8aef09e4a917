//! The names that unshuffle passes (N, D, X, alpha) against those of the program, and what the config must still give.

use super::program::{Declaration, Program};

/// A name that changes throughout the program, and why.
#[derive(Debug)]
pub(super) struct Rename {
    pub old: String,
    pub new: String,
    pub why: &'static str,
}

/// Where the predictors come from once adopted.
#[derive(Debug, PartialEq)]
pub(super) enum Predictors {
    /// The program's own matrix, now called X.
    Matrix,
    /// Columns that the program declares one by one; each is taken from a column of X.
    Columns(Vec<String>),
    /// The program declares nothing that could be X.
    None,
}

/// Every clash with a name that unshuffle passes is renamed away, so that nothing is given a value that means something else.
pub(super) fn renames(program: &Program, response: &Declaration) -> Vec<Rename> {
    let data = program.declarations("data");
    let length = response.sizes[0];
    let matrix = predictor_matrix(&data, length);
    let columns = matrix.and_then(|matrix| column_count(matrix, &data));
    let mut found = Vec::new();
    let mut give = |wanted: Option<&str>, name: &str, spare: &str, why, clash| {
        if wanted != Some(name) && program.uses(name) {
            let new = program.free_name(spare);
            let old = name.to_string();
            found.push(Rename {
                old,
                new,
                why: clash,
            });
        }
        if let Some(wanted) = wanted.filter(|wanted| *wanted != name) {
            let (old, new) = (wanted.to_string(), name.to_string());
            found.push(Rename { old, new, why });
        }
    };
    give(
        Some(length),
        "N",
        "N",
        "unshuffle passes the number of rows as N",
        "unshuffle passes the number of rows as N",
    );
    give(
        columns,
        "D",
        "D",
        "unshuffle passes the number of columns of X as D",
        "unshuffle passes the number of columns of X as D",
    );
    give(
        matrix.map(|matrix| matrix.name),
        "X",
        "x",
        "unshuffle passes the predictors as X",
        "unshuffle passes the matrix of predictors as X",
    );
    give(
        None,
        "alpha",
        "alpha",
        "",
        "unshuffle passes the temperature as alpha",
    );
    found
}

/// The matrix with a row for each response: the one called X, or the only one.
fn predictor_matrix<'d, 't>(
    data: &'d [Declaration<'t>],
    length: &str,
) -> Option<&'d Declaration<'t>> {
    let of_rows = |declaration: &&Declaration| {
        let sizes = declaration
            .sizes
            .first()
            .and_then(|sizes| sizes.split_once(','));
        declaration.element == "matrix"
            && declaration.alone
            && declaration.sizes.len() == 1
            && sizes.is_some_and(|(rows, _)| rows.trim() == length)
    };
    let all: Vec<&Declaration> = data.iter().filter(of_rows).collect();
    let named = all.iter().find(|declaration| declaration.name == "X");
    match (named, all.as_slice()) {
        (Some(named), _) => Some(named),
        (None, [only]) => Some(only),
        _ => None,
    }
}

/// The int of `data` that counts the matrix's columns.
fn column_count<'t>(matrix: &Declaration<'t>, data: &[Declaration<'t>]) -> Option<&'t str> {
    let (_, columns) = matrix.sizes[0].split_once(',')?;
    let columns = columns.trim();
    let is_int = |declaration: &Declaration| {
        declaration.name == columns && declaration.element == "int" && declaration.sizes.is_empty()
    };
    data.iter().any(is_int).then_some(columns)
}

/// Read after renaming, when the length of the response is N.
pub(super) fn predictors(data: &[Declaration], response: &str) -> Predictors {
    if predictor_matrix(data, "N").is_some_and(|matrix| matrix.name == "X") {
        return Predictors::Matrix;
    }
    let is_column = |declaration: &&Declaration| {
        let kind = matches!(declaration.element, "vector" | "real");
        kind && declaration.sizes == ["N"] && declaration.alone && declaration.name != response
    };
    let columns = data.iter().filter(is_column);
    let names: Vec<String> = columns.map(|column| column.name.to_string()).collect();
    match names.is_empty() {
        true => Predictors::None,
        false => Predictors::Columns(names),
    }
}

/// What the user has to write into `model.data`: names with their types.
pub(super) fn entries(
    data: &[Declaration],
    response: &str,
    predictors: &Predictors,
) -> Vec<(String, String)> {
    let from_file = |name: &str| match predictors {
        Predictors::Columns(columns) => columns.iter().any(|column| column == name),
        Predictors::Matrix => name == "X" || name == "D",
        Predictors::None => false,
    };
    data.iter()
        .filter(|entry| entry.name != "N" && entry.name != response && !from_file(entry.name))
        .map(|entry| (entry.name.to_string(), entry.type_text.to_string()))
        .collect()
}
