//! `unshuffle completions` and `unshuffle man`: what a shell and the manual know of the commands.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::Cli;
use super::failure::Failure;
use super::output::data_to_stdout;
use crate::text::{make_folder, write_whole};

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The folder to write to; without it the page of the program is printed
    folder: Option<PathBuf>,
}

pub(super) fn completions(args: CompletionsArgs) -> Result<(), Failure> {
    let shell = match args.shell.as_str() {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        _ => Shell::Fish,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "unshuffle", &mut text);
    data_to_stdout(&String::from_utf8_lossy(&text));
    Ok(())
}

pub(super) fn man(args: ManArgs) -> Result<(), Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = args.folder else {
        data_to_stdout(&page(command)?);
        return Ok(());
    };
    make_folder(&folder)?;
    for (name, command) in pages("unshuffle", command) {
        let path = folder.join(format!("{name}.1"));
        write_whole(&path, page(command)?)?;
        say!("{}", path.display());
    }
    Ok(())
}

/// A command and its subcommands, each under the name of its page.
fn pages(name: &str, command: clap::Command) -> Vec<(String, clap::Command)> {
    let own = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let subcommands = own.flat_map(|sub| {
        let name = format!("{name}-{}", sub.get_name());
        pages(&name, sub.clone())
    });
    let mut all: Vec<_> = subcommands.collect();
    all.insert(0, (name.to_string(), command));
    all
}

fn page(command: clap::Command) -> Result<String, Failure> {
    let mut text = Vec::new();
    let drawn = Man::new(command).render(&mut text);
    drawn.map_err(|error| Failure::user(format!("cannot write the page: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
