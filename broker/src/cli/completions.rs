//! `ringlog completions`: what a shell needs to complete command lines.

use std::io::Write;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};

use super::Cli;
use super::error::CliError;

/// Options of `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: ShellArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ShellArg {
    /// To be sourced, or put into /usr/share/bash-completion/completions/ringlog
    Bash,
    /// To be put as _ringlog into a directory of $fpath
    Zsh,
    /// To be put into ~/.config/fish/completions/ringlog.fish
    Fish,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<(), CliError> {
    Ok(std::io::stdout().lock().write_all(&script(args.shell))?)
}

/// The whole script.
pub(super) fn script(shell: ShellArg) -> Vec<u8> {
    let shell = match shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    generate(shell, &mut command, name, &mut script);
    script
}
