//! `unshuffle fit` and `unshuffle check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::failure::Failure;
use super::progress::{BuildProgress, ChainProgress};
use super::{ToolchainArgs, default_threads, saved};
use crate::baseline::Baseline;
use crate::baseline::compare;
use crate::config;
use crate::data::Notes;
use crate::fit::{Prepared, check_output, prepare_with, read_data};
use crate::model::stan::{BuildObserver, Cache, Compiler, StanError, Toolchain};
use crate::posterior::diagnostics::Finding;
use crate::priors::PriorsUsed;
use crate::report;

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// The JSON config
    pub config: PathBuf,
    /// Override one entry of the config, for example --set sampler.draws=500
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
}

#[derive(Debug, Args)]
pub(super) struct FitArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Replace the fit that is already in the output folder
    #[arg(long)]
    force: bool,
    /// End with exit code 1 when the diagnostics find a problem
    #[arg(long)]
    strict: bool,
    /// Chains at once; draws do not depend on it
    #[arg(long, value_name = "N", default_value_t = default_threads())]
    threads: usize,
    /// The truth.json of simulated data, to print beside the estimates
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Put Huber's estimator, a mixture over the rows and a known rate of wrong links beside the estimates, and save them as baselines.csv
    #[arg(long)]
    compare: bool,
    /// No progress and no table
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

/// The compiler that the arguments ask for, with its toolchain fetched when it is not there yet.
pub(super) fn compiler<'a>(
    args: &ToolchainArgs,
    observer: &'a dyn BuildObserver,
) -> Result<Compiler<'a>, StanError> {
    let cache = Cache::locate()?;
    let toolchain = Toolchain::find_or_fetch(args.bridgestan(), &cache, observer)?;
    Compiler::new(toolchain, cache, observer, args.jobs)
}

fn prepare_from(args: &ConfigArgs, config: config::Config) -> Result<Prepared, Failure> {
    let data = read_data(&config)?;
    let observer = BuildProgress::new();
    let compiler = compiler(&args.toolchain, &observer)?;
    Ok(prepare_with(config, data, &compiler)?)
}

pub(super) fn load(args: &ConfigArgs) -> Result<config::Config, Failure> {
    Ok(config::load(&args.config, &args.settings)?)
}

pub(super) fn check(args: CheckArgs) -> Result<(), Failure> {
    let prepared = prepare_from(&args.config, load(&args.config)?)?;
    let data = &prepared.data;
    println!("config   {}", args.config.config.display());
    let files: Vec<String> = prepared
        .config
        .data
        .row_files()
        .into_iter()
        .map(tidy)
        .collect();
    println!(
        "data     {}: {} rows, {} columns of X ({})",
        files.join(" and "),
        data.num_rows(),
        data.x.ncols(),
        data.predictor_names.join(", ")
    );
    for line in what_was_done(&prepared) {
        println!("{line}");
    }
    let links = &prepared.config.permutation;
    if let Some(rate) = links
        .prior
        .rate()
        .filter(|_| links.update != config::Update::None)
    {
        println!("prior    {rate}");
    }
    println!(
        "model    {}: {} parameters to sample, {} saved quantities",
        prepared.model.label(),
        prepared.model.dim(),
        prepared.model.output_names().len()
    );
    print_priors(&prepared.priors);
    warn_of_unreachable_links(&prepared);
    println!("stan     {}", prepared.toolchain);
    println!("output   {}", tidy(&prepared.config.output));
    println!("Everything is ready to fit.");
    Ok(())
}

fn print_priors(priors: &PriorsUsed) {
    let mut words = priors.words();
    if priors.program.is_none() {
        words.insert(0, format!("{}:", priors.source()));
    }
    for (k, line) in words.iter().enumerate() {
        let key = if k == 0 { "priors" } else { "" };
        println!("{key:9}{line}");
    }
}

/// What happened to the user's files on the way to the data set, and which links are possible.
fn what_was_done(prepared: &Prepared) -> Vec<String> {
    let (data, space) = (&prepared.data, prepared.prior.space());
    let Notes {
        references,
        num_dropped,
        missing,
        num_unlinked,
    } = &data.notes;
    let mut lines = Vec::new();
    if !references.is_empty() {
        let levels = references.iter();
        let levels: Vec<String> = levels
            .map(|reference| format!("{}[{}]", reference.column, reference.level))
            .collect();
        lines.push(format!("levels   compared with {}", levels.join(", ")));
    }
    if *num_dropped > 0 {
        let columns = missing.iter();
        let columns: Vec<String> = columns.map(|(name, n)| format!("{name} ({n})")).collect();
        lines.push(format!(
            "dropped  {num_dropped} {} with missing values: {}",
            plural(*num_dropped),
            columns.join(", ")
        ));
    }
    if *num_unlinked > 0 {
        lines.push(format!(
            "unlinked {num_unlinked} {} of the right file that no row of the left one is linked to",
            plural(*num_unlinked)
        ));
    }
    if let Some(candidates) = &data.candidates {
        lines.push(format!(
            "pairs    {} candidates for other links",
            candidates.len()
        ));
    }
    if !space.is_free() {
        let num_groups = space.num_groups();
        lines.push(format!(
            "links    {} of {} rows can move, in {num_groups} {}",
            space.num_movable(),
            space.num_rows(),
            if num_groups == 1 { "group" } else { "groups" }
        ));
    }
    lines
}

/// Links that the config cannot find, though it asks for them.
fn warn_of_unreachable_links(prepared: &Prepared) {
    let update = prepared.config.permutation.update;
    let has_candidates = prepared.data.candidates.is_some();
    if update != config::Update::None && prepared.prior.space().num_movable() == 0 {
        let why = if has_candidates {
            "in data.candidates the row whose place is taken must have a candidate too, until the circle closes"
        } else {
            "every row is safe or alone in its block"
        };
        eprintln!("warning: no row can be linked elsewhere, so every link stays: {why}");
    } else if has_candidates && matches!(update, config::Update::Checkerboard { .. }) {
        // They may allow a cycle of three rows where they allow none of two.
        eprintln!(
            "warning: data.candidates may allow links that swaps of two rows cannot reach; permutation.update {{\"name\": \"active_set\"}} reaches all of them"
        );
    }
}

fn plural(num_rows: usize) -> &'static str {
    if num_rows == 1 { "row" } else { "rows" }
}

pub(super) fn fit(args: FitArgs) -> Result<(), Failure> {
    let config = load(&args.config)?;
    let truth = args.truth.as_deref().map(compare::read_truth).transpose()?;
    check_output(&config.output, args.force)?;
    let prepared = prepare_from(&args.config, config)?;
    warn_of_unreachable_links(&prepared);
    if !args.quiet {
        what_was_done(&prepared)
            .iter()
            .for_each(|line| eprintln!("{line}"));
    }
    let is_real = prepared.config.model.response_kind() == config::ResponseKind::Real;
    let known_rate = compare::KnownRateBaseline::new(
        &prepared.config,
        &prepared.data,
        prepared.prior.space(),
        prepared.model.output_names(),
    );
    let known_rates = match &known_rate {
        Some(known_rate) if args.compare => known_rate.estimates(),
        _ => Vec::new(),
    };
    if args.compare && !is_real && known_rates.is_empty() {
        eprintln!(
            "warning: --compare finds nothing to compare: least squares and its like estimate differences of means, not the coefficients of {}; leave --compare out",
            prepared.model.label()
        );
    }
    let has_beta = compare::has_coefficients(&prepared.data, prepared.model.output_names());
    let comparable = is_real && has_beta;
    if args.compare && !has_beta {
        eprintln!(
            "warning: --compare finds nothing to compare: {} has no `vector[D] beta` with one entry for each of the {} columns of X; rename its coefficients so, or leave --compare out",
            prepared.model.label(),
            prepared.data.x.ncols()
        );
    }
    let stop = stop_on_interrupt("Stopping after the current iteration");
    let progress = ChainProgress::new(prepared.config.sampler.chains, args.quiet);
    let mut fitted = prepared.fit(args.threads, &stop, &progress)?;
    progress.finish();
    let methods = if comparable {
        baselines(&prepared.config, args.compare)
    } else {
        Vec::new()
    };
    let mut baselines = compare::baselines(&prepared.data, &methods);
    baselines.extend(known_rates);
    if let Some(known_rate) = &known_rate {
        compare::write_known_rate(&prepared.config.output, &known_rate.curve())?;
    }
    if comparable || !baselines.is_empty() {
        compare::write_baselines(&prepared.config.output, &baselines)?;
    }
    let judgement = prepared.judge(&fitted, args.threads, &stop)?;
    let contradiction = judgement.and_then(|judgement| judgement.trust.finding());
    fitted.findings.extend(contradiction);
    let report = if fitted.summary.is_empty() {
        None
    } else {
        prepared.save_predictive(&fitted)?;
        Some(report::write(&prepared.config.output)?)
    };
    if !args.quiet && !fitted.summary.is_empty() {
        saved::print_summary(&fitted.summary);
        println!();
        saved::print_findings(&fitted.findings);
        println!();
        saved::print_verdict(&prepared.config.output);
        if let Some(all) = compare::beside_fit(baselines, &fitted.summary, truth.as_ref()) {
            saved::print_comparison(&all);
            println!();
        }
    }
    let output = tidy(&prepared.config.output);
    if fitted.interrupted {
        let num_draws: usize = fitted.outcomes.iter().map(|chain| chain.num_draws).sum();
        eprintln!("Interrupted: the {num_draws} draws so far are in {output}");
        return Err(Failure::interrupted());
    }
    println!("Sampled in {:.1} s. Results: {output}", fitted.seconds);
    if let Some(report) = report {
        println!("Report: {}", tidy(&report));
    }
    if args.strict && fitted.findings.iter().any(Finding::is_problem) {
        return Err(Failure::diagnostics());
    }
    Ok(())
}

/// What to set the fit against. Where it is of a quantile, the estimators of means are set beside one of that quantile.
fn baselines(config: &config::Config, compare: bool) -> Vec<Baseline> {
    let mut methods = vec![Baseline::LeastSquares];
    if compare {
        methods.extend([Baseline::Huber, Baseline::Mixture]);
        if let config::Family::AsymmetricLaplace { tau } = config.model.family() {
            methods.push(Baseline::Quantile { tau });
        }
    }
    methods
}

/// A path as a person would type it from here.
pub(super) fn tidy(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let relative = here
        .ok()
        .and_then(|here| real.strip_prefix(here).ok().map(PathBuf::from));
    relative.unwrap_or(real).display().to_string()
}

/// The first Ctrl-C asks the chains to finish their iteration; a second one ends the program at once.
pub(super) fn stop_on_interrupt(words: &'static str) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let handle = Arc::clone(&stop);
    let set = ctrlc::set_handler(move || {
        if handle.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("{words}; press Ctrl-C again to stop at once.");
    });
    if let Err(error) = set {
        eprintln!(
            "warning: Ctrl-C will lose the draws, since its handler could not be set: {error}"
        );
    }
    stop
}
