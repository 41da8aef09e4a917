//! The rows to fit: those of one file, or those of a left file, each with the row of a right file that it is linked to.

use std::collections::HashMap;

use super::cell;
use super::linkage::Linkage;
use super::table::{Table, column_advice, excerpt};
use super::{DataError, Notes};
use crate::config::{Data, DataSource, LinkColumns, Missing};

pub(super) struct Linked {
    /// The file, or the left and the right one.
    tables: Vec<Table>,
    /// For each table the row in it that each row to fit has.
    places: Vec<Vec<usize>>,
    /// The column that both files have and that links them, if it has one name; of pairs, the column of ids.
    link: Option<String>,
    /// Rows of the right file that no row of the left one is linked to.
    unlinked: Vec<usize>,
    /// Those of them that are places, in their order.
    spare: Vec<usize>,
    /// What the pairs of a linkage program say, where the links were picked from them.
    pub(super) linkage: Option<Linkage>,
}

/// A column of one of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) table: usize,
    index: usize,
}

impl Linked {
    /// Notes the rows of the right file without a link, and rows of the left one whose link is missing.
    pub(super) fn read(data: &Data, notes: &mut Notes) -> Result<Linked, DataError> {
        match &data.source {
            DataSource::Arrays => Err(DataError::Arrays),
            DataSource::File { file } => Ok(Linked::one(Table::read(file, "data.file")?)),
            DataSource::Two { left, right, links } => {
                let left = Table::read(left, "data.left")?;
                let right = Table::read(right, "data.right")?;
                let links_of_left = link_rows(&left, &right, links, data.missing, notes)?;
                let (left_rows, right_rows): (Vec<usize>, Vec<usize>) =
                    links_of_left.into_iter().unzip();
                let unlinked = unlinked(&right, &right_rows);
                notes.num_unlinked = unlinked.len();
                Ok(Linked {
                    unlinked,
                    spare: Vec::new(),
                    places: vec![left_rows, right_rows],
                    tables: vec![left, right],
                    link: (links.left == links.right).then(|| links.left.clone()),
                    linkage: None,
                })
            }
            DataSource::Pairs { left, right, links } => {
                let left = Table::read(left, "data.left")?;
                let right = Table::read(right, "data.right")?;
                let linkage = Linkage::read(links, &left, &right)?;
                notes.linkage = Some(linkage.notes.clone());
                let (left_rows, right_rows): (Vec<usize>, Vec<usize>) =
                    linkage.links.iter().copied().unzip();
                let unlinked = unlinked(&right, &right_rows);
                notes.num_unlinked = unlinked.len();
                Ok(Linked {
                    unlinked,
                    spare: Vec::new(),
                    places: vec![left_rows, right_rows],
                    tables: vec![left, right],
                    link: links.left.clone().filter(|_| links.left == links.right),
                    linkage: Some(linkage),
                })
            }
        }
    }

    /// Rows of one file, whatever other files there are.
    pub(super) fn one(table: Table) -> Linked {
        Linked {
            places: vec![(0..table.rows.len()).collect()],
            tables: vec![table],
            link: None,
            unlinked: Vec::new(),
            spare: Vec::new(),
            linkage: None,
        }
    }

    /// The rows of the right file that no row of the left one is linked to, by themselves.
    pub(super) fn unlinked_rows(&self) -> Linked {
        let mut rows = Linked::one(self.tables[1].clone());
        rows.places[0].clone_from(&self.unlinked);
        rows
    }

    /// Makes unlinked rows places, by their numbers in the right file.
    pub(super) fn set_places(&mut self, numbers: Vec<usize>) {
        self.spare = numbers.into_iter().map(|number| number - 1).collect();
    }

    /// The rows of the right file that are places, by their text in the column that links both files; None where that
    /// column is not `id`.
    pub(super) fn names_of_places(&self, id: Column) -> Option<HashMap<&str, usize>> {
        let name = self.link.as_deref().filter(|link| *link == self.name(id))?;
        let right = &self.tables[1];
        let column = right.position(name)?;
        let places = self.spare.iter().enumerate();
        let place = |(k, &row): (usize, &usize)| (right.cell(row, column), self.num_rows() + k);
        Some(places.map(place).collect())
    }

    pub(super) fn num_rows(&self) -> usize {
        self.places[0].len()
    }

    /// The row numbers of the file, or of the left one.
    pub(super) fn row_numbers(&self) -> Vec<usize> {
        self.places[0].iter().map(|place| place + 1).collect()
    }

    /// The files as errors name them.
    pub(super) fn files(&self) -> String {
        let files: Vec<&str> = self
            .tables
            .iter()
            .map(|table| table.file.as_str())
            .collect();
        files.join(" and ")
    }

    pub(super) fn has_rows(&self) -> Result<(), DataError> {
        match self.tables.iter().find(|table| table.rows.is_empty()) {
            Some(table) => Err(DataError::NoRows {
                file: table.file.clone(),
            }),
            None => Ok(()),
        }
    }

    /// The columns of all files.
    pub(super) fn header(&self) -> Vec<String> {
        let headers = self.tables.iter().map(|table| table.header.clone());
        headers.collect::<Vec<_>>().concat()
    }

    /// The column of that name; `key` is the entry of the config that asks for it.
    pub(super) fn column(&self, name: &str, key: &'static str) -> Result<Column, DataError> {
        let mut found = (0..self.tables.len()).filter_map(|table| {
            let index = self.tables[table].position(name)?;
            Some(Column { table, index })
        });
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column),
            (Some(column), Some(_)) if self.link.as_deref() == Some(name) && self.is_one(key) => {
                Ok(column)
            }
            (Some(_), Some(_)) => Err(DataError::InBothFiles {
                column: name.into(),
                key,
                left: self.tables[0].file.clone(),
                right: self.tables[1].file.clone(),
            }),
            (None, _) => Err(DataError::NoColumn {
                file: self.files(),
                column: name.into(),
                key,
                advice: column_advice(name, &self.header()),
            }),
        }
    }

    /// Whether the column of the links says the same in both files, or the left one is meant: the ids in pairs differ
    /// between the files, and results name the rows of the left one.
    fn is_one(&self, key: &str) -> bool {
        self.linkage.is_none() || key == "data.id"
    }

    pub(super) fn cell(&self, column: Column, row: usize) -> &str {
        self.tables[column.table].cell(self.places[column.table][row], column.index)
    }

    /// As it stands in the file, with its spaces.
    pub(super) fn cell_as_typed(&self, column: Column, row: usize) -> &str {
        &self.tables[column.table].rows[self.places[column.table][row]][column.index]
    }

    /// Every column of every file.
    pub(super) fn columns(&self) -> Vec<Column> {
        let tables = self.tables.iter().enumerate();
        tables
            .flat_map(|(table, of_table)| {
                (0..of_table.header.len()).map(move |index| Column { table, index })
            })
            .collect()
    }

    /// The names of `columns`. A name that both files have says which file it is of.
    pub(super) fn names_apart(&self) -> Vec<String> {
        let columns = self.columns();
        let names = columns.iter().map(|&column| {
            let name = self.name(column);
            let twins = columns.iter().filter(|&&other| self.name(other) == name);
            let in_both = !name.is_empty() && twins.count() > 1;
            let side = if in_both {
                [".left", ".right"][column.table]
            } else {
                ""
            };
            format!("{name}{side}")
        });
        names.collect()
    }

    /// What separates the columns of the first file.
    pub(super) fn delimiter(&self) -> u8 {
        self.tables[0].delimiter
    }

    pub(super) fn num_files(&self) -> usize {
        self.tables.len()
    }

    pub(super) fn name(&self, column: Column) -> &str {
        &self.tables[column.table].header[column.index]
    }

    pub(super) fn file(&self, column: Column) -> &str {
        &self.tables[column.table].file
    }

    pub(super) fn line(&self, column: Column, row: usize) -> usize {
        self.tables[column.table].line(self.places[column.table][row])
    }

    pub(super) fn bad_value(
        &self,
        column: Column,
        row: usize,
        fix: impl Into<String>,
    ) -> DataError {
        let place = self.places[column.table][row];
        self.tables[column.table].bad_value(place, column.index, fix)
    }

    /// `line 3`, with the file where there are two.
    pub(super) fn line_words(&self, column: Column, row: usize) -> String {
        let line = self.line(column, row);
        match self.tables.len() {
            1 => format!("line {line}"),
            _ => format!("line {line} of {}", self.file(column)),
        }
    }

    /// Leaves out the other rows.
    pub(super) fn retain(&mut self, kept: &[bool]) {
        for places in &mut self.places {
            let mut kept = kept.iter();
            places.retain(|_| *kept.next().expect("one mark for each row"));
        }
    }

    /// Every row of a column's file, fitted or not, by its text; a missing text names nothing.
    pub(super) fn names(&self, column: Column) -> Result<HashMap<&str, usize>, DataError> {
        let table = &self.tables[column.table];
        let fix = "rows named in data.candidates need names of their own";
        by_value(table, 0..table.rows.len(), column.index, fix)
    }

    /// Refuses rows to fit that have the same id. Rows that are not fitted, such as those of a register that nobody is
    /// linked to, and rows without an id may be as they are.
    pub(super) fn check_ids(&self, column: Column) -> Result<(), DataError> {
        let table = &self.tables[column.table];
        let mut rows = self.places[column.table].clone();
        rows.sort_unstable();
        let fix = "data.id tells the rows of the results apart, so correct one of them, name another column, or remove data.id";
        by_value(table, rows, column.index, fix).map(drop)
    }

    /// How many rows the file of `table` has, fitted or not.
    pub(super) fn num_file_rows(&self, table: usize) -> usize {
        self.tables[table].rows.len()
    }

    /// For each row of a file its position among the rows to fit, and behind these among the places.
    pub(super) fn positions(&self, table: usize) -> Vec<Option<usize>> {
        let mut positions = vec![None; self.num_file_rows(table)];
        for (position, &place) in self.places[table].iter().enumerate() {
            positions[place] = Some(position);
        }
        if table == 1 {
            for (k, &row) in self.spare.iter().enumerate() {
                positions[row] = Some(self.num_rows() + k);
            }
        }
        positions
    }

    /// A wrong link moves the response away from the predictors, so they must stand in different files.
    pub(super) fn check_sides(
        &self,
        response: (&str, &[Column]),
        predictors: &[Column],
    ) -> Result<(), DataError> {
        if self.tables.len() == 1 {
            return Ok(());
        }
        let (label, response) = response;
        let side = response[0].table;
        if response.iter().any(|column| column.table != side) {
            return Err(DataError::ResponseInTwoFiles {
                label: label.into(),
                left: self.tables[0].file.clone(),
                right: self.tables[1].file.clone(),
            });
        }
        match predictors.iter().find(|column| column.table == side) {
            None => Ok(()),
            Some(&column) => Err(DataError::BesideResponse {
                file: self.file(column).into(),
                column: self.name(column).into(),
            }),
        }
    }
}

/// The rows of the right file that are not among those that are linked.
fn unlinked(right: &Table, linked: &[usize]) -> Vec<usize> {
    let mut is_linked = vec![false; right.rows.len()];
    linked.iter().for_each(|&row| is_linked[row] = true);
    (0..right.rows.len())
        .filter(|&row| !is_linked[row])
        .collect()
}

/// These rows of a table by a column whose values must differ.
pub(super) fn by_value<'a>(
    table: &'a Table,
    rows: impl IntoIterator<Item = usize>,
    column: usize,
    fix: &str,
) -> Result<HashMap<&'a str, usize>, DataError> {
    let mut found = HashMap::with_capacity(table.rows.len());
    for row in rows {
        let value = table.cell(row, column);
        if cell::is_missing(value) {
            continue;
        }
        if let Some(first) = found.insert(value, row) {
            return Err(DataError::Twice {
                file: table.file.clone(),
                first: table.line(first),
                second: table.line(row),
                column: table.header[column].clone(),
                value: excerpt(value),
                fix: fix.into(),
            });
        }
    }
    Ok(found)
}

/// For each row of the left file that has a link, the row of the right one that it names.
fn link_rows(
    left: &Table,
    right: &Table,
    links: &LinkColumns,
    missing: Missing,
    notes: &mut Notes,
) -> Result<Vec<(usize, usize)>, DataError> {
    let link = left.column(&links.left, "data.links")?;
    let key = right.column(&links.right, "data.links")?;
    let right_rows = by_value(
        right,
        0..right.rows.len(),
        key,
        "a row that is linked to must stand once, so remove one of them",
    )?;
    let one_to_one = format!(
        "links must be one to one, but both name the same row of {}, so remove one of them",
        right.file
    );
    by_value(left, 0..left.rows.len(), link, &one_to_one)?;
    let without: Vec<usize> = (0..left.rows.len())
        .filter(|&row| cell::is_missing(left.cell(row, link)))
        .collect();
    if let Some(&first) = without.first() {
        if missing == Missing::Error {
            return Err(DataError::MissingValues {
                file: left.file.clone(),
                columns: format!(
                    "`{}` ({}, first on line {})",
                    links.left,
                    without.len(),
                    left.line(first)
                ),
            });
        }
        notes.num_dropped += without.len();
        notes.missing.push((links.left.clone(), without.len()));
    }
    let mut found = Vec::with_capacity(left.rows.len());
    for row in 0..left.rows.len() {
        let value = left.cell(row, link);
        if cell::is_missing(value) {
            continue;
        }
        let place = right_rows.get(value).ok_or_else(|| {
            let fix = format!(
                "no row of {} has it in `{}`, so correct the link or remove the row",
                right.file, links.right
            );
            left.bad_value(row, link, fix)
        })?;
        found.push((row, *place));
    }
    Ok(found)
}
