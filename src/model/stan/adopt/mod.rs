//! `adopt`: an ordinary Stan regression, with its response in `data`, becomes a program for unshuffle.
//!
//! The text is edited in place: blocks and statements are found with a small tokenizer, and everything that need not
//! change stays byte for byte. stanc is asked about types, so nothing is guessed from the look of an expression.

mod brms;
mod data_block;
mod distribution;
mod edit;
mod error;
mod likelihood;
mod log_lik;
mod program;
mod starting_config;
mod token;

use data_block::Predictors;
use edit::{Edit, add_at_end, add_at_start, apply, take_out};
use error::Problem;
pub use error::{AdoptError, AdoptFailure};
use likelihood::Names;
use log_lik::Accepts;
use program::{Declaration, Program};

use crate::model::stan::StanError;

/// A program for unshuffle, and what its user should know.
#[derive(Debug)]
pub struct Adopted {
    pub text: String,
    /// The changes, in the order of the original's lines.
    pub changes: Vec<Change>,
    /// The response's name, in case it had to change.
    pub response: String,
    predictors: Predictors,
    /// What `model.data` must give: names and types.
    pub entries: Vec<(String, String)>,
    has_intercept: bool,
    /// Whether the program itself takes the column of ones out of X.
    takes_ones: bool,
    family: Option<&'static str>,
}

/// What was done to a line of the original.
#[derive(Debug)]
pub struct Change {
    pub line: usize,
    pub what: String,
}

/// Adopts a program that stanc has passed; `accepts` says whether it passes another one.
pub fn adopt(
    original: &str,
    label: &str,
    response: &str,
    accepts: &dyn Fn(&str) -> Result<bool, StanError>,
) -> Result<Adopted, AdoptFailure> {
    let plain = brms::plain(original);
    let original = plain.text.as_str();
    let program = Program::new(original);
    check_includes(&program, label)?;
    let declaration = response_declaration(&program, label, response)?;
    let renames = data_block::renames(&program, &declaration);
    let mut changes: Vec<Change> = renames
        .iter()
        .map(|rename| {
            let first = program.tokens().find(|token| token.is(&rename.old));
            Change {
                line: first.map_or(1, |token| program.line(token.start)),
                what: format!(
                    "{} is called {} throughout: {}",
                    rename.old, rename.new, rename.why
                ),
            }
        })
        .collect();
    let renamed = renames.iter().find(|rename| rename.old == response);
    let response = renamed.map_or(response, |rename| &rename.new).to_string();
    let names: Vec<(String, String)> = renames
        .iter()
        .map(|rename| (rename.old.clone(), rename.new.clone()))
        .collect();
    let functions = program.block("functions");
    let text = edit::rename(
        original,
        functions.map(|block| block.start..block.close),
        &names,
    );
    let mut adopted = moved(&text, label, response, accepts)?;
    changes.append(&mut adopted.changes);
    changes.extend(plain.changes);
    changes.sort_by_key(|change| change.line);
    Ok(Adopted {
        changes,
        has_intercept: adopted.has_intercept && !plain.takes_ones,
        takes_ones: plain.takes_ones,
        ..adopted
    })
}

/// What an include hides could use the response, so only functions may come from elsewhere.
fn check_includes(program: &Program, label: &str) -> Result<(), AdoptError> {
    let functions = program.block("functions");
    let mut offset = 0;
    for line in program.text.split('\n') {
        let inside = functions.is_some_and(|block| (block.open..block.close).contains(&offset));
        if line.trim_start().starts_with("#include") && !inside {
            let line = program.line(offset);
            return Err(AdoptError::new(label, Some(line), Problem::Include));
        }
        offset += line.len() + 1;
    }
    Ok(())
}

fn response_declaration<'t>(
    program: &Program<'t>,
    label: &str,
    name: &str,
) -> Result<Declaration<'t>, AdoptError> {
    let response = name.to_string();
    let parameters = program.declarations("parameters");
    if parameters.iter().any(|parameter| parameter.name == name) {
        return Err(AdoptError::new(label, None, Problem::Adopted { response }));
    }
    let data = program.declarations("data");
    let is_count = |size: &str| {
        let counts = data
            .iter()
            .filter(|entry| entry.element == "int" && entry.sizes.is_empty());
        counts.into_iter().any(|entry| entry.name == size)
    };
    let Some(found) = data.iter().find(|entry| entry.name == name) else {
        let tokens = program
            .block("data")
            .into_iter()
            .flat_map(|block| &block.tokens);
        // Behind another name: `vector[N] x, y;`.
        if let Some(token) = tokens.into_iter().find(|token| token.is(name)) {
            let line = Some(program.line(token.start));
            return Err(AdoptError::new(label, line, Problem::NotAlone { response }));
        }
        let names: Vec<&str> = data.iter().map(|entry| entry.name).collect();
        let names = names.join(", ");
        let problem = Problem::NoResponse { response, names };
        return Err(AdoptError::new(label, None, problem));
    };
    let line = Some(program.line(found.start));
    if !found.alone {
        return Err(AdoptError::new(label, line, Problem::NotAlone { response }));
    }
    let one_a_row = matches!(found.element, "vector" | "row_vector" | "real" | "int");
    if !one_a_row || found.sizes.len() != 1 || !is_count(found.sizes[0]) {
        let found = found.type_text.to_string();
        return Err(AdoptError::new(
            label,
            line,
            Problem::Shape { response, found },
        ));
    }
    Ok(found.clone())
}

/// Everything but the renaming, on a program that calls things by unshuffle's names.
fn moved(
    text: &str,
    label: &str,
    response: String,
    accepts: &Accepts,
) -> Result<Adopted, AdoptFailure> {
    let program = Program::new(text);
    let refuse = |line, problem| AdoptError::new(label, line, problem);
    let block = |name: &'static str| {
        let found = program.block(name);
        found.ok_or_else(|| refuse(None, Problem::NoBlock { block: name }))
    };
    let (data, parameters, model) = (block("data")?, block("parameters")?, block("model")?);
    for (name, problem) in [
        (
            "transformed data",
            Problem::TransformedData {
                response: response.clone(),
            },
        ),
        (
            "transformed parameters",
            Problem::TransformedParameters {
                response: response.clone(),
            },
        ),
    ] {
        let tokens = program
            .block(name)
            .into_iter()
            .flat_map(|block| &block.tokens);
        if let Some(token) = tokens.into_iter().find(|token| token.is(&response)) {
            return Err(refuse(Some(program.line(token.start)), problem).into());
        }
    }
    let names = Names {
        label,
        response: &response,
        length: "N",
    };
    let statements = model.statements();
    let likelihood = likelihood::find(&program, &statements, names)?;
    let rewritten = log_lik::rewrite(&program, &statements, &likelihood, names, accepts)?;

    let mut edits = Vec::new();
    let mut changes = Vec::new();
    let declarations = program.declarations("data");
    let is_response = |entry: &&Declaration| entry.name == response;
    let declaration = declarations
        .iter()
        .find(is_response)
        .expect("it was found before");
    move_response(&program, declaration, parameters, &mut edits, &mut changes);
    let predictors = data_block::predictors(&declarations, &response);
    let mut given = String::new();
    if let Predictors::Columns(columns) = &predictors {
        given = "int<lower=1> D;\nmatrix[N, D] X;\n".to_string();
        move_columns(&program, &declarations, columns, &mut edits, &mut changes);
    }
    given += "real<lower=0, upper=1> alpha;  // temperature of the likelihood, set by unshuffle";
    edits.push(add_at_end(text, data, &given));
    changes.push(Change {
        line: program.line(data.close),
        what: format!(
            "data takes {} from unshuffle",
            match predictors {
                Predictors::Columns(_) => "D, X and the temperature alpha",
                _ => "the temperature alpha",
            }
        ),
    });

    let (first, last) = (
        likelihood.tokens[0],
        likelihood.tokens[likelihood.tokens.len() - 1],
    );
    let range = first.start..last.end();
    changes.push(Change {
        line: program.line(first.start),
        what: format!(
            "{} became {}",
            one_line(&text[range.clone()]),
            one_line(&rewritten.tempered)
        ),
    });
    edits.push(Edit {
        range,
        text: rewritten.tempered,
    });
    if let Some(helper) = likelihood.row.and_then(|row| row.helper()) {
        edits.push(match program.block("functions") {
            Some(functions) => add_at_end(text, functions, &helper),
            None => Edit {
                range: data.start..data.start,
                text: format!("functions {{\n{}\n}}\n", edit::indented(&helper, "  ")),
            },
        });
        changes.push(Change {
            line: program.line(first.start),
            what: "its log mass in real arithmetic is new in functions, since a latent response is real".into(),
        });
    }
    add_log_lik(&program, &rewritten.log_lik, &mut edits, &mut changes);
    Ok(Adopted {
        text: apply(text, edits),
        changes,
        entries: data_block::entries(&declarations, &response, &predictors),
        has_intercept: has_intercept(&program),
        takes_ones: false,
        family: starting_config::native_family(&likelihood, &predictors),
        predictors,
        response,
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn move_response(
    program: &Program,
    declaration: &Declaration,
    parameters: &program::Block,
    edits: &mut Vec<Edit>,
    changes: &mut Vec<Change>,
) {
    let (removed, comment) = take_out(program.text, declaration);
    edits.push(removed);
    let words = "set by unshuffle: the response that is linked to each row of X";
    let comment = comment.map_or(words.to_string(), |comment| format!("{comment}; {words}"));
    let name = declaration.name;
    let line = format!("vector[N] {name};  // {comment}");
    edits.push(add_at_end(program.text, parameters, &line));
    let mut what = format!(
        "{} {name} moved from data to parameters",
        declaration.type_text
    );
    if declaration.type_text != "vector[N]" {
        what += &format!(" as vector[N] {name}");
    }
    if declaration.constrained {
        what +=
            ", without its bounds, since unshuffle writes the observed values there as they are";
    }
    changes.push(Change {
        line: program.line(declaration.start),
        what,
    });
}

/// Predictors that the program declares one by one become columns of X.
fn move_columns(
    program: &Program,
    declarations: &[Declaration],
    columns: &[String],
    edits: &mut Vec<Edit>,
    changes: &mut Vec<Change>,
) {
    let mut lines = Vec::new();
    for (k, name) in columns.iter().enumerate() {
        let is_column = |entry: &&Declaration| entry.name == name;
        let declaration = declarations
            .iter()
            .find(is_column)
            .expect("it is a column of data");
        let (removed, comment) = take_out(program.text, declaration);
        edits.push(removed);
        let column = k + 1;
        let value = match declaration.element {
            "real" => format!("to_array_1d(X[ : , {column}])"),
            _ => format!("X[ : , {column}]"),
        };
        let comment = comment.map_or(String::new(), |comment| format!("  // {comment}"));
        lines.push(format!(
            "{} {name} = {value};{comment}",
            declaration.type_text
        ));
        changes.push(Change {
            line: program.line(declaration.start),
            what: format!("{name} moved to transformed data as column {column} of X"),
        });
    }
    let lines = lines.join("\n");
    let data = program.block("data").expect("it holds the columns");
    edits.push(match program.block("transformed data") {
        Some(block) => add_at_start(program.text, block, &lines),
        None => Edit {
            range: data.close + 1..data.close + 1,
            text: format!(
                "\ntransformed data {{\n{}\n}}",
                edit::indented(&lines, "  ")
            ),
        },
    });
}

/// Adds `log_lik` at the start of generated quantities, where no variable of the user's can clash with a copied local one.
fn add_log_lik(program: &Program, lines: &str, edits: &mut Vec<Edit>, changes: &mut Vec<Change>) {
    let text = program.text;
    let known = program.declarations("generated quantities");
    if let Some(own) = known.iter().find(|known| known.name == "log_lik") {
        changes.push(Change {
            line: program.line(own.start),
            what: "your log_lik stays as it is; `unshuffle check` compares it with the likelihood"
                .into(),
        });
        return;
    }
    let (edit, line) = match program.block("generated quantities") {
        Some(block) => (add_at_start(text, block, lines), program.line(block.open)),
        None => {
            let newline = if text.ends_with('\n') { "" } else { "\n" };
            let lines = edit::indented(lines, "  ");
            let edit = Edit {
                range: text.len()..text.len(),
                text: format!("{newline}generated quantities {{\n{lines}\n}}\n"),
            };
            (edit, program.line(text.trim_end().len()))
        }
    };
    edits.push(edit);
    changes.push(Change {
        line,
        what: "log_lik is new in generated quantities: the likelihood of each row".into(),
    });
}

/// A free real parameter is taken for an intercept of the program's own, beside which X needs no column of ones.
fn has_intercept(program: &Program) -> bool {
    let parameters = program.declarations("parameters");
    let is_free = |parameter: &Declaration| {
        parameter.element == "real" && parameter.sizes.is_empty() && !parameter.constrained
    };
    parameters.iter().any(is_free)
}

#[cfg(test)]
mod tests;
