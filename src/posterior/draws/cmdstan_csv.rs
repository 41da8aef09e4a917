//! Writes one chain as CmdStan CSV while it is sampled, valid at every end: finished or interrupted.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use super::copies::copied;
use crate::sampler::hmc::warmup::Trajectory;
use crate::sampler::hmc::{Metric, MetricKind};

/// Where HMC moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// The program's own parameters.
    Theta,
    /// Coefficients of centred and scaled predictors.
    Standardised,
    /// Coefficients of orthogonal combinations of the predictors.
    Orthogonal,
}

/// What a chain's file says of itself before the first draw.
#[derive(Debug, Clone)]
pub struct ChainHeader {
    pub model: String,
    /// Dotted, as 2.35.0.
    pub stan_version: String,
    pub num_draws: usize,
    pub num_warmup: usize,
    pub thin: usize,
    pub target_accept: f64,
    pub max_depth: usize,
    pub trajectory: Trajectory,
    pub metric: MetricKind,
    /// The coordinates that step size and metric belong to.
    pub coordinates: Coordinates,
    pub seed: u64,
    pub chain: usize,
    pub data_file: String,
}

pub struct CsvWriter {
    out: BufWriter<File>,
    /// Where the digits of `num_samples` stand, to be corrected when the chain ends early.
    num_samples_at: u64,
    num_samples_width: usize,
    thin: usize,
    metric: MetricKind,
    num_draws: usize,
    num_rows: usize,
    /// Places of the columns that stand there twice.
    copied: Vec<usize>,
    /// The row that is written.
    line: String,
}

impl CsvWriter {
    pub fn create(path: &Path, header: &ChainHeader, columns: &[String]) -> io::Result<CsvWriter> {
        let (before, after) = header.comments();
        let mut out = BufWriter::new(File::create(path)?);
        write!(out, "{before}{}{after}", header.num_draws)?;
        let copied = copied(columns);
        let names = columns.iter().map(String::as_str);
        let names = names.chain(copied.iter().map(|(_, plain)| *plain));
        writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?;
        out.flush()?;
        Ok(CsvWriter {
            out,
            num_samples_at: before.len() as u64,
            num_samples_width: header.num_draws.to_string().len(),
            thin: header.thin,
            metric: header.metric,
            num_draws: header.num_draws,
            num_rows: 0,
            copied: copied.into_iter().map(|(place, _)| place).collect(),
            line: String::new(),
        })
    }

    /// Between warm-up and the first draw: what adaptation arrived at.
    pub fn adaptation(&mut self, step_size: f64, metric: &Metric) -> io::Result<()> {
        writeln!(self.out, "# Adaptation terminated")?;
        writeln!(self.out, "# Step size = {}", format_float(step_size))?;
        let (inverse, dim) = (metric.inverse(), metric.dim());
        if self.metric == MetricKind::Diagonal {
            writeln!(self.out, "# Diagonal elements of inverse mass matrix:")?;
            writeln!(self.out, "# {}", join(inverse, ", "))?;
            return self.out.flush();
        }
        writeln!(self.out, "# Elements of inverse mass matrix:")?;
        for i in 0..dim {
            // A short warm-up leaves a dense metric diagonal, but readers expect what the header announced.
            let row: Vec<f64> = match metric.kind() {
                MetricKind::Dense => inverse[i * dim..(i + 1) * dim].to_vec(),
                MetricKind::Diagonal => (0..dim)
                    .map(|j| if i == j { inverse[i] } else { 0.0 })
                    .collect(),
            };
            writeln!(self.out, "# {}", join(&row, ", "))?;
        }
        self.out.flush()
    }

    pub fn row(&mut self, values: &[f64]) -> io::Result<()> {
        self.line.clear();
        let copied = self.copied.iter().map(|place| &values[*place]);
        for (k, value) in values.iter().chain(copied).enumerate() {
            if k > 0 {
                self.line.push(',');
            }
            push_float(*value, &mut self.line);
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        self.num_rows += 1;
        Ok(())
    }

    /// A row as an earlier run of the same chain wrote it, with its newline.
    pub(super) fn written_row(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.num_rows += 1;
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes, and waits until the rows are on the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().sync_data()
    }

    /// Ends the file with these times in seconds. Readers insist on as many rows as the header promises, so an early end corrects the promise.
    pub fn finish(&mut self, warmup: f64, sampling: f64) -> io::Result<()> {
        writeln!(self.out, "# ")?;
        writeln!(self.out, "#  Elapsed Time: {warmup:.3} seconds (Warm-up)")?;
        writeln!(
            self.out,
            "#                {sampling:.3} seconds (Sampling)"
        )?;
        let total = warmup + sampling;
        writeln!(self.out, "#                {total:.3} seconds (Total)")?;
        writeln!(self.out, "# ")?;
        self.out.flush()?;
        if self.num_rows < self.num_draws.div_ceil(self.thin) {
            let width = self.num_samples_width;
            self.out.seek(SeekFrom::Start(self.num_samples_at))?;
            write!(self.out, "{:<width$}", self.num_rows * self.thin)?;
            self.out.flush()?;
        }
        Ok(())
    }
}

impl ChainHeader {
    /// The comment lines, split where the number of draws stands.
    fn comments(&self) -> (String, String) {
        let mut version = self.stan_version.split('.').chain(["0"; 3]);
        let [major, minor, patch] = std::array::from_fn(|_| version.next().unwrap_or("0"));
        let before = format!(
            "# stan_version_major = {major}\n\
             # stan_version_minor = {minor}\n\
             # stan_version_patch = {patch}\n\
             # model = {}\n\
             # unshuffle_version = {}\n\
             {}\
             # method = sample\n\
             #   sample\n\
             #     num_samples = ",
            self.model,
            env!("CARGO_PKG_VERSION"),
            match self.coordinates {
                Coordinates::Theta => "",
                Coordinates::Standardised => {
                    "# unshuffle_coordinates = standardised (step size and metric are of the coefficients of centred and scaled predictors)\n"
                }
                Coordinates::Orthogonal => {
                    "# unshuffle_coordinates = orthogonal (step size and metric are of the coefficients of orthogonal combinations of the predictors)\n"
                }
            },
        );
        let metric = match self.metric {
            MetricKind::Dense => "dense_e",
            MetricKind::Diagonal => "diag_e",
        };
        let engine = match self.trajectory {
            Trajectory::Nuts => "nuts",
            Trajectory::Static => "static",
        };
        let after = format!(
            "\n\
             #     num_warmup = {}\n\
             #     save_warmup = 0\n\
             #     thin = {}\n\
             #     adapt\n\
             #       engaged = 1\n\
             #       gamma = 0.05\n\
             #       delta = {}\n\
             #       kappa = 0.75\n\
             #       t0 = 10\n\
             #       init_buffer = 75\n\
             #       term_buffer = 50\n\
             #       window = 25\n\
             #     algorithm = hmc\n\
             #       hmc\n\
             #         engine = {engine}\n\
             #           {engine}\n\
             #             max_depth = {}\n\
             #         metric = {metric}\n\
             #         stepsize = 1\n\
             #         stepsize_jitter = 0\n\
             #     num_chains = 1\n\
             # id = {}\n\
             # data\n\
             #   file = {}\n\
             # random\n\
             #   seed = {}\n",
            self.num_warmup,
            self.thin,
            format_float(self.target_accept),
            self.max_depth,
            self.chain,
            // A comment ends with its line.
            self.data_file.replace(['\n', '\r'], " "),
            self.seed,
        );
        (before, after)
    }
}

fn join(values: &[f64], separator: &str) -> String {
    let texts: Vec<String> = values.iter().copied().map(format_float).collect();
    texts.join(separator)
}

/// The shortest digits that read back as the same number; `nan`, `inf`, `-inf` as Stan writes them.
pub fn format_float(value: f64) -> String {
    let mut text = String::new();
    push_float(value, &mut text);
    text
}

/// Sizes of numbers, besides 0, that `zmij` writes without an exponent, as Rust's slower `{:?}` does.
const PLAIN: RangeInclusive<f64> = 1e-4..=1e15;

/// Appends what `format_float` gives.
fn push_float(value: f64, text: &mut String) {
    if PLAIN.contains(&value.abs()) || value == 0.0 {
        let mut buffer = zmij::Buffer::new();
        let digits = buffer.format_finite(value);
        text.push_str(digits.strip_suffix(".0").unwrap_or(digits));
    } else if value.is_nan() {
        text.push_str("nan");
    } else if value.is_infinite() {
        text.push_str(if value > 0.0 { "inf" } else { "-inf" });
    } else {
        let digits = format!("{value:?}");
        text.push_str(digits.strip_suffix(".0").unwrap_or(&digits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signs, whole numbers and every size: the same digits as Rust's, but where two of the same length are equally near.
    #[test]
    fn floats_are_as_short_as_those_of_rust() {
        let check = |value: f64| {
            let expected = format!("{value:?}");
            let expected = expected.strip_suffix(".0").unwrap_or(&expected);
            let text = format_float(value);
            assert_eq!(text.len(), expected.len(), "{text} {expected}");
            let read: f64 = text.parse().unwrap();
            assert_eq!(read.to_bits(), value.to_bits(), "{text}");
        };
        let mut bits = 1u64;
        for k in 0..200_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let wide = f64::from_bits(bits);
            let usual = (bits >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            let sized = usual * 10f64.powi(k % 40 - 20);
            let values = [wide, usual, sized, sized.round()];
            values.into_iter().filter(|v| v.is_finite()).for_each(check);
        }
        [0.0, -0.0, 1e-4, 9.999_999_999_999_999e-5, 1e15, 1e16]
            .into_iter()
            .for_each(check);
    }

    #[test]
    fn floats_are_short_and_read_back_exactly() {
        assert_eq!(format_float(1.0), "1");
        assert_eq!(format_float(0.1 + 0.2), "0.30000000000000004");
        assert_eq!(format_float(1e-300), "1e-300");
        assert_eq!(format_float(f64::NEG_INFINITY), "-inf");
        assert_eq!(format_float(f64::NAN), "nan");
        for value in [std::f64::consts::PI, -2.5e17, 5e-324, f64::MAX] {
            assert_eq!(format_float(value).parse::<f64>().unwrap(), value);
        }
    }
}
