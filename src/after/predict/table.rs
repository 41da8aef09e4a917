//! Predictions as CSV: a summary of each row, or every draw.

use super::Predictions;
use crate::numerics::{mean, quantile, sd};
use crate::posterior::draws::format_float;

impl Predictions {
    /// One line for each new row: mean, standard deviation and quantiles of its predictive distribution.
    pub fn summary_csv(&self) -> String {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let numbers = ["mean", "sd", "5%", "50%", "95%"];
        write(
            &mut csv,
            self.first_columns().chain(numbers.map(String::from)),
        );
        for row in 0..self.num_rows() {
            let draws: Vec<f64> = self.responses.iter().map(|draw| draw[row]).collect();
            let quantile = |probability| quantile(&draws, probability);
            let values = [
                mean(&draws),
                sd(&draws),
                quantile(0.05),
                quantile(0.5),
                quantile(0.95),
            ];
            let values = values.map(|value| value.map_or("NA".into(), format_float));
            write(&mut csv, self.first_cells(row).chain(values));
        }
        text(csv)
    }

    /// One line for each new row and draw.
    pub fn long_csv(&self) -> String {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let others = ["chain", "draw", "y"];
        write(
            &mut csv,
            self.first_columns().chain(others.map(String::from)),
        );
        for row in 0..self.num_rows() {
            for ((chain, draw), responses) in self.draws.iter().zip(&self.responses) {
                let cells = [
                    chain.to_string(),
                    draw.to_string(),
                    format_float(responses[row]),
                ];
                write(&mut csv, self.first_cells(row).chain(cells));
            }
        }
        text(csv)
    }

    fn num_rows(&self) -> usize {
        self.responses.first().map_or(0, Vec::len)
    }

    fn first_columns(&self) -> impl Iterator<Item = String> {
        let id = self.row_ids.as_ref().map(|_| "id".to_string());
        ["row".to_string()].into_iter().chain(id)
    }

    fn first_cells(&self, row: usize) -> impl Iterator<Item = String> {
        let id = self.row_ids.as_ref().map(|ids| ids[row].clone());
        [(row + 1).to_string()].into_iter().chain(id)
    }
}

fn write(csv: &mut csv::Writer<Vec<u8>>, cells: impl Iterator<Item = String>) {
    csv.write_record(cells.collect::<Vec<_>>())
        .expect("memory can be written to");
}

fn text(csv: csv::Writer<Vec<u8>>) -> String {
    let bytes = csv.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("UTF-8 was written")
}
