//! `unshuffle pool`: Rubin's rules on the estimates of completed data sets.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::output::to_stdout;
use super::terminal::{level, write_table};
use crate::after::pool::{Pooled, pool_file, pooled_csv};
use crate::text::{number_on_scale, percent};

#[derive(Debug, Args)]
pub(super) struct PoolArgs {
    /// A CSV file with columns set, name, estimate and standard_error (or variance), and perhaps df_complete
    file: PathBuf,
    /// Also write the pooled estimates to this CSV file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Probability of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = level)]
    level: f64,
    /// Replace the file of --output
    #[arg(long)]
    force: bool,
}

pub(super) fn pool(args: PoolArgs) -> Result<(), Failure> {
    let pooled = pool_file(&args.file, args.level)?;
    if let Some(path) = &args.output {
        write_table(
            path,
            &pooled_csv(&pooled, args.level),
            &[&args.file],
            args.force,
        )?;
    }
    to_stdout(&table(&pooled, args.level));
    Ok(())
}

fn table(pooled: &[Pooled], level: f64) -> String {
    let tail = 0.5 * (1.0 - level);
    let [low, high] = [tail, 1.0 - tail].map(percent);
    let names = pooled.iter().map(|pooled| pooled.name.chars().count());
    let width = names.max().unwrap_or(0).max(4);
    let mut text = format!(
        "{:width$}  {:>11}  {:>11}  {:>8}  {:>11}  {:>11}  {:>12}  {:>12}\n",
        "", "Estimate", "StdError", "df", low, high, "Missing info", "Var increase"
    );
    for p in pooled {
        let df = if p.df.is_finite() {
            format!("{:.1}", p.df)
        } else {
            "inf".into()
        };
        let [low, high] = p.interval;
        let scale = p.estimate.abs().max(p.standard_error);
        let [estimate, error, low, high] =
            [p.estimate, p.standard_error, low, high].map(|value| number_on_scale(value, scale, 5));
        text += &format!(
            "{:width$}  {estimate:>11}  {error:>11}  {df:>8}  {low:>11}  {high:>11}  {:>12.4}  {:>12.4}\n",
            p.name, p.fraction_missing, p.relative_increase
        );
    }
    text
}
