//! From the arguments to the exit code.

use std::process::ExitCode;

use clap::Parser;

use super::args::Command;
use super::error::CliError;
use super::session::Session;
use super::{
    Cli, ServeArgs, bench, check, cluster, completions, config, consume, group, log, man, placement, produce,
    topic, tune,
};

/// Parses the process's arguments and does what they say; `serve` runs a broker. Exit codes: 0 done, 1
/// failed (`log`: something is damaged), 2 wrong usage (`bench`: verification found fault), 78 (`serve` only) wrong config.
pub fn run(serve: impl FnOnce(ServeArgs) -> ExitCode) -> ExitCode {
    let Cli { global, command } = Cli::parse();
    let done = |()| ExitCode::SUCCESS;
    let session = || Session::open(&global);
    let outcome = match command {
        Command::Serve(args) => return serve(args),
        Command::Topic(command) => session().and_then(|session| topic::run(session, command)).map(done),
        Command::Produce(args) => session().and_then(|session| produce::run(session, &args)).map(done),
        Command::Consume(args) => session().and_then(|session| consume::run(session, &args)).map(done),
        Command::Group(command) => session().and_then(|session| group::run(session, command)).map(done),
        Command::Config(command) => config::run(&global, command).map(done),
        Command::Cluster(command) => session().and_then(|session| cluster::run(session, command)).map(done),
        Command::Placement(command) => placement::run(global.output, &command).map(done),
        Command::Log(command) => log::run(global.output, command),
        Command::Check(args) => check::run(global.output, &args),
        Command::Tune(args) => tune::run(global.output, &args),
        Command::Completions(args) => completions::run(&args).map(done),
        Command::Man(args) => man::run(&args).map(done),
        Command::Bench(args) => return bench::run(&global, &args),
    };
    match outcome {
        Ok(code) => code,
        // Whoever read the output has had enough: `ringlog consume | head`.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

fn report(error: &CliError) -> ExitCode {
    eprintln!("ringlog: {error}");
    if let Some(hint) = error.hint() {
        eprintln!("  {hint}");
    }
    error.exit_code()
}
