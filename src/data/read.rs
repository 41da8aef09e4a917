//! Reads the files of a config into a `Dataset`.

use std::collections::HashMap;

use super::cell::{self, Number};
use super::design::{self, RATE_FORMULA, design, rate_design};
use super::formula::{Formula, OFFSET};
use super::linked::{Column, Linked};
use super::stan_columns::{self, StanColumn};
use super::table::check_rereadable;
use super::{
    Blocks, DataError, Dataset, Notes, RateCovariates, candidates, checks, groups, places,
};
use crate::config::{Data, Missing, Unlinked, WeightScale};
use crate::numerics::memory;
use crate::sampler::links::{SurveyWeights, WeightSide};

/// Reads the columns that `data` names and checks that they make a regression.
pub fn read(data: &Data) -> Result<Dataset, DataError> {
    let RowsToFit {
        mut linked,
        formula,
        columns,
        rates,
        mut notes,
    } = RowsToFit::read(data)?;

    let no_category = "; the response cannot be a category";
    let key = data.response_key();
    let responses = formula.responses.iter();
    let mut responses = responses
        .map(|response| design::evaluate(&linked, response, key, no_category))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter();
    let response = responses.next().expect("a formula has a response");
    let design = design(&linked, &formula, data)?;
    notes.references = design.references;
    let blocks = Optional {
        linked: &linked,
        column: columns.block,
    };
    let blocks = blocks.texts().map(blocks_of);
    let places = match data.unlinked {
        Unlinked::LeaveOut => None,
        Unlinked::Places => {
            let read = places::read(&mut linked, &formula, &columns, blocks.as_ref(), data)?;
            Some(read)
        }
    };
    let optional = |column: Option<Column>| Optional {
        linked: &linked,
        column,
    };
    let response_is_left = columns.response[0].table == 0;
    let linkage = linked.linkage.as_ref();
    let known = linkage.map(|linkage| linkage.known(&linked, response_is_left));
    let known = known.unwrap_or_default();
    let mut codes = Vec::new();
    let groups = formula.group.as_ref();
    let groups = groups.map(|group| groups::read(&linked, group, data, &mut codes));
    let groups = groups.transpose()?;
    let stan_entries = stan_columns::entries(&linked, &columns.stan, &mut codes)?;
    notes.codes = codes;
    let rates = rates.map(|rates| rate_design(&linked, &rates, data));
    let rates = rates.transpose()?.map(|design| RateCovariates {
        names: design.names,
        values: design.x,
    });
    let names = formula.responses.iter();
    let names = names.map(|response| response.label.clone()).collect();
    let dataset = Dataset {
        further_responses: responses.collect(),
        response_names: formula.is_list.then_some(names),
        row_numbers: linked.row_numbers(),
        row_ids: optional(columns.id).texts(),
        blocks,
        safe: either(optional(columns.safe).safe()?, known.safe),
        match_probability: optional(columns.match_probability)
            .probabilities()?
            .or(known.match_probability),
        candidates: match &data.candidates {
            Some(path) => Some(candidates::read(path, &linked, columns.id)?),
            None => known.candidates,
        },
        groups,
        stan_entries,
        rates,
        places,
        weights: survey_weights(optional(columns.weights), data)?,
        offset: design::offset(&linked, &formula, data)?,
        notes,
        ..Dataset::new(design.names, design.x, response)
    };
    // Candidates have named their rows by it.
    if let Some(id) = columns.id.filter(|_| data.candidates.is_none()) {
        linked.check_ids(id)?;
    }
    checks::check(&dataset, formula.intercept, &linked.files(), data)?;
    drop(linked);
    memory::return_small_pieces();
    Ok(dataset)
}

/// The survey weights; none where every row counts once.
fn survey_weights(column: Optional, data: &Data) -> Result<Option<SurveyWeights>, DataError> {
    let (Some(mut weights), Some(asked)) = (column.weights()?, &data.weights) else {
        return Ok(None);
    };
    let sum: f64 = weights.iter().sum();
    let num_positive = weights.iter().filter(|w| **w > 0.0).count();
    if num_positive < 2 || !sum.is_finite() {
        return Err(DataError::NoWeights {
            file: column.linked.files(),
            column: asked.column.clone(),
        });
    }
    if asked.scale == WeightScale::MeanOne {
        let mean = sum / weights.len() as f64;
        weights.iter_mut().for_each(|weight| *weight /= mean);
    }
    let counts_once = weights.iter().all(|weight| *weight == 1.0);
    Ok((!counts_once).then(|| SurveyWeights::new(weights, asked.with)))
}

/// Rows that either list marks.
fn either(a: Option<Vec<bool>>, b: Option<Vec<bool>>) -> Option<Vec<bool>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.into_iter().zip(b).map(|(a, b)| a || b).collect()),
        (a, b) => a.or(b),
    }
}

/// The text of the rows that are fitted, and what their columns stand for.
pub(super) struct RowsToFit {
    pub(super) linked: Linked,
    pub(super) formula: Formula,
    pub(super) columns: Columns,
    /// The terms of `permutation.rate_formula`.
    rates: Option<Formula>,
    notes: Notes,
}

impl RowsToFit {
    pub(super) fn read(data: &Data) -> Result<RowsToFit, DataError> {
        let mut notes = Notes::default();
        data.files().into_iter().try_for_each(check_rereadable)?;
        let mut linked = Linked::read(data, &mut notes)?;
        let formula = Formula::new(data, &linked.header(), &linked.files())?;
        let rates = data.rate_formula.as_deref().map(Formula::of_rates);
        let rates = rates.transpose()?;
        let columns = Columns::find(&linked, &formula, rates.as_ref(), data)?;
        linked.check_sides(
            (&data.response_label(), &columns.response),
            &columns.staying(),
        )?;
        columns.check_survey(&linked, data)?;
        columns.check_rates(&linked)?;
        linked.has_rows()?;
        leave_out_missing(&mut linked, &columns, data.missing, &mut notes)?;
        Ok(RowsToFit {
            linked,
            formula,
            columns,
            rates,
            notes,
        })
    }
}

/// The columns that are used, by role.
pub(super) struct Columns {
    pub(super) response: Vec<Column>,
    pub(super) predictors: Vec<Column>,
    /// Those that are entries of the program's data block; like predictors they stay where they are.
    stan: Vec<StanColumn>,
    id: Option<Column>,
    pub(super) block: Option<Column>,
    safe: Option<Column>,
    match_probability: Option<Column>,
    /// Of `permutation.rate_formula`.
    rates: Vec<Column>,
    weights: Option<Column>,
    /// Strata and clusters of a survey, which stand beside what its weights stay with.
    survey: Vec<Column>,
}

impl Columns {
    pub(super) fn find(
        linked: &Linked,
        formula: &Formula,
        rates: Option<&Formula>,
        data: &Data,
    ) -> Result<Columns, DataError> {
        let all = |names: Vec<&str>, key| -> Result<Vec<Column>, DataError> {
            names.iter().map(|name| linked.column(name, key)).collect()
        };
        let optional = |name: &Option<String>, key| {
            let name = name.as_ref();
            name.map(|name| linked.column(name, key)).transpose()
        };
        if data.offset.is_some() {
            all(formula.offset_columns(), OFFSET)?;
        }
        Ok(Columns {
            response: all(formula.response_columns(), data.response_key())?,
            predictors: all(formula.predictor_columns(), data.predictors_key())?,
            stan: stan_columns::find(linked, data)?,
            id: optional(&data.id, "data.id")?,
            block: optional(&data.block, "data.block")?,
            safe: optional(&data.safe, "data.safe")?,
            match_probability: optional(&data.match_probability, "data.match_probability")?,
            rates: match rates {
                Some(rates) => all(rates.predictor_columns(), RATE_FORMULA)?,
                None => Vec::new(),
            },
            weights: match &data.weights {
                Some(weights) => Some(linked.column(&weights.column, "data.weights")?),
                None => None,
            },
            survey: [
                optional(&data.strata, "data.strata")?,
                optional(&data.clusters, "data.clusters")?,
            ]
            .into_iter()
            .flatten()
            .collect(),
        })
    }

    /// The columns of the survey, its weights first.
    pub(super) fn of_survey(&self) -> Vec<Column> {
        let survey = self.survey.iter().copied();
        self.weights.into_iter().chain(survey).collect()
    }

    /// With two files, the columns of a survey stand in the file that its weights stay with.
    fn check_survey(&self, linked: &Linked, data: &Data) -> Result<(), DataError> {
        let side = data.survey_side();
        let with_response = side == WeightSide::Response;
        let is_wrong = |column: &Column| {
            let beside_response = column.table == self.response[0].table;
            linked.num_files() > 1 && beside_response != with_response
        };
        let found = self.of_survey().into_iter().find(is_wrong);
        if let Some(column) = found {
            return Err(DataError::SurveySide {
                file: linked.file(column).into(),
                column: linked.name(column).into(),
                side: if with_response {
                    "response"
                } else {
                    "predictors"
                },
                other: if with_response {
                    "predictors"
                } else {
                    "response"
                },
            });
        }
        let named = [
            (
                data.weights.as_ref().map(|weights| &weights.column),
                "data.weights",
            ),
            (data.strata.as_ref(), "data.strata"),
            (data.clusters.as_ref(), "data.clusters"),
        ];
        let is_response = |name: &str| self.response.iter().any(|&of| linked.name(of) == name);
        let found = named
            .into_iter()
            .find_map(|(name, key)| Some((name.filter(|name| is_response(name))?, key)));
        match found {
            Some((column, key)) => Err(DataError::SurveyIsResponse {
                column: column.clone(),
                key,
            }),
            None => Ok(()),
        }
    }

    /// The rate of wrong links of a place does not move with the response that is linked to it.
    fn check_rates(&self, linked: &Linked) -> Result<(), DataError> {
        let mut rates = self.rates.iter();
        match rates.find(|column| self.response.contains(column)) {
            Some(&column) => Err(DataError::ResponseInRates {
                column: linked.name(column).into(),
            }),
            None => Ok(()),
        }
    }

    /// All but those of the response.
    pub(super) fn others(&self) -> Vec<Column> {
        let optional = [self.id, self.block, self.safe, self.match_probability];
        let staying = self.staying().into_iter();
        let of_rates = self.rates.iter().copied();
        let staying = staying.chain(of_rates).chain(self.of_survey());
        staying.chain(optional.into_iter().flatten()).collect()
    }

    /// Those that stay where they are when a response moves.
    pub(super) fn staying(&self) -> Vec<Column> {
        let of_stan = self.stan.iter().filter_map(|stan| stan.column);
        self.predictors.iter().copied().chain(of_stan).collect()
    }

    /// Those that must have a value in every row; each once.
    fn needed(&self) -> Vec<Column> {
        let optional = [self.block, self.safe, self.match_probability, self.weights];
        let mut columns: Vec<Column> = Vec::new();
        for column in [&self.response[..], &self.staying(), &self.rates]
            .concat()
            .into_iter()
            .chain(optional.into_iter().flatten())
        {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }
}

fn leave_out_missing(
    linked: &mut Linked,
    columns: &Columns,
    policy: Missing,
    notes: &mut Notes,
) -> Result<(), DataError> {
    let mut kept = vec![true; linked.num_rows()];
    let mut places = Vec::new();
    for column in columns.needed() {
        let rows: Vec<usize> = (0..linked.num_rows())
            .filter(|&row| cell::is_missing(linked.cell(column, row)))
            .collect();
        let Some(&first) = rows.first() else {
            continue;
        };
        rows.iter().for_each(|&row| kept[row] = false);
        let name = linked.name(column);
        places.push(format!(
            "`{name}` ({}, first on {})",
            rows.len(),
            linked.line_words(column, first)
        ));
        notes.missing.push((name.to_string(), rows.len()));
    }
    let file = linked.files();
    if policy == Missing::Error && !places.is_empty() {
        return Err(DataError::MissingValues {
            file,
            columns: places.join(", "),
        });
    }
    notes.num_dropped += kept.iter().filter(|kept| !**kept).count();
    if !kept.contains(&true) {
        let names: Vec<&str> = notes
            .missing
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        return Err(DataError::NothingLeft {
            file,
            columns: crate::text::quoted_list(&names),
        });
    }
    linked.retain(&kept);
    Ok(())
}

/// A column that may not have been asked for.
struct Optional<'a> {
    linked: &'a Linked,
    column: Option<Column>,
}

impl<'a> Optional<'a> {
    fn texts(&self) -> Option<Vec<String>> {
        let rows = 0..self.linked.num_rows();
        self.column.map(|column| {
            rows.map(|row| self.linked.cell(column, row).into())
                .collect()
        })
    }

    fn each<T>(
        &self,
        value: impl Fn(&'a str) -> Result<T, &'static str>,
    ) -> Result<Option<Vec<T>>, DataError> {
        let Some(column) = self.column else {
            return Ok(None);
        };
        let rows = 0..self.linked.num_rows();
        let values = rows.map(|row| {
            value(self.linked.cell(column, row))
                .map_err(|fix| self.linked.bad_value(column, row, fix))
        });
        values.collect::<Result<_, _>>().map(Some)
    }

    fn safe(&self) -> Result<Option<Vec<bool>>, DataError> {
        self.each(|cell| cell::yes_or_no(cell).ok_or("write true or false, 1 or 0, yes or no"))
    }

    fn weights(&self) -> Result<Option<Vec<f64>>, DataError> {
        self.each(|cell| match cell::number(cell) {
            Number::Value(value) if (0.0..1e100).contains(&value) => Ok(value),
            Number::Value(_) => {
                Err("write a weight, 0 or more and below 1e100, or leave the row out")
            }
            Number::Missing => unreachable!("rows with a missing value were left out"),
            Number::Bad(fix) | Number::Text(fix) => Err(fix),
        })
    }

    fn probabilities(&self) -> Result<Option<Vec<f64>>, DataError> {
        self.each(|cell| match cell::number(cell) {
            Number::Value(value) if value > 0.0 && value <= 1.0 => Ok(value),
            Number::Value(0.0) => Err(
                "a link that is certainly wrong cannot be fitted, so write a small number such as 0.001",
            ),
            Number::Value(_) => Err("write a probability, above 0 and at most 1"),
            Number::Missing => unreachable!("rows with a missing value were left out"),
            Number::Bad(fix) | Number::Text(fix) => Err(fix),
        })
    }
}

/// Groups of rows with the same label, numbered in the order of first appearance.
fn blocks_of(labels_of_rows: Vec<String>) -> Blocks {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut labels = Vec::new();
    let of_row = labels_of_rows
        .into_iter()
        .map(|label| {
            *known.entry(label).or_insert_with_key(|label| {
                labels.push(label.clone());
                labels.len() - 1
            })
        })
        .collect();
    Blocks { of_row, labels }
}

#[cfg(test)]
mod tests;
