//! `ringlog bench`: the load generator, linked in.

use loadgen::{BenchArgs, LoadError, Report, bench};
use serde_json::{Value, json};

use super::args::GlobalArgs;
use super::error::CliError;
use super::output::say;

pub(super) fn run(global: &GlobalArgs, args: &BenchArgs) -> Result<(), CliError> {
    let report = bench(&global.bootstrap_server, args).map_err(|error| match error {
        LoadError::Client(error) => CliError::Client(error),
        LoadError::Records(error) => CliError::Records(error),
        LoadError::Usage(why) | LoadError::Scenario(why) => CliError::Usage(why),
        LoadError::Host(_) | LoadError::Verify(_) => CliError::Bench(error),
    })?;
    say(global.output, &report.to_string(), || as_json(&report))?;
    Ok(())
}

fn as_json(report: &Report) -> Value {
    json!({
        "records": report.records, "value_bytes": report.value_bytes, "batches": report.batches,
        "batch_bytes": report.batch_bytes, "produce_s": report.produce_time.as_secs_f64(),
        "records_per_s": report.records_per_s(), "mib_per_s": report.mib_per_s(),
        "latency_us": {"p50": report.p50_us, "p99": report.p99_us, "p999": report.p999_us, "max": report.max_us},
        "verify_s": report.verify_time.map(|time| time.as_secs_f64()),
    })
}
