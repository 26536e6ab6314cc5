//! `lunas completions` and `lunas man`: what shells and `man` know about this program, made from its command line.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Command, ValueEnum};
use clap_complete::aot::{self, generate};

use crate::{error::CliError, output};

const PROGRAM: &str = "lunas";

#[derive(Args)]
pub(crate) struct CompletionsOptions {
    /// The shell.
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Args)]
pub(crate) struct ManOptions {
    /// The directory to write them to, one file for each command. It is created if it is missing.
    directory: PathBuf,
}

/// Prints a script that completes the commands and flags of `command` in a shell.
pub(crate) fn completions(options: &CompletionsOptions, mut command: Command) -> Result<(), CliError> {
    let mut script = Vec::new();
    let shell = match options.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    generate(shell, &mut command, PROGRAM, &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Writes the manual pages of `command` and of all its commands.
pub(crate) fn man(options: &ManOptions, command: Command) -> Result<(), CliError> {
    let directory = options.directory.as_path();
    write_pages(directory, command).map_err(|error| CliError::file("write manual pages to", directory, &error))
}

fn write_pages(directory: &Path, command: Command) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    clap_mangen::generate_to(command, directory)
}
