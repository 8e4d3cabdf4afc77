//! From the arguments to the exit code.

use std::path::Path;
use std::process::ExitCode;

use super::args::{BenchArgs, Command, CommonArgs, SuiteArgs};
use super::details::details;
use super::progress::Terminal;
use super::table::table;
use crate::LoadError;
use crate::html::run_page;
use crate::process::{read_text, write_text};
use crate::result::RunResult;
use crate::scenario::{BUILTIN, Build, Delivery, Line, Scenario, Target, builtin};

/// Exit code of a run whose verification found fault.
const NOT_PROVEN: u8 = 2;

/// Does what the arguments say against the brokers of `bootstrap`. 0: done; 1: failed, or a line failed; 2: verification
/// found fault. With `json`, the result goes to standard output as JSON instead of text.
pub fn execute(bootstrap: &str, args: &BenchArgs, json: bool) -> ExitCode {
    let outcome = match &args.command {
        None => run(bootstrap, &args.run.common, args.run.scenario(), json),
        Some(Command::Run(args)) => run(bootstrap, &args.common, args.scenario(), json),
        Some(Command::Suite(args)) if args.list => {
            list();
            return ExitCode::SUCCESS;
        }
        Some(Command::Suite(args)) => {
            suite(args).and_then(|scenario| run(bootstrap, &args.common, scenario, json))
        }
        Some(Command::Tool(tool)) => return exit(tool.run()),
        Some(Command::Sink(args)) => {
            return exit(crate::sink::serve(args.listen, args.partitions));
        }
    };
    match outcome {
        Ok(result) if result.is_faulty() => ExitCode::from(NOT_PROVEN),
        Ok(result) if result.has_failed() => ExitCode::FAILURE,
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn exit(outcome: Result<(), LoadError>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &LoadError) -> ExitCode {
    eprintln!("loadgen: {error}");
    if let LoadError::Client(client::ClientError::Connect { .. }) = error {
        eprintln!("  Is a broker running there? Name another with --bootstrap-server HOST:PORT.");
    }
    ExitCode::FAILURE
}

fn run(bootstrap: &str, common: &CommonArgs, scenario: Scenario, json: bool) -> Result<RunResult, LoadError> {
    let target = Target {
        name: common.target_name.clone().unwrap_or_else(|| bootstrap.to_owned()),
        shards: common.shards,
        ..Target::new(bootstrap)
    };
    let result = crate::run_observed(&scenario, &target, &mut Terminal::new(common.quiet))?;
    let document =
        || serde_json::to_string_pretty(&result).map_err(|error| LoadError::Stopped(error.to_string()));
    let to_stdout = json || common.json.as_deref() == Some(Path::new("-"));
    if to_stdout {
        println!("{}", document()?);
    } else if let [line] = &result.lines[..] {
        print!("{}", details(line));
    } else {
        print!("{}", table(&result));
    }
    if let Some(path) = common.json.as_deref().filter(|path| *path != Path::new("-")) {
        write_text(
            path,
            &(document()?
                + "
"),
        )?;
    }
    if let Some(path) = &common.html {
        write_text(path, &run_page(&result))?;
    }
    Ok(result)
}

/// The scenario that was asked for.
fn suite(args: &SuiteArgs) -> Result<Scenario, LoadError> {
    let name = args.suite.as_deref().unwrap_or_default();
    let is_file = name.contains('/') || name.ends_with(".toml");
    let scenario = if is_file { Scenario::parse(&read_text(Path::new(name))?)? } else { builtin(name)? };
    let mut scenario = scenario.scaled(args.scale);
    if let Some(part) = &args.line {
        scenario = scenario.filtered(part)?;
    }
    if let Some(delivery) = args.verify {
        scenario.lines.iter_mut().for_each(|line| verify(line, delivery));
    }
    Ok(scenario)
}

/// Asks a line to verify, if it could.
fn verify(line: &mut Line, delivery: Delivery) {
    let wanted = Line { verify: Some(delivery), ..line.clone() };
    let can = line.produce.as_ref().is_some_and(|produce| produce.build == Build::Records);
    if can && Scenario::of_line(wanted.clone()).check().is_ok() {
        *line = wanted;
    }
}

fn list() {
    for (name, _) in BUILTIN {
        // Those that come along are sound; a test says so.
        let Ok(scenario) = builtin(name) else { continue };
        println!("{name:12}{}", scenario.about);
        scenario.lines.iter().for_each(|line| println!("            - {}", line.name));
    }
}
