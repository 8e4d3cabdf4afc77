//! `ringlog placement show`.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use super::EndpointArgs;
use super::traffic::{Core, Counts, Rates, Told, cores, measure};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::output::Table;

/// Options of `placement show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Over how many seconds from now on the traffic is measured; 0 tells the averages since each partition is on its core
    #[arg(long, default_value_t = 1, value_name = "SECONDS")]
    seconds: u64,
    #[command(flatten)]
    endpoint: EndpointArgs,
}

pub(super) fn run(output: OutputFormat, args: &ShowArgs) -> Result<(), CliError> {
    let (told, rates) = measure(&args.endpoint, args.seconds)?;
    if !told.silent.is_empty() {
        eprintln!("ringlog: cores {:?} didn't answer in time: their partitions are missing", told.silent);
    }
    let cores = cores(&told, &rates);
    let mut out = std::io::stdout().lock();
    match output {
        OutputFormat::Table => {
            partitions_table(&told, &rates).write(&mut out)?;
            writeln!(out)?;
            cores_table(&cores).write(&mut out)?;
        }
        OutputFormat::Json => writeln!(out, "{:#}", as_json(&told, &rates, &cores))?,
    }
    Ok(())
}

const TRAFFIC: [&str; 4] = ["BYTES-IN/S", "RECORDS-IN/S", "BYTES-OUT/S", "RECORDS-OUT/S"];

fn partitions_table(told: &Told, rates: &[Rates]) -> Table {
    let mut table =
        Table::new(&[&["TOPIC", "PARTITION", "CORE", "PLACED"], &TRAFFIC[..], &["DIRECTORY"]].concat());
    for (one, rates) in told.partitions.iter().zip(rates) {
        let placed = if one.on_purpose { "on purpose" } else { "by count" };
        let mut row =
            vec![one.topic.clone(), one.partition.to_string(), one.core.to_string(), placed.to_owned()];
        row.extend(rates.cells());
        row.push(one.dir.clone().unwrap_or_else(|| "offline".to_owned()));
        table.row(row);
    }
    table
}

fn cores_table(cores: &[Core]) -> Table {
    let mut table = Table::new(&[&["CORE", "PARTITIONS"], &TRAFFIC[..]].concat());
    for (number, core) in cores.iter().enumerate() {
        let mut row = vec![number.to_string(), core.partitions.to_string()];
        row.extend(core.rates.cells());
        table.row(row);
    }
    table
}

fn as_json(told: &Told, rates: &[Rates], cores: &[Core]) -> Value {
    let partitions = told.partitions.iter().zip(rates).map(|(one, rates)| {
        let Counts { records_in, bytes_in, records_out, bytes_out } = one.counts;
        json!({
            "topic": one.topic, "partition": one.partition, "core": one.core, "dir": one.dir, "on_purpose": one.on_purpose,
            "since_ms": one.since_ms, "per_second": rates.as_json(), "records_in": records_in, "bytes_in": bytes_in,
            "records_out": records_out, "bytes_out": bytes_out,
        })
    });
    let cores = cores.iter().enumerate().map(|(number, core)| {
        json!({"core": number, "partitions": core.partitions, "per_second": core.rates.as_json()})
    });
    json!({"partitions": partitions.collect::<Vec<_>>(), "cores": cores.collect::<Vec<_>>(), "silent": told.silent})
}
