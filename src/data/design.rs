//! The design matrix: the columns of X that the terms of a formula make.

use std::collections::HashMap;

use ndarray::Array2;

use super::formula::{Factor, Formula, Group, Labelled, OFFSET, Term, Undefined};
use super::linked::{Column, Linked};
use super::values::{Category, Values, forced_category, known_category, numbers, values};
use super::{DataError, INTERCEPT, Reference, checks};
use crate::config::Data;
use crate::text::{nearest, quoted_list};

const NO_ARITHMETIC: &str = "; a category has no place in arithmetic";
/// The key of the formula of the rates of wrong links.
pub(super) const RATE_FORMULA: &str = "permutation.rate_formula";
const NO_CATEGORY: &str = ", since it holds numbers in the data of the fit";

pub(super) struct Design {
    pub(super) names: Vec<String>,
    pub(super) x: Array2<f64>,
    pub(super) references: Vec<Reference>,
}

/// The columns of X that stand for one factor or term.
struct Coded {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

/// The terms, each column read once and told apart as numbers or a category.
struct Terms<'a> {
    linked: &'a Linked,
    data: &'a Data,
    /// The key of the config that the terms stand under.
    key: &'static str,
    terms: Vec<Term>,
    values: HashMap<String, Values>,
    intercept: bool,
}

pub(super) fn design(linked: &Linked, formula: &Formula, data: &Data) -> Result<Design, DataError> {
    let terms = Terms::new(linked, formula, data, data.predictors_key())?;
    terms.check_references()?;
    terms.design()
}

/// The columns of the terms by group.
pub(super) fn design_of_group(
    linked: &Linked,
    group: &Group,
    data: &Data,
) -> Result<Design, DataError> {
    let formula = Formula::of_group(group);
    Terms::new(linked, &formula, data, data.predictors_key())?.design()
}

/// The same columns for `rows`, with the levels and references that the rows of the fit have.
pub(super) fn design_of_group_of_new_rows(
    rows: &Linked,
    fitted: &Linked,
    group: &Group,
    data: &Data,
) -> Result<Design, DataError> {
    design_of_new_rows(rows, fitted, &Formula::of_group(group), data)
}

/// The columns that the terms of `permutation.rate_formula` make.
pub(super) fn rate_design(
    linked: &Linked,
    formula: &Formula,
    data: &Data,
) -> Result<Design, DataError> {
    let design = Terms::new(linked, formula, data, RATE_FORMULA)?.design()?;
    let place = (&*linked.files(), RATE_FORMULA);
    checks::check_columns(design.x.view(), &design.names, true, place)?;
    Ok(design)
}

/// The same columns of X for `rows`, with the levels and references that the rows of the fit have.
pub(super) fn design_of_new_rows(
    rows: &Linked,
    fitted: &Linked,
    formula: &Formula,
    data: &Data,
) -> Result<Design, DataError> {
    let terms = Terms::new(fitted, formula, data, data.predictors_key())?;
    terms.of_rows(rows)?.design()
}

/// What is added to the linear predictor of each row, where the config has an offset.
pub(super) fn offset(
    rows: &Linked,
    formula: &Formula,
    data: &Data,
) -> Result<Option<Vec<f64>>, DataError> {
    let key = match data.offset {
        Some(_) => OFFSET,
        None => data.predictors_key(),
    };
    let offset = formula.offset.as_ref();
    let values = offset.map(|offset| evaluate(rows, offset, key, NO_ARITHMETIC));
    values.transpose()
}

/// The values of an expression, row by row.
pub(super) fn evaluate(
    linked: &Linked,
    labelled: &Labelled,
    key: &'static str,
    no_category: &str,
) -> Result<Vec<f64>, DataError> {
    let mut names = Vec::new();
    labelled.expression.columns(&mut names);
    let mut columns: HashMap<&str, Vec<f64>> = HashMap::new();
    let mut first: Option<Column> = None;
    for name in names {
        let column = linked.column(name, key)?;
        first.get_or_insert(column);
        columns.insert(name, numbers(linked, column, no_category)?);
    }
    (0..linked.num_rows())
        .map(|row| {
            let value = labelled.expression.value(&|name| columns[name][row]);
            value.map_err(|Undefined(part)| {
                let (file, line) = match first {
                    Some(column) => (linked.file(column).into(), linked.line(column, row)),
                    None => (linked.files(), row + 1),
                };
                DataError::Undefined {
                    file,
                    line,
                    label: labelled.label.clone(),
                    part,
                }
            })
        })
        .collect()
}

impl<'a> Terms<'a> {
    fn new(
        linked: &'a Linked,
        formula: &Formula,
        data: &'a Data,
        key: &'static str,
    ) -> Result<Self, DataError> {
        let mut known: HashMap<String, Values> = HashMap::new();
        let mut terms: Vec<Term> = Vec::new();
        for term in &formula.terms {
            let mut factors = Vec::new();
            for factor in &term.0 {
                let factor = match factor {
                    Factor::Column(name) => {
                        let column = linked.column(name, key)?;
                        if !known.contains_key(name) {
                            known.insert(name.clone(), values(linked, column)?);
                        }
                        match known[name] {
                            Values::Category(_) => Factor::Category(name.clone()),
                            Values::Numbers(_) => factor.clone(),
                        }
                    }
                    Factor::Category(_) | Factor::Number(_) => factor.clone(),
                };
                // A column of text and its C(...) are the same factor.
                if !factors.contains(&factor) {
                    factors.push(factor);
                }
            }
            let term = Term(factors);
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        for factor in terms.iter().flat_map(|term| &term.0) {
            let (label, read) = match factor {
                Factor::Column(_) => continue,
                Factor::Category(name) => {
                    if matches!(known.get(name), Some(Values::Category(_))) {
                        continue;
                    }
                    let column = linked.column(name, key)?;
                    (
                        category_label(name),
                        Values::Category(forced_category(linked, column)?),
                    )
                }
                Factor::Number(labelled) => (
                    labelled.label.clone(),
                    Values::Numbers(evaluate(linked, labelled, key, NO_ARITHMETIC)?),
                ),
            };
            known.insert(label, read);
        }
        Ok(Terms {
            linked,
            data,
            key,
            terms,
            values: known,
            intercept: formula.intercept,
        })
    }

    /// The same terms, with the values of other rows.
    fn of_rows<'b>(&'b self, rows: &'b Linked) -> Result<Terms<'b>, DataError> {
        let key = self.key;
        let mut values: HashMap<String, Values> = HashMap::new();
        for factor in self.terms.iter().flat_map(|term| &term.0) {
            let (label, read) = match factor {
                Factor::Column(name) => {
                    let column = rows.column(name, key)?;
                    (
                        name.clone(),
                        Values::Numbers(numbers(rows, column, NO_CATEGORY)?),
                    )
                }
                Factor::Category(name) => {
                    let column = rows.column(name, key)?;
                    let known = self.category(name).expect("categories were read");
                    let category = known_category(rows, column, known)?;
                    (category_label(name), Values::Category(category))
                }
                Factor::Number(labelled) => (
                    labelled.label.clone(),
                    Values::Numbers(evaluate(rows, labelled, key, NO_ARITHMETIC)?),
                ),
            };
            values.insert(label, read);
        }
        Ok(Terms {
            linked: rows,
            data: self.data,
            key,
            terms: self.terms.clone(),
            values,
            intercept: self.intercept,
        })
    }

    fn design(&self) -> Result<Design, DataError> {
        let mut names = Vec::new();
        let mut columns = Vec::new();
        let mut references: Vec<Reference> = Vec::new();
        let num_rows = self.linked.num_rows();
        if self.intercept {
            names.push(INTERCEPT.to_string());
            columns.push(vec![1.0; num_rows]);
        }
        for term in &self.terms {
            let coded = self.coded(term, &mut references)?;
            names.extend(coded.names);
            columns.extend(coded.columns);
        }
        let shape = (num_rows, columns.len());
        Ok(Design {
            names,
            x: Array2::from_shape_fn(shape, |(row, column)| columns[column][row]),
            references,
        })
    }

    fn category(&self, name: &str) -> Option<&Category> {
        let typed = self.values.get(name);
        let forced = self.values.get(&category_label(name));
        [forced, typed]
            .into_iter()
            .flatten()
            .find_map(|values| match values {
                Values::Category(category) => Some(category),
                Values::Numbers(_) => None,
            })
    }

    fn check_references(&self) -> Result<(), DataError> {
        for (column, level) in &self.data.reference {
            let Some(category) = self.category(column) else {
                let is_number = self.values.contains_key(column);
                return Err(DataError::NoCategory {
                    column: column.clone(),
                    advice: if is_number {
                        format!(" or write C({column})")
                    } else {
                        String::new()
                    },
                });
            };
            if !category.levels.contains(level) {
                let mut levels = category.levels.clone();
                if let Some(meant) = nearest(level, category.levels.iter().map(String::as_str)) {
                    levels.sort_by_key(|level| level != meant);
                }
                return Err(DataError::NoLevel {
                    file: self
                        .linked
                        .file(self.linked.column(column, "data.reference")?)
                        .into(),
                    column: column.clone(),
                    level: level.clone(),
                    levels: quoted_list(&levels),
                });
            }
        }
        Ok(())
    }

    /// R's rule: a category is coded by contrasts if the term without it is in the model. Without an intercept the first
    /// category that stands alone takes its place, with a column for each level.
    fn by_contrasts(&self, term: &Term, position: usize) -> bool {
        let rest = term.without(position);
        if !rest.0.is_empty() {
            return self.terms.contains(&rest);
        }
        let alone = |term: &&Term| matches!(term.0[..], [Factor::Category(_)]);
        self.intercept || self.terms.iter().find(alone) != Some(term)
    }

    fn coded(&self, term: &Term, references: &mut Vec<Reference>) -> Result<Coded, DataError> {
        let mut product: Option<Coded> = None;
        for (position, factor) in term.0.iter().enumerate() {
            let coded = match factor {
                Factor::Column(label) | Factor::Number(Labelled { label, .. }) => {
                    let Values::Numbers(numbers) = &self.values[label] else {
                        unreachable!("categories were told apart from numbers");
                    };
                    Coded {
                        names: vec![label.clone()],
                        columns: vec![numbers.clone()],
                    }
                }
                Factor::Category(name) => {
                    self.indicators(name, self.by_contrasts(term, position), references)?
                }
            };
            product = Some(match product {
                None => coded,
                Some(before) => before.times(&coded),
            });
        }
        Ok(product.expect("a term has at least one factor"))
    }

    fn indicators(
        &self,
        name: &str,
        by_contrasts: bool,
        references: &mut Vec<Reference>,
    ) -> Result<Coded, DataError> {
        let category = self.category(name).expect("categories were read");
        let levels = &category.levels;
        if let [only] = levels.as_slice() {
            return Err(DataError::Constant {
                file: self.linked.files(),
                column: name.into(),
                key: self.data.predictors_key(),
                value: only.clone(),
                fix: if self.intercept {
                    checks::CONSTANT
                } else {
                    checks::NOTHING
                },
            });
        }
        let reference = self.data.reference.get(name).unwrap_or(&levels[0]);
        if by_contrasts && !references.iter().any(|known| known.column == name) {
            references.push(Reference {
                column: name.into(),
                level: reference.clone(),
            });
        }
        let mut coded = Coded {
            names: Vec::new(),
            columns: Vec::new(),
        };
        for (index, level) in levels.iter().enumerate() {
            if by_contrasts && level == reference {
                continue;
            }
            let indicator = category.of_row.iter();
            coded.names.push(format!("{name}[{level}]"));
            coded.columns.push(
                indicator
                    .map(|&of_row| f64::from(u8::from(of_row == index)))
                    .collect(),
            );
        }
        Ok(coded)
    }
}

/// Apart from the name of the column, since its numbers may be used beside its levels.
fn category_label(name: &str) -> String {
    format!("C({name})")
}

impl Coded {
    /// Every product of a column of each; those of the first change fastest, as in R.
    fn times(&self, other: &Coded) -> Coded {
        let mut product = Coded {
            names: Vec::new(),
            columns: Vec::new(),
        };
        for (right_name, right) in other.names.iter().zip(&other.columns) {
            for (left_name, left) in self.names.iter().zip(&self.columns) {
                product.names.push(format!("{left_name}:{right_name}"));
                let pairs = left.iter().zip(right);
                product.columns.push(pairs.map(|(a, b)| a * b).collect());
            }
        }
        product
    }
}
