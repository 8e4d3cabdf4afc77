//! A whole scenario.

use client::ConnectionConfig;
use client::blocking::BlockingClient;
use rt::boot::{ShardsRequest, plan_shards};

use super::host;
use super::line::run_line;
use crate::LoadError;
use crate::observe::{Observer, Unobserved};
use crate::result::{LineResult, RunResult, TargetInfo};
use crate::scenario::{RateOf, Scenario, Target};

/// Runs all lines of a scenario against a target, one after the other, and waits for the end. Blocks the calling
/// thread, which isn't a shard's; the shards of the load are threads of their own.
///
/// # Errors
/// What makes the whole run senseless: a scenario that is none, no broker there, a host without io_uring. A line
/// that fails says so in its own result, and the next one is tried.
pub fn run(scenario: &Scenario, target: &Target) -> Result<RunResult, LoadError> {
    run_observed(scenario, target, &mut Unobserved)
}

/// As [`run`], telling `observer` as it goes.
///
/// # Errors
/// As [`run`].
pub fn run_observed(
    scenario: &Scenario,
    target: &Target,
    observer: &mut dyn Observer,
) -> Result<RunResult, LoadError> {
    scenario.check()?;
    let shards = shards(target)?;
    let bootstrap: Vec<String> =
        target.bootstrap.split(',').map(|address| address.trim().to_owned()).collect();
    let config = ConnectionConfig { client_id: "ringlog-loadgen".into(), ..ConnectionConfig::default() };
    let mut client = BlockingClient::connect(&target.bootstrap, config)?;
    client.refresh(Some(&[]), false)?;
    let mut result = RunResult {
        scenario: scenario.name.clone(),
        target: TargetInfo {
            name: target.name.clone(),
            bootstrap: target.bootstrap.clone(),
            cluster_id: client.cluster().cluster_id().map(str::to_owned),
            brokers: client.cluster().nodes().count() as u32,
        },
        host: host::host(),
        started_unix_ms: rt::unix_ms(),
        scale: scenario.scale,
        ..RunResult::default()
    };
    let started = rt::now();
    let mut scenario = scenario.clone();
    for at in 0..scenario.lines.len() {
        scenario.settle_rates(&result.lines);
        let line = &scenario.lines[at];
        observer.line_begins(line);
        let line = match &line.rate_of {
            Some(RateOf { line: other, .. }) => {
                LineResult::not_run(&line.name, format!("its rate depends on {other:?}, which wasn't done"))
            }
            None => run_line(&mut client, &bootstrap, line, shards, observer),
        };
        observer.line_ended(&line);
        result.lines.push(line);
    }
    result.duration_s = (rt::now() - started).as_secs_f64();
    Ok(result)
}

/// One a core, if not said otherwise.
fn shards(target: &Target) -> Result<u16, LoadError> {
    let request = ShardsRequest { cores: None, shards: target.shards.map(usize::from) };
    let cores = plan_shards(&request).map_err(LoadError::Boot)?;
    u16::try_from(cores.len()).map_err(|_| LoadError::Usage("too many shards".into()))
}
