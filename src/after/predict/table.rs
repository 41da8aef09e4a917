//! Predictions as CSV: a summary of each row, or every draw.

use super::Predictions;
use crate::numerics::{mean, quantile, sd};
use crate::posterior::draws::format_float;
use crate::text::percent;

impl Predictions {
    /// One line for each new row, and for each of several responses: mean, standard deviation and quantiles of its predictive
    /// distribution, and the interval of the expected response where it is known. Intervals have the probability `level`.
    pub fn summary_csv(&self, level: f64) -> String {
        let tail = 0.5 * (1.0 - level);
        let [low, high] = [tail, 1.0 - tail].map(percent);
        let mut header: Vec<String> = self.first_columns().collect();
        header.extend(["mean", "sd", &low, "50%", &high].map(String::from));
        if self.means.is_some() {
            header.extend([format!("mean_{low}"), format!("mean_{high}")]);
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        write(&mut csv, header.into_iter());
        for line in 0..self.num_lines() {
            let at_line = |values: &[Vec<f64>]| -> Vec<f64> {
                values.iter().map(|of_draw| of_draw[line]).collect()
            };
            let draws = at_line(&self.responses);
            let quantile_of = |probability| quantile(&draws, probability);
            let mut values = vec![
                mean(&draws),
                sd(&draws),
                quantile_of(tail),
                quantile_of(0.5),
                quantile_of(1.0 - tail),
            ];
            if let Some(means) = &self.means {
                let means = at_line(means);
                values.extend([quantile(&means, tail), quantile(&means, 1.0 - tail)]);
            }
            let values = values.into_iter();
            let values = values.map(|value| value.map_or("NA".into(), format_float));
            write(&mut csv, self.first_cells(line).chain(values));
        }
        text(csv)
    }

    /// One line for each new row, each of several responses, and each draw; the last column is the expected response, where it is
    /// known.
    pub fn long_csv(&self) -> String {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let others = ["chain", "draw", "y"].into_iter();
        let others = others.chain(self.means.as_ref().map(|_| "mean"));
        write(
            &mut csv,
            self.first_columns().chain(others.map(String::from)),
        );
        for line in 0..self.num_lines() {
            for (k, (chain, draw)) in self.draws.iter().enumerate() {
                let mut cells = vec![
                    chain.to_string(),
                    draw.to_string(),
                    format_float(self.responses[k][line]),
                ];
                let means = self.means.as_ref();
                cells.extend(means.map(|means| format_float(means[k][line])));
                write(&mut csv, self.first_cells(line).chain(cells));
            }
        }
        text(csv)
    }

    fn num_lines(&self) -> usize {
        self.responses.first().map_or(0, Vec::len)
    }

    fn num_responses(&self) -> usize {
        self.response_names.as_ref().map_or(1, Vec::len)
    }

    fn first_columns(&self) -> impl Iterator<Item = String> {
        let id = self.row_ids.as_ref().map(|_| "id".to_string());
        let response = self.response_names.as_ref();
        let response = response.map(|_| "response".to_string());
        ["row".to_string()].into_iter().chain(id).chain(response)
    }

    fn first_cells(&self, line: usize) -> impl Iterator<Item = String> {
        let (row, k) = (line / self.num_responses(), line % self.num_responses());
        let id = self.row_ids.as_ref().map(|ids| ids[row].clone());
        let response = self.response_names.as_ref().map(|names| names[k].clone());
        [(row + 1).to_string()]
            .into_iter()
            .chain(id)
            .chain(response)
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
