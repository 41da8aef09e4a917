//! What the config says of the regression: an expression for the response, and the terms of the predictors.

mod expression;
mod parse;
mod terms;
mod token;

#[cfg(test)]
mod tests;

use super::DataError;
use super::table::{beginning, column_advice};
use crate::config::{Data, Response};
pub(super) use expression::{Expression, Undefined};
use parse::Left;
use terms::Sum;
pub(super) use terms::{Factor, Group, Labelled, Term};

/// The key of an offset that stands outside of a formula.
pub(super) const OFFSET: &str = "data.offset";

/// What is wrong at which character of a formula.
#[derive(Debug, PartialEq)]
struct Problem {
    at: usize,
    words: String,
}

#[derive(Debug)]
pub(crate) struct Formula {
    /// One or more, in the order of the columns of the latent response.
    pub(super) responses: Vec<Labelled>,
    /// Whether they were given as a list, even of one.
    pub(super) is_list: bool,
    /// The terms, sorted by degree, then as written.
    pub(super) terms: Vec<Term>,
    pub(super) intercept: bool,
    /// Terms whose coefficients differ between groups.
    pub(super) group: Option<Group>,
    /// What is added to the linear predictor with the coefficient 1.
    pub(super) offset: Option<Labelled>,
}

impl Formula {
    /// `columns` are those of `file`: a list entry that is exactly one of them means it, whatever it looks like.
    pub(crate) fn new(data: &Data, columns: &[String], file: &str) -> Result<Formula, DataError> {
        let reader = Entries { columns, file };
        let (left, sum) = match &data.formula {
            Some(text) => {
                parse::formula(text).map_err(|problem| refused("data.formula", text, problem))?
            }
            None => (reader.left(&data.response)?, reader.predictors(data)?),
        };
        let typed = data.offset.as_deref();
        let typed = typed.map(|text| reader.expression(text, OFFSET));
        let offset = match (typed.transpose()?, sum_of(sum.offsets)) {
            (Some(_), Some(_)) => {
                return Err(DataError::OffsetTwice {
                    key: data.predictors_key(),
                });
            }
            (typed, in_formula) => typed.or(in_formula),
        };
        let mut terms = sum.terms;
        terms.sort_by_key(|term| term.0.len());
        if sum.groups.len() > 1 {
            return Err(DataError::SeveralGroups {
                key: data.predictors_key(),
            });
        }
        if terms.is_empty() {
            return Err(DataError::NoPredictors {
                key: data.predictors_key(),
            });
        }
        let (responses, is_list) = match left {
            Left::One(response) => (vec![response], false),
            Left::List(responses) => (responses, true),
        };
        let formula = Formula {
            responses,
            is_list,
            terms,
            intercept: sum.intercept.unwrap_or(data.intercept),
            group: sum.groups.into_iter().next(),
            offset,
        };
        formula.check_sides(data)?;
        Ok(formula)
    }

    /// The terms behind the ~ of `permutation.rate_formula`, with an intercept.
    pub(super) fn of_rates(text: &str) -> Result<Formula, DataError> {
        let key = super::design::RATE_FORMULA;
        let terms = text.trim_start().trim_start_matches('~');
        let sum = parse::terms(terms).map_err(|problem| refused(key, text, problem))?;
        if !sum.offsets.is_empty() {
            let problem = Problem {
                at: 1 + text.find("offset").unwrap_or(0),
                words: "rates of wrong links have no offset; remove it".into(),
            };
            return Err(refused(key, text, problem));
        }
        if !sum.groups.is_empty() {
            let words = "rates of wrong links have no terms by group; write the column itself, as in `~ source`";
            let problem = Problem {
                at: 1 + text.find('|').unwrap_or(0),
                words: words.into(),
            };
            return Err(refused(key, text, problem));
        }
        if sum.terms.is_empty() {
            return Err(DataError::NoPredictors { key });
        }
        let mut terms = sum.terms;
        terms.sort_by_key(|term| term.0.len());
        Ok(Formula {
            responses: Vec::new(),
            is_list: false,
            terms,
            intercept: true,
            group: None,
            offset: None,
        })
    }

    pub(crate) fn response_columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        for response in &self.responses {
            response.expression.columns(&mut columns);
        }
        columns
    }

    pub(crate) fn predictor_columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        let by_group = self.group.iter().flat_map(|group| &group.terms);
        for factor in self.terms.iter().chain(by_group).flat_map(|term| &term.0) {
            match factor {
                Factor::Number(labelled) => labelled.expression.columns(&mut columns),
                Factor::Column(name) | Factor::Category(name) => {
                    if !columns.contains(&name.as_str()) {
                        columns.push(name);
                    }
                }
            }
        }
        let group = self.group.iter().map(|group| group.column.as_str());
        columns.extend(group);
        columns.extend(self.offset_columns());
        columns
    }

    /// The columns of the offset, which like predictors stay where they are.
    pub(super) fn offset_columns(&self) -> Vec<&str> {
        let mut columns = Vec::new();
        if let Some(offset) = &self.offset {
            offset.expression.columns(&mut columns);
        }
        columns
    }

    /// The columns of the terms by group, as those of a formula.
    pub(super) fn of_group(group: &Group) -> Formula {
        Formula {
            responses: Vec::new(),
            is_list: false,
            terms: group.terms.clone(),
            intercept: group.intercept,
            group: None,
            offset: None,
        }
    }

    fn check_sides(&self, data: &Data) -> Result<(), DataError> {
        let key = data.response_key();
        for (k, response) in self.responses.iter().enumerate() {
            let mut columns = Vec::new();
            response.expression.columns(&mut columns);
            let text = response.label.clone();
            if columns.is_empty() {
                return Err(DataError::NoResponse { key, text });
            }
            let before = &self.responses[..k];
            if before.iter().any(|other| other.label == response.label) {
                return Err(DataError::ResponseTwice { key, text });
            }
        }
        let of_response = self.response_columns();
        match self
            .predictor_columns()
            .into_iter()
            .find(|column| of_response.contains(column))
        {
            None => Ok(()),
            Some(column) if data.formula.is_some() => Err(DataError::OnBothSides {
                column: column.into(),
            }),
            Some(column) => Err(DataError::ResponseAmongPredictors {
                column: column.into(),
            }),
        }
    }
}

/// Several offsets are added up.
fn sum_of(offsets: Vec<Labelled>) -> Option<Labelled> {
    offsets.into_iter().reduce(|left, right| Labelled {
        label: format!("{} + {}", left.label, right.label),
        expression: Expression::Binary('+', Box::new(left.expression), Box::new(right.expression)),
    })
}

/// Reads the entries of `data.response` and `data.predictors`.
struct Entries<'a> {
    columns: &'a [String],
    file: &'a str,
}

impl Entries<'_> {
    fn left(&self, response: &Response) -> Result<Left, DataError> {
        match response {
            Response::One(text) => self.response(text).map(Left::One),
            Response::List(texts) => {
                let read = texts.iter().map(|text| self.response(text));
                read.collect::<Result<_, _>>().map(Left::List)
            }
        }
    }

    fn response(&self, text: &str) -> Result<Labelled, DataError> {
        self.expression(text, "data.response")
    }

    fn expression(&self, text: &str, key: &'static str) -> Result<Labelled, DataError> {
        if self.columns.iter().any(|name| name == text) {
            return Ok(Labelled {
                label: text.into(),
                expression: Expression::Column(text.into()),
            });
        }
        parse::response(text).map_err(|problem| self.refused(key, text, problem))
    }

    fn predictors(&self, data: &Data) -> Result<Sum, DataError> {
        let mut sum = Sum::default();
        for (i, text) in data.predictors.iter().enumerate() {
            if data.predictors[..i].contains(text) {
                return Err(DataError::PredictorTwice {
                    column: text.clone(),
                });
            }
            sum.add(if self.columns.contains(text) {
                Sum::of(Factor::Column(text.clone()))
            } else {
                parse::terms(text)
                    .map_err(|problem| self.refused("data.predictors", text, problem))?
            });
        }
        Ok(sum)
    }

    /// What has no operator and no parenthesis was meant as the name of a column.
    fn refused(&self, key: &'static str, text: &str, problem: Problem) -> DataError {
        if text.contains(['+', '-', '*', '/', '^', '(', ')', ':', '~', '`', '|']) {
            return refused(key, text, problem);
        }
        DataError::NoColumn {
            file: self.file.into(),
            column: text.into(),
            key,
            advice: column_advice(text, self.columns),
        }
    }
}

fn refused(key: &'static str, text: &str, problem: Problem) -> DataError {
    DataError::Formula {
        key,
        text: beginning(text),
        at: problem.at,
        problem: problem.words,
    }
}
