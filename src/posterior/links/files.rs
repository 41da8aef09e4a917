//! rows.csv and pi_mean.csv.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::LinksSummary;
use crate::posterior::draws::{DrawsError, format_float};
use crate::posterior::{Folder, Row};
use crate::text::FileError;

/// Partners listed in rows.csv, the best one included.
const NUM_PARTNERS: usize = 3;

/// A column of rows.csv for what was known before the fit; its value is None where that was not known.
type Column = (&'static str, fn(&Row) -> Option<String>);

const KNOWN: [Column; 5] = [
    ("id", |row| row.id.clone()),
    ("block", |row| row.block.clone()),
    ("safe", |row| row.safe.map(|safe| safe.to_string())),
    ("match_probability", |row| {
        row.match_probability.map(format_float)
    }),
    ("num_candidates", |row| {
        row.num_candidates.map(|number| number.to_string())
    }),
];

impl LinksSummary {
    /// Writes rows.csv and pi_mean.csv.
    ///
    /// `has_outside`: whether responses may come from outside the file.
    pub fn write(
        &self,
        folder: &Folder,
        rows: &[Row],
        has_outside: bool,
    ) -> Result<(), DrawsError> {
        let path = folder.file(Folder::ROWS);
        let out = File::create(&path).map(BufWriter::new);
        out.and_then(|out| self.write_rows(out, rows, has_outside))
            .map_err(FileError::write(&path))?;
        let path = folder.file(Folder::PI_MEAN);
        let out = File::create(&path).map(BufWriter::new);
        let written = out.and_then(|out| self.write_pi_mean(out));
        Ok(written.map_err(FileError::write(&path))?)
    }

    fn write_rows(&self, out: impl Write, rows: &[Row], has_outside: bool) -> io::Result<()> {
        let first = rows.first();
        let known = KNOWN.iter();
        let known = known.filter(|(_, value)| first.is_some_and(|row| value(row).is_some()));
        let known: Vec<&Column> = known.collect();
        let has_fitted = first.is_some_and(|row| row.fitted.is_some());
        let mut writer = csv::Writer::from_writer(out);
        let mut header = vec!["row".to_string()];
        header.extend(known.iter().map(|(name, _)| name.to_string()));
        header.extend(["p_moved", "p_right"].map(String::from));
        header.extend(has_outside.then(|| "p_outside".to_string()));
        header.extend(["best_link", "p_best"].map(String::from));
        for k in 2..=NUM_PARTNERS {
            header.extend([format!("link_{k}"), format!("p_{k}")]);
        }
        header.push("response".into());
        if has_fitted {
            header.extend(["fitted", "fitted_best"].map(String::from));
        }
        let has_ids = first.is_some_and(|row| row.id.is_some());
        header.extend(has_ids.then(|| "best_link_id".to_string()));
        writer.write_record(&header)?;
        for (place, row) in rows.iter().enumerate() {
            let links = self.row(place);
            let mut record = vec![row.number.to_string()];
            record.extend(
                known
                    .iter()
                    .map(|(_, value)| value(row).unwrap_or_default()),
            );
            record.push(format_float(links.p_moved));
            record.push(format_float(1.0 - links.p_moved));
            record.extend(has_outside.then(|| format_float(links.p_outside)));
            for k in 0..NUM_PARTNERS {
                match links.partners.get(k) {
                    Some((column, p)) => {
                        record.extend([self.rows.number(*column).to_string(), format_float(*p)])
                    }
                    None => record.extend([String::new(), String::new()]),
                }
            }
            record.push(format_float(row.response));
            record.extend(row.fitted.into_iter().flatten().map(format_float));
            if has_ids {
                let best = self.best(place);
                let of_place = || self.rows.place_id(best).map(String::from);
                let id = rows.get(best).map_or_else(of_place, |row| row.id.clone());
                record.push(id.unwrap_or_default());
            }
            writer.write_record(&record)?;
        }
        writer.flush()
    }

    fn write_pi_mean(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "row,column,probability")?;
        for row in 0..self.num_rows() {
            let mut partners = self.row(row).partners;
            partners.sort_by_key(|(column, _)| *column);
            for (column, probability) in partners {
                let numbers = [row, column].map(|place| self.rows.number(place));
                let probability = format_float(probability);
                writeln!(out, "{},{},{probability}", numbers[0], numbers[1])?;
            }
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use ndarray::Array2;

    use super::*;
    use crate::data::{Blocks, Candidate, Dataset};
    use crate::posterior::draws::{ChainDraws, LinksWriter, MovedRow};
    use crate::posterior::links::RowNumbers;
    use crate::posterior::rows::{parse_rows, rows};
    use crate::sampler::links::Permutation;

    fn data(row_numbers: &[usize]) -> Dataset {
        let num_rows = row_numbers.len();
        let response = (0..num_rows).map(|k| k as f64 + 0.5).collect();
        Dataset {
            row_numbers: row_numbers.to_vec(),
            ..Dataset::new(vec!["x".into()], Array2::zeros((num_rows, 1)), response)
        }
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn responses_from_outside_have_a_column_of_their_own() {
        let outside = MovedRow {
            draw: 2,
            row: 1,
            linked_to: 0,
        };
        let data = data(&[1, 2]);
        let numbers = RowNumbers::new(&data.row_numbers);
        let summary = LinksSummary::count(&[(4, vec![outside])], numbers);
        let rows = rows(&data, &summary, None);
        let rows = text(|out| summary.write_rows(out, &rows, true));
        let lines: Vec<&str> = rows.lines().take(2).collect();
        assert!(lines[0].starts_with("row,p_moved,p_right,p_outside,best_link"));
        assert!(lines[1].starts_with("1,0.25,0.75,0.25,1,0.75,"), "{rows}");
        let mean = text(|out| summary.write_pi_mean(out));
        assert!(mean.contains("\n1,1,0.75\n2,2,1"), "{mean}");
    }

    #[test]
    fn rows_and_the_mean_matrix_are_written_as_counted() {
        let moved = |draw, row, linked_to| MovedRow {
            draw,
            row,
            linked_to,
        };
        let first = vec![
            moved(1, 1, 2),
            moved(1, 2, 1),
            moved(2, 1, 3),
            moved(2, 3, 1),
        ];
        let chains = [(2, first), (2, vec![moved(2, 1, 2), moved(2, 2, 1)])];
        let data = data(&[1, 2, 3]);
        let summary = LinksSummary::count(&chains, RowNumbers::new(&data.row_numbers));
        let rows = rows(&data, &summary, Some(&[10.0, 11.0, 12.0]));
        let rows = text(|out| summary.write_rows(out, &rows, false));
        let lines: Vec<&str> = rows.lines().take(2).collect();
        assert_eq!(
            lines,
            [
                "row,p_moved,p_right,best_link,p_best,link_2,p_2,link_3,p_3,response,fitted,fitted_best",
                "1,0.75,0.25,2,0.5,1,0.25,3,0.25,0.5,10,11"
            ]
        );
        let mean = text(|out| summary.write_pi_mean(out));
        assert_eq!(
            mean.lines().filter(|line| line.starts_with("2,")).count(),
            2
        );
    }

    #[test]
    fn row_numbers_of_a_file_with_dropped_rows_go_out_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let data = data(&[2, 5, 6, 9]);
        // The first row of the data belongs to the third, and back: rows 2 and 6 of the file.
        let pi = Permutation::from_vec(vec![2, 1, 0, 3]).unwrap();
        let path = folder.path().join("links_1.csv");
        let mut writer = LinksWriter::create(&path, RowNumbers::of(&data)).unwrap();
        writer.draw(1, &pi).unwrap();
        writer.flush().unwrap();
        let saved = fs::read_to_string(&path).unwrap();
        assert_eq!(saved, "draw,row,linked_to\n1,2,6\n1,6,2\n");
        let chain = ChainDraws {
            chain: 1,
            names: vec!["lp__".into()],
            columns: vec![vec![0.0]],
            ..ChainDraws::default()
        };
        let chains = [chain];
        let numbers = RowNumbers::new(&data.row_numbers);
        let summary = LinksSummary::read(folder.path(), &chains, numbers);
        let summary = summary.unwrap().unwrap();
        assert_eq!(summary.row(0).partners, [(2, 1.0)]);
        let all = rows(&data, &summary, None);
        summary
            .write(&Folder::new(folder.path()), &all, false)
            .unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let rows = read("rows.csv");
        assert_eq!(rows.lines().nth(1), Some("2,1,0,6,1,,,,,0.5"));
        assert_eq!(rows.lines().nth(2), Some("5,0,1,5,1,,,,,1.5"));
        assert_eq!(
            read("pi_mean.csv"),
            "row,column,probability\n2,6,1\n5,5,1\n6,2,1\n9,9,1\n"
        );
        let again = parse_rows(&rows, Path::new("rows.csv")).unwrap();
        let numbers: Vec<usize> = again.iter().map(|row| row.number).collect();
        assert_eq!(numbers, data.row_numbers);

        fs::write(&path, "draw,row,linked_to\n1,2,6\n1,6,3\n").unwrap();
        let error = LinksSummary::read(folder.path(), &chains, RowNumbers::new(&numbers));
        let error = error.unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("links_1.csv, line 3: row 3 is not among the 4 rows of the data"),
            "{error}"
        );
    }

    #[test]
    fn what_was_known_stands_behind_the_id() {
        let mut data = data(&[1, 2, 3]);
        data.row_ids = Some(["a", "b", "c"].map(String::from).to_vec());
        data.blocks = Some(Blocks {
            of_row: vec![0, 1, 0],
            labels: vec!["north, east".into(), "south".into()],
        });
        data.safe = Some(vec![false, true, false]);
        data.match_probability = Some(vec![0.9, 1.0, 0.25]);
        let candidate = |row, partner| Candidate {
            row,
            partner,
            weight: 1.0,
        };
        data.candidates = Some(vec![candidate(0, 2), candidate(2, 0), candidate(0, 1)]);
        let summary = LinksSummary::count(&[(1, Vec::new())], RowNumbers::new(&[1, 2, 3]));
        let rows = text(|out| summary.write_rows(out, &rows(&data, &summary, None), false));
        let lines: Vec<&str> = rows.lines().collect();
        assert!(
            lines[0].starts_with("row,id,block,safe,match_probability,num_candidates,p_moved"),
            "{rows}"
        );
        assert!(lines[0].ends_with(",response,best_link_id"), "{rows}");
        assert!(lines[1].starts_with("1,a,\"north, east\",false,0.9,2,0,1,1,1"));
        assert!(lines[1].ends_with(",0.5,a"), "{rows}");
        assert!(lines[2].starts_with("2,b,south,true,1,0,0,1,2,1"));
    }
}
