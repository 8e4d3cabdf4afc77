//! `ringlog placement balance`.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use super::balance_plan::{BUSY_BYTES_PER_S, Load, Move, Plan, SKEW_MAX, plan, skew};
use super::traffic::{Partition, Rates, Told, measure};
use super::{EndpointArgs, move_core};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::output::Table;
use crate::metadata::image::is_internal;

/// Options of `placement balance`.
#[derive(Debug, Args)]
pub(crate) struct BalanceArgs {
    /// Over how many seconds from now on the traffic is measured
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Make the moves, one after another; without it they are only told
    #[arg(long)]
    execute: bool,
    #[command(flatten)]
    endpoint: EndpointArgs,
}

/// A proposed move with the names that people use.
struct Proposal<'a> {
    topic: &'a str,
    partition: i32,
    from: usize,
    to: u16,
    bytes_per_s: f64,
}

pub(super) fn run(output: OutputFormat, args: &BalanceArgs) -> Result<(), CliError> {
    let (told, rates) = measure(&args.endpoint, args.seconds)?;
    if !told.silent.is_empty() {
        // They would count as idle.
        return Err(CliError::Refused(format!(
            "cores {:?} didn't answer in time, so what they carry isn't known: try again",
            told.silent
        )));
    }
    let loads = loads(&told, &rates);
    let plan = plan(usize::from(told.cores), &loads);
    let proposals = proposals(&told, &loads, &plan);
    match output {
        OutputFormat::Table => {
            tell(&plan, &proposals, args)?;
            if args.execute {
                return execute(args, &proposals, |line| writeln!(std::io::stdout(), "{line}"));
            }
        }
        OutputFormat::Json => {
            let mut results = Vec::new();
            let made = match args.execute {
                true => execute(args, &proposals, |line| {
                    results.push(line.to_owned());
                    Ok(())
                }),
                false => Ok(()),
            };
            writeln!(std::io::stdout(), "{:#}", as_json(&plan, &proposals, args, &results))?;
            return made;
        }
    }
    Ok(())
}

fn loads(told: &Told, rates: &[Rates]) -> Vec<Load> {
    let load = |(one, rates): (&Partition, &Rates)| Load {
        core: usize::from(one.core),
        bytes_per_s: rates.bytes_in + rates.bytes_out,
        can_move: one.dir.is_some() && !is_internal(&one.topic),
    };
    told.partitions.iter().zip(rates).map(load).collect()
}

fn proposals<'a>(told: &'a Told, loads: &[Load], plan: &Plan) -> Vec<Proposal<'a>> {
    let proposal = |next: &Move| {
        let one = &told.partitions[next.load];
        Proposal {
            topic: &one.topic,
            partition: one.partition,
            from: next.from,
            to: next.to as u16,
            bytes_per_s: loads[next.load].bytes_per_s,
        }
    };
    plan.moves.iter().map(proposal).collect()
}

/// Makes the moves until one is refused: those behind it were chosen for what the core carries once it is made.
fn execute(
    args: &BalanceArgs,
    proposals: &[Proposal<'_>],
    mut result: impl FnMut(&str) -> std::io::Result<()>,
) -> Result<(), CliError> {
    for (made, Proposal { topic, partition, to, .. }) in proposals.iter().enumerate() {
        match move_core::ask_to_move(&args.endpoint, topic, *partition, *to) {
            Ok(is_remembered) => result(&move_core::told(topic, *partition, *to, is_remembered))?,
            Err(error) => {
                return Err(CliError::Refused(format!(
                    "{topic}-{partition} isn't moved to core {to}: {error}. {made} of {} moves are made; run it again to measure anew",
                    proposals.len()
                )));
            }
        }
    }
    Ok(())
}

fn tell(plan: &Plan, proposals: &[Proposal<'_>], args: &BalanceArgs) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let mut cores = Table::new(&["CORE", "BYTES/S", "EXPECTED"]);
    for (core, (current, expected)) in plan.current.iter().zip(&plan.expected).enumerate() {
        cores.row(vec![core.to_string(), format!("{current:.0}"), format!("{expected:.0}")]);
    }
    cores.write(&mut out)?;
    writeln!(out)?;
    if proposals.is_empty() {
        let skew = skew(&plan.current);
        writeln!(
            out,
            "nothing to move: the busiest core carries {skew:.2} times the average (moves are proposed above {SKEW_MAX}, from {BUSY_BYTES_PER_S} bytes a second on, where they gain enough)"
        )?;
        return Ok(());
    }
    let mut moves = Table::new(&["TOPIC", "PARTITION", "FROM", "TO", "BYTES/S"]);
    for one in proposals {
        let places = [one.partition.to_string(), one.from.to_string(), one.to.to_string()];
        let mut row = vec![one.topic.to_owned()];
        row.extend(places);
        row.push(format!("{:.0}", one.bytes_per_s));
        moves.row(row);
    }
    moves.write(&mut out)?;
    writeln!(out)?;
    if !args.execute {
        writeln!(out, "nothing was moved: --execute makes these moves")?;
    }
    Ok(())
}

fn as_json(plan: &Plan, proposals: &[Proposal<'_>], args: &BalanceArgs, results: &[String]) -> Value {
    let cores = plan.current.iter().zip(&plan.expected).enumerate().map(|(core, (current, expected))| {
        json!({"core": core, "bytes_per_second": current, "expected_bytes_per_second": expected})
    });
    let moves = proposals.iter().enumerate().map(|(at, one)| {
        json!({
            "topic": one.topic, "partition": one.partition, "from": one.from, "to": one.to,
            "bytes_per_second": one.bytes_per_s, "result": results.get(at),
        })
    });
    json!({
        "seconds": args.seconds, "skew": skew(&plan.current), "skew_max": SKEW_MAX, "executed": args.execute,
        "cores": cores.collect::<Vec<_>>(), "moves": moves.collect::<Vec<_>>(),
    })
}
