//! Finds the one statement of the model block that is the likelihood of the response, or says why there is none.

use super::distribution::Distribution;
use super::error::{AdoptError, Problem};
use super::program::{Program, Shape, Statement, closing, split};
use super::token::{Kind, Token};

#[derive(Debug)]
pub(super) struct Likelihood<'p, 't> {
    pub tokens: &'p [Token<'t>],
    /// Which statement of the model block it is, or stands in.
    pub outer: usize,
    /// As written: `normal`, `normal_id_glm`, or the user's own.
    pub name: &'t str,
    /// The distribution of one row; None for the user's own function.
    pub row: Option<&'static Distribution>,
    /// Whether `name` is a regression in one call.
    pub is_glm: bool,
    pub arguments: Vec<&'t str>,
    /// The index of `y[n]` in a loop over all rows; None where all rows stand in one call.
    pub index: Option<&'t str>,
}

/// The response as the program has it after renaming.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    pub label: &'a str,
    pub response: &'a str,
    pub length: &'a str,
}

/// A simple statement that uses the response, and what stands around it.
struct Use<'p, 't> {
    tokens: &'p [Token<'t>],
    outer: usize,
    loops: Vec<&'p [Token<'t>]>,
    conditional: bool,
}

pub(super) fn find<'p, 't>(
    program: &Program<'t>,
    statements: &'p [Statement<'p, 't>],
    names: Names,
) -> Result<Likelihood<'p, 't>, AdoptError> {
    let Names {
        label, response, ..
    } = names;
    let refuse = |token: &Token, problem| {
        Err(AdoptError::new(
            label,
            Some(program.line(token.start)),
            problem,
        ))
    };
    let mut uses = Vec::new();
    for (outer, statement) in statements.iter().enumerate() {
        collect(
            statement,
            outer,
            response,
            &mut Vec::new(),
            false,
            &mut uses,
        );
    }
    for found in &uses {
        if let Some((token, problem)) = hopeless(found.tokens) {
            return refuse(token, problem);
        }
    }
    for found in &uses {
        if found.conditional {
            return refuse(&found.tokens[0], Problem::Conditional);
        }
    }
    let places = statements.iter().flat_map(|statement| statement.tokens);
    let places: Vec<&Token> = places.filter(|token| token.is(response)).collect();
    let response = response.to_string();
    match (places.as_slice(), uses.as_slice()) {
        ([], _) => Err(AdoptError::new(
            label,
            None,
            Problem::NoLikelihood { response },
        )),
        ([_], [only]) => read(program, only, names),
        ([place], _) => refuse(place, Problem::Conditional),
        (all, _) => {
            let count = all.len();
            refuse(all[1], Problem::UsedAgain { response, count })
        }
    }
}

fn collect<'p, 't>(
    statement: &'p Statement<'p, 't>,
    outer: usize,
    response: &str,
    loops: &mut Vec<&'p [Token<'t>]>,
    conditional: bool,
    uses: &mut Vec<Use<'p, 't>>,
) {
    match &statement.shape {
        Shape::Simple => {
            if statement.tokens.iter().any(|token| token.is(response)) {
                uses.push(Use {
                    tokens: statement.tokens,
                    outer,
                    loops: loops.clone(),
                    conditional,
                });
            }
        }
        Shape::Group(inside) => {
            for statement in inside {
                collect(statement, outer, response, loops, conditional, uses);
            }
        }
        Shape::For { head, body } => {
            loops.push(head);
            collect(body, outer, response, loops, conditional, uses);
            loops.pop();
        }
        Shape::Branch(bodies) => {
            for body in bodies {
                collect(body, outer, response, loops, true, uses);
            }
        }
    }
}

/// What makes a statement one that is not taken apart, whatever else it says.
fn hopeless<'p, 't>(tokens: &'p [Token<'t>]) -> Option<(&'p Token<'t>, Problem)> {
    for (k, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == Kind::Word)
    {
        let function = token.text.to_string();
        let problem = if matches!(token.text, "log_mix" | "log_sum_exp") {
            Problem::Mixture { function }
        } else if token.text.ends_with("cdf") {
            Problem::Censored { function }
        } else if token.is("T") && tokens.get(k + 1).is_some_and(|next| next.is("[")) {
            Problem::Truncated
        } else {
            continue;
        };
        return Some((token, problem));
    }
    None
}

fn read<'p, 't>(
    program: &Program<'t>,
    found: &Use<'p, 't>,
    names: Names,
) -> Result<Likelihood<'p, 't>, AdoptError> {
    let (response, length) = (names.response.to_string(), names.length.to_string());
    let refuse = |problem| {
        let line = program.line(found.tokens[0].start);
        Err(AdoptError::new(names.label, Some(line), problem))
    };
    let Some((left, name, arguments)) = call(found.tokens) else {
        return refuse(Problem::Unread { response });
    };
    if !left.iter().any(|token| token.is(names.response)) {
        return refuse(Problem::AsArgument { response });
    }
    if !left[0].is(names.response) {
        let found = program.span(left).to_string();
        return refuse(Problem::TransformedResponse { response, found });
    }
    let index = match left {
        [_] => None,
        [_, _, index, _] if index.kind == Kind::Word => Some(index.text),
        _ => return refuse(Problem::PartOfRows { response, length }),
    };
    let runs_once = match (index, found.loops.as_slice()) {
        (None, []) => true,
        (Some(index), [head]) => {
            let words: Vec<&str> = head.iter().map(|token| token.text).collect();
            words == [index, "in", "1", ":", names.length]
        }
        _ => false,
    };
    if !runs_once {
        return refuse(Problem::PartOfRows { response, length });
    }
    let glm = Distribution::of_glm(name);
    if glm.is_some() && index.is_some() {
        return refuse(Problem::PartOfRows { response, length });
    }
    let row = glm.or_else(|| Distribution::find(name));
    if row.is_none() {
        let own = format!("{name}_lpdf");
        let functions = program.block("functions");
        let is_own = functions.is_some_and(|block| block.tokens.iter().any(|token| token.is(&own)));
        let name = name.to_string();
        match (is_own, index) {
            (true, Some(_)) => {}
            (true, None) => {
                return refuse(Problem::OwnFunction {
                    name,
                    response,
                    length,
                });
            }
            (false, _) => return refuse(Problem::Unknown { name }),
        }
    }
    let arguments = arguments
        .iter()
        .map(|tokens| program.span(tokens))
        .collect();
    Ok(Likelihood {
        tokens: found.tokens,
        outer: found.outer,
        name,
        row,
        is_glm: glm.is_some(),
        arguments,
        index,
    })
}

type Call<'p, 't> = (&'p [Token<'t>], &'t str, Vec<&'p [Token<'t>]>);

/// What stands left of `~` or `|`, the distribution, and its arguments.
fn call<'p, 't>(tokens: &'p [Token<'t>]) -> Option<Call<'p, 't>> {
    let inside = &tokens[..tokens.len() - 1];
    let list = |tokens: &'p [Token<'t>]| match tokens {
        [] => Vec::new(),
        some => split(some, ","),
    };
    if let [left, right] = split(inside, "~")[..] {
        let (name, open) = (right.first()?, right.get(1)?);
        let whole = open.is("(") && closing(right, 1) == right.len() - 1;
        return whole.then(|| (left, name.text, list(&right[2..right.len() - 1])));
    }
    let [target, plus, name, open, ..] = inside else {
        return None;
    };
    if !(target.is("target")
        && plus.is("+=")
        && open.is("(")
        && closing(inside, 3) == inside.len() - 1)
    {
        return None;
    }
    let suffixes = ["_lpdf", "_lupdf", "_lpmf", "_lupmf"];
    let name = suffixes
        .iter()
        .find_map(|suffix| name.text.strip_suffix(suffix))?;
    let [left, right] = split(&inside[4..inside.len() - 1], "|")[..] else {
        return None;
    };
    Some((left, name, list(right)))
}
