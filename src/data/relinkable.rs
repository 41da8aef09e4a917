//! The user's rows as text, in which responses can be put beside other predictors.

use super::DataError;
use super::beside::is_form_of;
use super::linked::{Column, Linked};
use super::read::RowsToFit;
use crate::config::Data;
use crate::sampler::links::WeightSide;

/// The rows of a fit, all columns and cells as they are in her files; rows that were dropped are left out.
pub struct Relinkable {
    linked: Linked,
    /// The columns that move with the response.
    moving: Vec<Column>,
    /// Columns that stay, but look like another form of the response.
    beside: Vec<String>,
    /// The columns of a survey: its weights, strata and clusters.
    survey: Vec<Column>,
}

impl Relinkable {
    /// With one file the columns of the response move, and those that `also` names; with two, the file of the response.
    pub fn read(data: &Data, also: &[String]) -> Result<Relinkable, DataError> {
        let RowsToFit {
            linked,
            columns,
            formula,
            ..
        } = RowsToFit::read(data)?;
        let used = columns.others();
        let survey = columns.of_survey();
        let responses = columns.response;
        let mut moving = responses.clone();
        for name in also {
            let column = linked.column(name, "--also")?;
            if formula.predictor_columns().contains(&name.as_str()) {
                return Err(DataError::PredictorMoves {
                    column: name.clone(),
                });
            }
            if survey.contains(&column) && data.survey_side() == WeightSide::Predictors {
                return Err(DataError::SurveyMoves {
                    column: name.clone(),
                });
            }
            moving.push(column);
        }
        if data.survey_side() == WeightSide::Response {
            moving.extend(&survey);
        }
        let mut beside = Vec::new();
        if linked.num_files() == 1 {
            let known = [&moving[..], &used].concat();
            let others = linked
                .columns()
                .into_iter()
                .filter(|column| !known.contains(column));
            let others = others.filter(|&column| {
                let mut responses = responses.iter();
                responses.any(|&response| is_form_of(&linked, response, column))
            });
            beside = others
                .map(|column| linked.name(column).to_string())
                .collect();
        }
        if linked.num_files() > 1 {
            let side = moving[0].table;
            moving = linked.columns();
            moving.retain(|column| column.table == side);
        }
        Ok(Relinkable {
            linked,
            moving,
            beside,
            survey,
        })
    }

    /// Columns that stay where they are, though in the order of the response they only rise, only fall, or stand in one
    /// stretch for each of their words: probably another form of it.
    pub fn beside_response(&self) -> &[String] {
        &self.beside
    }

    /// The columns of a survey, and whether they moved with the response or stayed with the predictors.
    pub fn survey_columns(&self) -> Option<(Vec<String>, WeightSide)> {
        let moves = self.moving.contains(self.survey.first()?);
        let names = self.survey.iter().map(|&c| self.linked.name(c).to_string());
        let side = match moves {
            true => WeightSide::Response,
            false => WeightSide::Predictors,
        };
        Some((names.collect(), side))
    }

    /// Which data row of her file each row is, counted from 1.
    pub fn row_numbers(&self) -> Vec<usize> {
        self.linked.row_numbers()
    }

    /// One line for each row of predictors, in their order; `response_of` says whose response stands beside them.
    pub fn csv(&self, response_of: &[usize]) -> String {
        let linked = &self.linked;
        let columns = linked.columns();
        let mut writer = csv::WriterBuilder::new()
            .delimiter(linked.delimiter())
            .from_writer(Vec::new());
        let mut write = |cells: &mut dyn Iterator<Item = &str>| {
            writer
                .write_record(cells)
                .expect("memory can be written to");
        };
        let header = self.header();
        write(&mut header.iter().map(String::as_str));
        let numbers = linked.row_numbers();
        for (place, &response) in response_of.iter().enumerate() {
            let cells = columns.iter().map(|column| {
                let moves = self.moving.contains(column);
                linked.cell_as_typed(*column, if moves { response } else { place })
            });
            let ours = [response, place].map(|place| numbers[place].to_string());
            write(&mut cells.chain(ours.iter().map(String::as_str)));
        }
        let bytes = writer.into_inner().expect("memory can be written to");
        String::from_utf8(bytes).expect("UTF-8 was read")
    }

    /// Her columns, then `row` and `linked_to`.
    fn header(&self) -> Vec<String> {
        let mut header = self.linked.names_apart();
        for ours in ["row", "linked_to"] {
            push_new(&mut header, ours);
        }
        header
    }
}

/// Adds a column whose name no other has, and gives that name.
pub(super) fn push_new(header: &mut Vec<String>, name: &str) -> String {
    let mut name = name.to_string();
    while header.contains(&name) {
        name.push('_');
    }
    header.push(name.clone());
    name
}
