//! Starting a target for one round.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::target::{CORES, DATA, LISTEN, PORT, TargetKind};
use super::{CompareArgs, TargetSpec, ringlog};
use crate::peer::{KAFKA_VERSION, Kafka, KafkaConfig, await_serving, default_heap_bytes, jars, target_dir};
use crate::process::{HostError, Owned, free_port, listener_of, make_dir, temp_dir};

const START_WITHIN: Duration = Duration::from_secs(120);
const HOST: &str = "127.0.0.1";

/// Knows how to start one target, again and again.
#[derive(Debug)]
pub(super) struct Starter {
    pub(super) name: String,
    how: How,
    work_dir: PathBuf,
    cores: Option<String>,
}

#[derive(Debug)]
enum How {
    Kafka { heap_bytes: u64 },
    Ringlog { binary: PathBuf, overrides: Vec<String> },
    Address(String),
    Command(String),
}

/// A broker to measure. Dropping it stops it, if it was started here.
#[derive(Debug)]
pub(super) struct Running {
    /// Where clients begin.
    pub(super) bootstrap: String,
    /// Its process, where it is on this host.
    pub(super) pid: Option<u32>,
    owned: Option<Owned>,
}

impl Starter {
    /// Brings what the target needs: jars, a build.
    ///
    /// # Errors
    /// They can't be had.
    pub(super) fn new(spec: &TargetSpec, args: &CompareArgs) -> Result<Self, HostError> {
        let how = match &spec.kind {
            TargetKind::Kafka => {
                jars()?;
                How::Kafka { heap_bytes: args.heap.map_or_else(default_heap_bytes, Ok)? }
            }
            TargetKind::Ringlog => How::Ringlog {
                binary: ringlog::find(args.ringlog.as_deref())?,
                overrides: args.ringlog_override.clone(),
            },
            TargetKind::Address(address) => How::Address(address.clone()),
            TargetKind::Command(command) => How::Command(command.clone()),
        };
        let work_dir = match &args.work_dir {
            Some(dir) => dir.clone(),
            None => target_dir()?.join("compare"),
        };
        make_dir(&work_dir)?;
        Ok(Self { name: spec.name.clone(), how, work_dir, cores: args.cores.clone() })
    }

    /// What it is, for tables.
    pub(super) fn describe(&self) -> String {
        let cores = self.cores.as_ref().map_or(String::new(), |cores| format!(", cores {cores}"));
        match &self.how {
            How::Kafka { heap_bytes } => {
                format!("Apache Kafka {KAFKA_VERSION}, heap {} MiB, G1{cores}", heap_bytes >> 20)
            }
            How::Ringlog { overrides, .. } if overrides.is_empty() => {
                format!("Ringlog {}, its defaults{cores}", env!("CARGO_PKG_VERSION"))
            }
            How::Ringlog { overrides, .. } => {
                format!("Ringlog {}, {}{cores}", env!("CARGO_PKG_VERSION"), overrides.join(", "))
            }
            How::Address(address) => format!("at {address}"),
            How::Command(command) => command.clone(),
        }
    }

    /// Starts it on empty data and waits until it serves; a broker that runs already is only looked for.
    ///
    /// # Errors
    /// It can't be started, or doesn't serve in time; then nothing is left running.
    pub(super) fn start(&self) -> Result<Running, HostError> {
        if let How::Address(address) = &self.how {
            return Ok(Running { bootstrap: address.clone(), pid: local_pid(address), owned: None });
        }
        let dir = temp_dir(&self.work_dir, "broker")?;
        let started = self.start_in(&dir);
        if started.is_err() {
            // What was started removes it by itself; before that nobody does.
            let _ = crate::process::remove_dir(&dir);
        }
        started
    }

    fn start_in(&self, dir: &Path) -> Result<Running, HostError> {
        let port = free_port()?;
        let bootstrap = format!("{HOST}:{port}");
        let owned = match &self.how {
            How::Kafka { heap_bytes } => {
                let config = KafkaConfig {
                    dir: dir.to_owned(),
                    host: HOST.into(),
                    port,
                    controller_port: free_port()?,
                    heap_bytes: *heap_bytes,
                    cores: self.cores.clone(),
                };
                Kafka::start(&config, true)?.into_process()
            }
            How::Ringlog { binary, overrides } => {
                let mut command = Command::new(binary);
                command.args(["serve", "--listen", &bootstrap, "--data-dir"]).arg(dir.join("data"));
                command.args(self.cores.iter().flat_map(|cores| ["--cores", cores]));
                command.args(overrides.iter().flat_map(|pair| ["--override", pair]));
                self.run(command, dir, &bootstrap)?
            }
            How::Command(text) => {
                let text = text
                    .replace(LISTEN, &bootstrap)
                    .replace(PORT, &port.to_string())
                    .replace(DATA, &dir.join("data").display().to_string())
                    .replace(CORES, self.cores.as_deref().unwrap_or_default());
                let mut command = Command::new("sh");
                command.args(["-c", &text]);
                self.run(command, dir, &bootstrap)?
            }
            How::Address(_) => unreachable!("it isn't started here"),
        };
        // A shell may stand between us and the broker.
        let pid = listener_of(port).unwrap_or(owned.pid());
        Ok(Running { bootstrap, pid: Some(pid), owned: Some(owned) })
    }

    fn run(&self, command: Command, dir: &Path, bootstrap: &str) -> Result<Owned, HostError> {
        let mut owned = Owned::start(command, &dir.join("broker.log"), Some(dir))?;
        await_serving(bootstrap, &mut owned, &self.name, START_WITHIN)?;
        Ok(owned)
    }
}

impl Running {
    /// Why it can't be measured any more, if it has ended.
    ///
    /// # Errors
    /// With the end of its log.
    pub(super) fn check(&mut self) -> Result<(), HostError> {
        let Some(owned) = &mut self.owned else { return Ok(()) };
        match owned.ended() {
            None => Ok(()),
            Some(status) => {
                let what = format!("the broker ended while it was measured, {status}");
                Err(HostError::Program { what, log_tail: owned.log_tail() })
            }
        }
    }

    /// Stops it, if it was started here. Whether it went by itself.
    pub(super) fn stop(self) -> bool {
        self.owned.is_none_or(|owned| owned.stop().is_some())
    }
}

/// The process behind an address on this host.
fn local_pid(address: &str) -> Option<u32> {
    let first = address.split(',').next()?;
    let (host, port) = first.rsplit_once(':')?;
    let is_local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
    if is_local { listener_of(port.parse().ok()?) } else { None }
}
