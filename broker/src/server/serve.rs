//! `ringlog serve`: from the command line to running shards, and what the process says when it can't.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use rt::ShardId;
use rt::boot::ShardsRequest;

use super::boot;
use super::failure::Failure;
use super::listen;
use super::signals;
use super::wiring::Wiring;
use crate::admin::{self, AdminEnds};
use crate::cli::ServeArgs;
use crate::config::{self, BrokerConfig, Inputs, Loaded};
use crate::metrics::NodeFacts;

/// Part of the memory that the process may use which keeps records unless `ringlog.cache.max.bytes` says otherwise: one of this many. The
/// page cache isn't used, so this is what stands in its place. No more, because each page costs once until it is filled, and because whoever
/// shares the machine should not be surprised; a host of the broker's own can give more.
const CACHE_SHARE: u64 = 32;

/// A node that may have fewer files open says so: each segment that is written to and each connection takes one.
const OPEN_FILES_FEW: u64 = 20_000;

/// Runs the broker until it is told to stop (SIGTERM, SIGINT). 0 after a clean stop; 78 (EX_CONFIG) if it can't run as configured, or not on
/// this host; 1 otherwise.
pub fn serve(args: ServeArgs) -> ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("RINGLOG_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // A second call within a process, as tests make, keeps the first's.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    match start(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("ringlog: {failure}");
            ExitCode::from(failure.code)
        }
    }
}

/// A shard's life on its thread. A failure ends the process at once, with all shards.
async fn live(wiring: Arc<Wiring>, shard: ShardId) {
    if let Err(failure) = boot::run_shard(wiring, shard).await {
        eprintln!("ringlog: {failure}");
        std::process::exit(i32::from(failure.code));
    }
}

fn start(args: ServeArgs) -> Result<(), Failure> {
    let start_ms = rt::unix_ms();
    if let Some(files) = rt::boot::raise_open_files().filter(|files| *files < OPEN_FILES_FEW) {
        tracing::warn!(files, "few files may be open: set LimitNOFILE (systemd) or `ulimit -Hn` to 1048576");
    }
    let cores = args.cores.as_ref().map(|cores| {
        let cores: Vec<String> = cores.0.iter().map(usize::to_string).collect();
        cores.join(",")
    });
    let mut config = configure(args)?;
    let cache = &mut config.ringlog.cache_max_bytes;
    *cache = cache.or_else(|| rt::boot::memory_bytes().map(|bytes| bytes / CACHE_SHARE));
    let shards = config.ringlog.shards.map(usize::from);
    let cores = rt::boot::plan_shards(&ShardsRequest { cores, shards }).map_err(Failure::unusable)?;
    let usable_dirs = usable_dirs(&config)?;
    let engine = config.ringlog.engine;
    let verdict = rt::boot::check(&usable_dirs, cores.len(), engine, config.ringlog.direct_io);
    if !verdict.is_ok() {
        return Err(Failure {
            code: verdict.exit_code() as u8,
            message: format!("can't run here\n{verdict}"),
        });
    }
    let shards = u16::try_from(cores.len()).map_err(Failure::unusable)?;
    let mut runtime = rt::ShardsConfig::new(cores);
    runtime.engine = engine;
    if config.ringlog.direct_io {
        runtime.data_dirs = usable_dirs;
    }
    let stops = signals::catch().map_err(Failure::unusable)?;
    let admin = admin_endpoint(&config, shards, start_ms)?;
    let wiring = Wiring::new(config, shards, stops).announced_by(listen::announce);
    let wiring = Arc::new(match admin {
        Some(admin) => wiring.with_admin(admin),
        None => wiring,
    });
    rt::run(runtime, move |shard| live(Arc::clone(&wiring), shard)).map_err(Failure::unusable)
}

/// Starts the admin endpoint if it is configured, and gives the shards' ends of it.
fn admin_endpoint(config: &BrokerConfig, shards: u16, start_ms: i64) -> Result<Option<AdminEnds>, Failure> {
    let Some(listen) = &config.ringlog.admin_listen else { return Ok(None) };
    let (ends, shards) = admin::wires(shards, admin::limits::SHARDS_WITHIN);
    let log_dirs = config.log_dirs.iter().map(|dir| dir.display().to_string());
    let node = NodeFacts { node_id: config.node_id, log_dirs: log_dirs.collect(), start_ms };
    let address = admin::start(listen, node, shards).map_err(Failure::fatal)?;
    tracing::info!("admin endpoint at http://{address}/metrics");
    Ok(Some(ends))
}

fn configure(args: ServeArgs) -> Result<BrokerConfig, Failure> {
    let mut inputs = Inputs { overrides: args.overrides, ..Inputs::default() }.with_host_name();
    if let Some(file) = &args.config {
        inputs = inputs.with_file(file).map_err(Failure::unusable)?;
    }
    if let Some(dir) = &args.data_dir {
        inputs = inputs.with_data_dir(dir);
    }
    if let Some(listen) = &args.listen {
        inputs = inputs.with_listen(listen);
    }
    let Loaded { config, warnings } = config::load(inputs).map_err(Failure::unusable)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(config)
}

/// Those of `log.dirs` that can be written to. The others are offline until another start; without the first, say, the node would have no
/// metadata.
fn usable_dirs(config: &BrokerConfig) -> Result<Vec<PathBuf>, Failure> {
    let mut usable = Vec::new();
    for dir in &config.log_dirs {
        match try_dir(dir) {
            Ok(()) => usable.push(dir.clone()),
            Err(error) if config.log_dirs.len() == 1 || *dir == config.metadata_log_dir => {
                return Err(Failure::unusable(format!("{}: {error}", dir.display())));
            }
            Err(error) => tracing::warn!(dir = %dir.display(), %error, "a log directory can't be written to"),
        }
    }
    match usable.is_empty() {
        true => Err(Failure::unusable("none of log.dirs can be written to")),
        false => Ok(usable),
    }
}

/// Makes the directory if need be, and a file in it, which goes again.
#[allow(clippy::disallowed_methods, reason = "before any shard runs: the checks need the directory")]
fn try_dir(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let probe = dir.join(format!(".boot-probe-{}", std::process::id()));
    settle_probe(&probe, std::fs::write(&probe, b"probe"))
}

/// Whether the directory can be used, by how the probe was written. A full disk is no failed one; the file may not even be there then.
#[allow(clippy::disallowed_methods, reason = "as of `try_dir`")]
fn settle_probe(probe: &Path, written: std::io::Result<()>) -> std::io::Result<()> {
    use std::io::ErrorKind;
    match written {
        Err(error) if !matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            return Err(error);
        }
        _ => {}
    }
    match std::fs::remove_file(probe) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests;
