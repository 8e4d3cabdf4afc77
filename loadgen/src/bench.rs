//! A run from beginning to end.

use std::collections::BTreeMap;

use client::ConnectionConfig;
use client::blocking::BlockingClient;

use crate::clock::unix_ms;
use crate::topic::{end_offset, prepare};
use crate::{BenchArgs, LoadError, Report, produce, verify};

/// Runs the closed loop against the brokers of `bootstrap` (`host:port`, several by commas), and verifies if
/// asked to.
///
/// # Errors
/// The first thing that fails ends the run: nothing is sent again, so that what was measured is one plain
/// run.
pub fn bench(bootstrap: &str, args: &BenchArgs) -> Result<Report, LoadError> {
    args.check()?;
    let mut client =
        BlockingClient::connect(bootstrap, ConnectionConfig { in_flight_max: usize::MAX, ..config() })?;
    let partitions = prepare(&mut client, args)?;
    let mut starts = BTreeMap::new();
    for partition in &partitions {
        starts.insert(*partition, end_offset(&mut client, &args.topic, *partition)?);
    }
    // Tells this run's records from those of other runs.
    let producer = (unix_ms() as u64) << 20 | u64::from(std::process::id() & 0xf_ffff);
    let produced = produce::run(&mut client, args, &partitions, producer)?;
    let verify_time =
        if args.verify { Some(verify::run(&mut client, args, &starts, producer)?) } else { None };
    let at = |quantile| produced.latency_us.value_at_quantile(quantile);
    Ok(Report {
        records: args.records,
        value_bytes: args.records * args.record_bytes as u64,
        batches: produced.batches,
        batch_bytes: produced.batch_bytes,
        produce_time: produced.took,
        p50_us: at(0.5),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: produced.latency_us.max(),
        verify_time,
    })
}

/// The loop itself bounds what is in flight.
fn config() -> ConnectionConfig {
    ConnectionConfig { client_id: "ringlog-loadgen".into(), ..ConnectionConfig::default() }
}
