//! The comparison from beginning to end.

use super::measure::{Rounds, assemble};
use super::schedule::order;
use super::start::Starter;
use super::target::tell_apart;
use super::{CompareArgs, Comparison, Machine, TargetFacts, TargetSpec};
use crate::peer::{target_dir, warm_up};
use crate::process::{BrokerWatch, HostError, counting_refused, read_text, write_text};
use crate::result::{LineResult, Outcome, RunResult};
use crate::scenario::{Scenario, Target, builtin};
use crate::{LoadError, Observer, html, run_observed};

/// Runs both targets through the suite, round by round, and writes what was asked for.
///
/// # Errors
/// A target can't be had or started, or a broker that was started ended by itself. Whatever was started is
/// stopped, and its data are removed.
pub fn compare(args: &CompareArgs) -> Result<Comparison, LoadError> {
    let mut scenario = scenario(args)?;
    let specs = targets(args)?;
    let starters = [Starter::new(&specs[0], args)?, Starter::new(&specs[1], args)?];
    let syscalls_not_counted =
        if args.no_syscalls { Some("it wasn't asked for".into()) } else { counting_refused() };
    let mut rounds: [Rounds; 2] = Default::default();
    for round in 0..args.rounds {
        for side in order(round) {
            let what = format!("round {} of {}, {}", round + 1, args.rounds, starters[side].name);
            let lines = one_side(&starters[side], &scenario, &what, false)?.lines;
            // The first run decides, whatever later ones reach.
            if rounds.iter().all(Vec::is_empty) {
                scenario.settle_rates(&lines);
            }
            rounds[side].push(lines);
        }
    }
    let mut counted: [Vec<LineResult>; 2] = Default::default();
    if syscalls_not_counted.is_none() {
        for (side, starter) in starters.iter().enumerate() {
            let what = format!("counting system calls, {}", starter.name);
            counted[side] = one_side(starter, &without_warm_up(&scenario), &what, true)?.lines;
        }
    }
    let data_dir = args.work_dir.clone().map_or_else(target_dir, Ok)?;
    let comparison = Comparison {
        suite: scenario.name.clone(),
        scale: args.scale.to_string(),
        rounds: args.rounds,
        command: std::env::args().map(quoted).collect::<Vec<_>>().join(" "),
        machine: Machine::here(&data_dir),
        targets: starters.each_ref().map(facts),
        lines: assemble(&rounds, &counted),
        syscalls_not_counted,
    };
    write(args, &comparison)?;
    Ok(comparison)
}

/// An argument as a shell takes it back.
fn quoted(argument: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

fn scenario(args: &CompareArgs) -> Result<Scenario, LoadError> {
    let scenario = if args.suite.ends_with(".toml") {
        Scenario::parse(&read_text(args.suite.as_ref())?)?
    } else {
        builtin(&args.suite)?
    };
    let scenario = scenario.scaled(args.scale);
    match &args.only {
        Some(part) => scenario.filtered(part),
        None => Ok(scenario),
    }
}

fn targets(args: &CompareArgs) -> Result<[TargetSpec; 2], LoadError> {
    let both = match &args.targets[..] {
        [] => ["kafka", "ringlog"].map(str::parse::<TargetSpec>),
        [a, b] => [Ok(a.clone()), Ok(b.clone())],
        _ => return Err(LoadError::Usage("two targets are compared".into())),
    };
    let [a, b] = both;
    Ok(tell_apart([a.map_err(LoadError::Usage)?, b.map_err(LoadError::Usage)?]))
}

fn facts(starter: &Starter) -> TargetFacts {
    TargetFacts { name: starter.name.clone(), what: starter.describe() }
}

/// For counting: nothing is timed, and all that is done is counted.
fn without_warm_up(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.lines.iter_mut().for_each(|line| line.warmup_s = 0.0);
    scenario
}

/// One round of one side: a fresh broker, warmed, through all lines, and gone again.
fn one_side(
    starter: &Starter,
    scenario: &Scenario,
    what: &str,
    count_syscalls: bool,
) -> Result<RunResult, LoadError> {
    eprintln!("{what}: starting");
    let mut running = starter.start()?;
    warm_up(&running.bootstrap)?;
    let mut shown = Shown { what };
    let target = Target { name: starter.name.clone(), ..Target::new(&running.bootstrap) };
    let result = match running.pid {
        Some(pid) => {
            let mut watch = BrokerWatch::new(pid, count_syscalls, &mut shown);
            run_observed(scenario, &target, &mut watch)?
        }
        None => run_observed(scenario, &target, &mut shown)?,
    };
    running.check()?;
    if !running.stop() {
        eprintln!("{what}: the broker had to be killed");
    }
    Ok(result)
}

fn write(args: &CompareArgs, comparison: &Comparison) -> Result<(), HostError> {
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(comparison);
        let text = text.map_err(|error| HostError::io(path.display().to_string(), error.into()))?;
        write_text(path, &text)?;
    }
    if let Some(path) = &args.html {
        write_text(path, &html::comparison_page(comparison))?;
    }
    Ok(())
}

/// Says on stderr how far it is: a comparison takes its time.
struct Shown<'a> {
    what: &'a str,
}

impl Observer for Shown<'_> {
    fn line_ended(&mut self, line: &LineResult) {
        let outcome = match &line.outcome {
            Outcome::Done => format!("{} msg/s", super::figure(line.records_per_s())),
            Outcome::NotRun { why } => format!("not run: {why}"),
            Outcome::Failed { why } => format!("failed: {why}"),
        };
        eprintln!("{}: {}: {outcome}", self.what, line.name);
    }
}
