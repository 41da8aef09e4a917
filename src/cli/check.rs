//! `unshuffle check`: everything that `fit` does before sampling.

use clap::Args;

use super::config_args::{ConfigArgs, warn_of_size, warn_of_unreachable_links, what_was_done};
use super::failure::Failure;
use super::terminal::tidy;
use crate::config;
use crate::fit::{Existing, Prepared, check_output, check_writable};
use crate::posterior::Folder;
use crate::priors::PriorsUsed;

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

pub(super) fn check(args: CheckArgs) -> Result<(), Failure> {
    let config = args.config.load()?;
    check_writable(&Folder::new(&config.output))?;
    let prepared = args.config.prepare(config)?;
    let data = &prepared.data;
    say!("config   {}", args.config.file.config.display());
    let files: Vec<String> = prepared
        .config
        .data
        .row_files()
        .into_iter()
        .map(tidy)
        .collect();
    say!(
        "data     {}: {} rows, {} columns of X ({})",
        files.join(" and "),
        data.num_rows(),
        data.x.ncols(),
        data.predictor_names.join(", ")
    );
    for line in what_was_done(&prepared) {
        say!("{line}");
    }
    if data.offset.is_some() {
        let typed = prepared.config.data.offset.as_deref();
        let name = typed.unwrap_or("that of the formula");
        say!("offset   {name} (stays with the predictors)");
    }
    if let Some(words) = weights_in_words(&prepared) {
        say!("weights  {words}");
    }
    for line in rates_in_words(&prepared) {
        say!("prior    {line}");
    }
    say!(
        "model    {}: {} parameters to sample, {} saved quantities",
        prepared.model.label(),
        prepared.model.dim(),
        prepared.model.output_names().len()
    );
    print_priors(&prepared.priors);
    warn_of_unreachable_links(&prepared);
    warn_of_size(&prepared);
    prepared.check_room()?;
    say!("stan     {}", prepared.program.toolchain);
    say!("output   {}", tidy(&prepared.config.output));
    match check_output(&Folder::new(&prepared.config.output), Existing::Refuse) {
        Ok(()) => say!("Everything is ready to fit."),
        Err(occupied) => say!("Everything else is ready to fit, but {occupied}"),
    }
    Ok(())
}

/// The prior of the rate of wrong links, or of each block's.
fn rates_in_words(prepared: &Prepared) -> Vec<String> {
    let links = &prepared.config.permutation;
    if links.update == config::Update::None {
        return Vec::new();
    }
    let labels = prepared.data.blocks.as_ref();
    let labels = labels.map_or(&[][..], |blocks| &blocks.labels);
    match links.block_rates(labels) {
        None => links.prior.rate().iter().map(|r| r.to_string()).collect(),
        Some(rates) => labels
            .iter()
            .zip(rates)
            .map(|(label, rate)| format!("{label}: {rate}"))
            .collect(),
    }
}

/// The survey weights: their column, what they stay with, and how many rows they count for.
fn weights_in_words(prepared: &Prepared) -> Option<String> {
    let asked = prepared.config.data.weights.as_ref()?;
    let Some(weights) = &prepared.data.weights else {
        return Some(format!("{}: every row counts once", asked.column));
    };
    Some(format!(
        "{} ({}); the {} rows count as {:.1}",
        asked.column,
        weights.side(),
        prepared.data.num_rows(),
        weights.sum()
    ))
}

fn print_priors(priors: &PriorsUsed) {
    let mut words = priors.words();
    if priors.program.is_none() {
        words.insert(0, format!("{}:", priors.source()));
    }
    for (k, line) in words.iter().enumerate() {
        let key = if k == 0 { "priors" } else { "" };
        say!("{key:9}{line}");
    }
}
