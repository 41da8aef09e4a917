//! Which columns of a file of pairs name the records of which file.

use std::collections::HashMap;
use std::path::Path;

use super::super::DataError;
use super::super::cell;
use super::super::linked::by_value;
use super::super::table::Table;
use crate::config::LinkPairs;
use crate::text::nearest;

/// The column of ids that splink expects, and what it calls its tables in the columns of pairs.
const SPLINK_ID: &str = "unique_id";
const SPLINK_TABLES: (&str, &str) = ("source_dataset_l", "source_dataset_r");
/// Columns whose names say which file is the first: those of `matches` of fastLink, and the plain ones.
const ORDERED: [(&str, &str); 2] = [("inds.a", "inds.b"), ("left", "right")];

/// The rows of one file by what pairs call them.
struct Names<'a> {
    table: &'a Table,
    /// None where they go by number.
    rows: Option<(usize, HashMap<&'a str, usize>)>,
}

impl<'a> Names<'a> {
    fn new(table: &'a Table, id: Option<&str>) -> Result<Names<'a>, DataError> {
        let rows = match id {
            None => None,
            Some(id) => {
                let column = table.column(id, "data.links")?;
                let fix = "records named in pairs need names of their own";
                Some((column, by_value(table, 0..table.rows.len(), column, fix)?))
            }
        };
        Ok(Names { table, rows })
    }

    fn row(&self, name: &str) -> Option<usize> {
        match &self.rows {
            Some((_, rows)) => rows.get(name).copied(),
            None => {
                let number = name.parse::<usize>().ok()?;
                (1..=self.table.rows.len())
                    .contains(&number)
                    .then(|| number - 1)
            }
        }
    }

    /// What to do about a name that no row has.
    fn advice(&self, name: &str) -> String {
        let file = &self.table.file;
        match &self.rows {
            Some((column, rows)) => {
                let near = nearest(name, rows.keys().copied());
                let near = near.map_or_else(String::new, |name| format!(", perhaps \"{name}\""));
                let column = &self.table.header[*column];
                format!("no row of {file} has it in `{column}`, so correct it{near}")
            }
            None => {
                let num_rows = self.table.rows.len();
                format!(
                    "without `left` and `right` in data.links, write the number of a row of {file}, from 1 to {num_rows}"
                )
            }
        }
    }
}

/// The records of both files.
pub(super) struct Records<'a> {
    left: Names<'a>,
    right: Names<'a>,
    columns: Option<&'a [String; 2]>,
    /// The columns of ids, if pairs name records by them.
    ids: Option<(&'a str, &'a str)>,
}

/// The columns of a file of pairs that name the record of the left and of the right file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) left: usize,
    pub(super) right: usize,
}

impl<'a> Records<'a> {
    pub(super) fn new(
        config: &'a LinkPairs,
        left: &'a Table,
        right: &'a Table,
    ) -> Result<Records<'a>, DataError> {
        Ok(Records {
            left: Names::new(left, config.left.as_deref())?,
            right: Names::new(right, config.right.as_deref())?,
            columns: config.columns.as_ref(),
            ids: config.left.as_deref().zip(config.right.as_deref()),
        })
    }

    /// The places of both records of a pair.
    pub(super) fn find(
        &self,
        table: &Table,
        row: usize,
        sides: Sides,
    ) -> Result<(usize, usize), DataError> {
        let find = |names: &Names, column: usize| {
            let name = table.cell(row, column);
            if cell::is_missing(name) {
                return Err(table.bad_value(row, column, "name a record, or remove the pair"));
            }
            let known = names.row(name);
            known.ok_or_else(|| table.bad_value(row, column, names.advice(name)))
        };
        Ok((
            find(&self.left, sides.left)?,
            find(&self.right, sides.right)?,
        ))
    }

    /// Whether both records of a line are of one file, as splink's `link_and_dedupe` has them.
    pub(super) fn is_inside(&self, table: &Table, row: usize) -> bool {
        match positions(table, SPLINK_TABLES) {
            Some((l, r)) => table.cell(row, l) == table.cell(row, r),
            None => false,
        }
    }

    pub(super) fn sides(&self, table: &Table, key: &'static str) -> Result<Sides, DataError> {
        if let Some([left, right]) = self.columns {
            return Ok(Sides {
                left: table.column(left, key)?,
                right: table.column(right, key)?,
            });
        }
        let of_files = self.ids.filter(|(left, right)| left != right);
        for known in ORDERED.into_iter().chain(of_files) {
            if let Some((left, right)) = positions(table, known) {
                return Ok(Sides { left, right });
            }
        }
        let two_columns = (table.header.len() == 2).then_some((0, 1));
        match self.of_splink(table).or(two_columns) {
            Some(columns) => self.which_is_left(table, columns),
            None => Err(DataError::BadLine {
                file: table.file.clone(),
                line: 1,
                problem: "no two columns are known to name the records of a pair".into(),
                fix: format!(
                    "write \"columns\": [..., ...] in data.links, first the one of {}",
                    self.left.table.file
                ),
            }),
        }
    }

    /// The ids with the endings `_l` and `_r`; which file is the left one depends on the names of splink's tables.
    fn of_splink(&self, table: &Table) -> Option<(usize, usize)> {
        let ids = self.ids.into_iter().flat_map(|(left, right)| [left, right]);
        let mut names = ids.chain([SPLINK_ID]);
        names.find_map(|id| {
            let (l, r) = (format!("{id}_l"), format!("{id}_r"));
            positions(table, (&l, &r))
        })
    }

    /// By the ids that each column has, or else by the names of splink's tables.
    fn which_is_left(&self, table: &Table, columns: (usize, usize)) -> Result<Sides, DataError> {
        let (first, second) = columns;
        let fits = |names: &Names, column: usize| {
            (0..table.rows.len())
                .filter(|&row| !self.is_inside(table, row))
                .all(|row| names.row(table.cell(row, column)).is_some())
        };
        let straight = fits(&self.left, first) && fits(&self.right, second);
        let turned = fits(&self.right, first) && fits(&self.left, second);
        let is_straight = match (straight, turned) {
            (true, true) => self.by_table_names(table),
            (straight, turned) => Some(straight || !turned),
        };
        match is_straight {
            Some(true) => Ok(Sides {
                left: first,
                right: second,
            }),
            Some(false) => Ok(Sides {
                left: second,
                right: first,
            }),
            None => Err(DataError::BadLine {
                file: table.file.clone(),
                line: 1,
                problem: format!(
                    "`{}` and `{}` could each name rows of either file",
                    table.header[first], table.header[second]
                ),
                fix: format!(
                    "write \"columns\": [..., ...] in data.links, first the one of {}",
                    self.left.table.file
                ),
            }),
        }
    }

    /// Whether splink's first table has the name of the left file.
    fn by_table_names(&self, table: &Table) -> Option<bool> {
        let (l, r) = positions(table, SPLINK_TABLES)?;
        let row = (0..table.rows.len()).find(|&row| !self.is_inside(table, row))?;
        let stem = |names: &Names| {
            let stem = Path::new(&names.table.file).file_stem()?;
            Some(stem.to_string_lossy().into_owned())
        };
        let (left, right) = (stem(&self.left)?, stem(&self.right)?);
        let (l, r) = (table.cell(row, l), table.cell(row, r));
        if l == left || r == right {
            Some(true)
        } else if l == right || r == left {
            Some(false)
        } else {
            None
        }
    }
}

fn positions(table: &Table, names: (&str, &str)) -> Option<(usize, usize)> {
    table.position(names.0).zip(table.position(names.1))
}
