//! The config of a command: as an argument, loaded, and prepared with its data and its compiled program.

use std::path::PathBuf;

use clap::Args;

use super::ToolchainArgs;
use super::failure::Failure;
use super::progress::BuildProgress;
use super::slurm::{bridgestan_words, config_words};
use crate::config::{self, Config};
use crate::data::{Codes, LabelNotes, LinkageNotes, Notes, Places};
use crate::fit::{Prepared, prepare_with, read_data};
use crate::model::stan::{BuildObserver, Compiler, StanError};

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    pub file: ConfigFileArgs,
    #[command(flatten)]
    pub toolchain: ToolchainArgs,
}

#[derive(Debug, Args)]
pub(super) struct ConfigFileArgs {
    /// The JSON config
    pub config: PathBuf,
    /// Override one entry of the config, for example --set sampler.draws=500
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl ConfigArgs {
    pub fn load(&self) -> Result<Config, Failure> {
        Ok(config::load(&self.file.config, &self.file.settings)?)
    }

    /// The arguments that name the same config in every folder.
    pub fn words(&self) -> Vec<String> {
        let config = config_words(&self.file.config, &self.file.settings).into_iter();
        let toolchain = bridgestan_words(self.toolchain.bridgestan());
        config.chain(toolchain).collect()
    }

    /// Reads the data, compiles the program, and builds the model.
    pub fn prepare(&self, config: Config) -> Result<Prepared, Failure> {
        let data = read_data(&config)?;
        let observer = BuildProgress::new();
        let compiler = self.toolchain.compiler(&observer)?;
        Ok(prepare_with(config, data, &compiler)?)
    }
}

impl ToolchainArgs {
    /// The compiler that the arguments ask for, with its toolchain fetched when it is not there yet.
    pub fn compiler<'a>(&self, observer: &'a dyn BuildObserver) -> Result<Compiler<'a>, StanError> {
        Compiler::find(self.bridgestan(), observer, self.jobs)
    }
}

/// What happened to the user's files on the way to the data set, and which links are possible.
pub(super) fn what_was_done(prepared: &Prepared) -> Vec<String> {
    let (data, space) = (&prepared.data, prepared.prior.space());
    let Notes {
        references,
        num_dropped,
        missing,
        num_unlinked,
        linkage,
        codes,
    } = &data.notes;
    let mut lines = Vec::new();
    if !references.is_empty() {
        let levels = references.iter();
        let levels: Vec<String> = levels
            .map(|reference| format!("{}[{}]", reference.column, reference.level))
            .collect();
        lines.push(format!("levels   compared with {}", levels.join(", ")));
    }
    for Codes { entry, levels } in codes {
        const MOST_SHOWN: usize = 6;
        let shown = levels.iter().take(MOST_SHOWN).enumerate();
        let shown: Vec<String> = shown
            .map(|(k, level)| format!("{} = {level}", k + 1))
            .collect();
        let rest = if levels.len() > MOST_SHOWN {
            ", ..."
        } else {
            ""
        };
        let (num_levels, shown) = (levels.len(), shown.join(", "));
        lines.push(format!(
            "codes    {entry}: {num_levels} levels, {shown}{rest}"
        ));
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
    if let Some(linkage) = linkage {
        lines.extend(how_linked(linkage));
    }
    if *num_unlinked > 0 {
        lines.push(format!(
            "unlinked {num_unlinked} {} of the right file that no row of the left one is linked to",
            plural(*num_unlinked)
        ));
    }
    if let Some(places) = &data.places {
        lines.extend(places_in_words(places));
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
    if let Some(rates) = &data.rates {
        lines.push(format!(
            "rates    of wrong links depend on {}",
            rates.names[1..].join(", ")
        ));
    }
    if prepared.outside.is_some() {
        lines.push(format!(
            "outside  the responses of {} of {} rows may belong to nobody in the file",
            prepared.num_movable(),
            space.num_rows()
        ));
        if prepared.config.permutation.outside_for_unlinked.is_some() {
            lines.push("         since records of these files are linked to nobody; \"outside\": false in permutation rules it out".into());
        }
    }
    lines
}

/// How many unlinked rows are places, and why others are not.
fn places_in_words(places: &Places) -> Vec<String> {
    let number = places.len();
    let are = if number == 1 {
        "is a place"
    } else {
        "are places"
    };
    let mut lines = vec![format!(
        "places   {number} unlinked {} {are} where a response may belong",
        plural(number)
    )];
    for (number, why) in [
        (places.num_missing, "lacking a value"),
        (places.num_apart, "in blocks without a linked row"),
    ] {
        if number > 0 {
            let rows = plural(number);
            lines.push(format!("         {number} unlinked {rows} {why} left out"));
        }
    }
    lines
}

/// How links were picked from the pairs of a linkage program.
pub(super) fn how_linked(notes: &LinkageNotes) -> Vec<String> {
    let mut lines = vec![format!(
        "linkage  {} one-to-one links from {} pairs",
        notes.num_links, notes.num_pairs
    )];
    if let Some([lowest, mean, highest]) = notes.probability {
        lines[0] += &format!(
            "; a link is right with probability {lowest:.3} to {highest:.3}, on average {mean:.3}"
        );
    }
    if notes.num_inside > 0 {
        let num_inside = notes.num_inside;
        lines.push(format!(
            "         {num_inside} pairs of two records of one file were left out"
        ));
    }
    if notes.num_left_out > 0 {
        lines.push(format!(
            "         {} {} of the left file without a link left out",
            notes.num_left_out,
            plural(notes.num_left_out)
        ));
    }
    if let Some(labels) = &notes.labels {
        let LabelNotes {
            num_right,
            num_wrong,
            num_undecided,
            checked,
            wrong,
        } = labels;
        lines.push(format!(
            "labels   {num_right} right pairs are safe links, {num_wrong} wrong ones are excluded, {num_undecided} \
             undecided ones were not used"
        ));
        if *checked > 0 {
            lines.push(format!(
                "audit    {wrong} of {checked} links that were picked without the labels are wrong by them"
            ));
        }
    }
    lines
}

/// Draws that would fill the memory and the disk of most machines.
pub(super) fn warn_of_size(prepared: &Prepared) {
    const LARGE: f64 = 4e9;
    let sampler = &prepared.config.sampler;
    let num_draws = sampler.chains as f64 * sampler.draws.div_ceil(sampler.thin) as f64;
    // Twelve columns are of the sampler; a number takes 8 bytes in memory, and about twice that in a file.
    let bytes = 8.0 * num_draws * (prepared.model.output_names().len() + 12) as f64;
    if bytes > LARGE {
        note!(
            "warning: the draws will take about {:.0} GB of memory and {:.0} GB of disk; lower sampler.draws, or raise sampler.thin",
            bytes / 1e9,
            2.0 * bytes / 1e9
        );
    }
}

/// Links that the config cannot find, though it asks for them.
pub(super) fn warn_of_unreachable_links(prepared: &Prepared) {
    let update = prepared.config.permutation.update;
    let has_candidates = prepared.data.candidates.is_some();
    if update != config::Update::None && prepared.num_movable() == 0 {
        let why = if has_candidates {
            "in data.candidates the row whose place is taken must have a candidate too, until the circle closes; pairs of different blocks, or with a safe row, do not count"
        } else {
            "every row is safe, certain by its match probability, or alone in its block"
        };
        note!("warning: no row can be linked elsewhere, so every link stays: {why}");
    } else if has_candidates && matches!(update, config::Update::Checkerboard { .. }) {
        // They may allow a cycle of three rows where they allow none of two.
        note!(
            "warning: data.candidates may allow links that swaps of two rows cannot reach; permutation.update {{\"name\": \"active_set\"}} reaches all of them"
        );
    }
}

pub(super) fn plural(num_rows: usize) -> &'static str {
    if num_rows == 1 { "row" } else { "rows" }
}
