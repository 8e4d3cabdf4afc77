//! A running Kafka.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{KafkaConfig, await_serving, jars};
use crate::process::{HostError, Owned, make_dir, write_text};

/// Warnings and errors only; shared with the project's checks.
const LOG4J: &str = include_str!("../../../tests/kafka/log4j2.xml");

/// How long it may take to serve.
const START_WITHIN: Duration = Duration::from_secs(120);

/// A Kafka started here. Dropping it stops it; its directory goes with it unless it is to be kept.
#[derive(Debug)]
pub struct Kafka {
    owned: Owned,
    bootstrap: String,
}

impl Kafka {
    /// Formats its directory, starts it and waits until it answers. With `remove_dir` the directory goes at the
    /// end.
    ///
    /// # Errors
    /// No Java, no jars, or it doesn't serve within two minutes; then nothing is left running.
    pub fn start(config: &KafkaConfig, remove_dir: bool) -> Result<Self, HostError> {
        let libs = jars()?;
        make_dir(&config.dir)?;
        let log4j = config.dir.join("log4j2.xml");
        write_text(&log4j, LOG4J)?;
        write_text(&config.path(), &config.properties())?;
        let class_path = format!("{}/*", libs.display());
        format_storage(config, &class_path)?;
        let mut command = on_cores(config.cores.as_deref(), "java");
        command
            .args(config.java_options(&log4j))
            .args(["-cp", &class_path, "kafka.Kafka"])
            .arg(config.path());
        let dir = remove_dir.then_some(config.dir.as_path());
        let mut owned = Owned::start(command, &config.dir.join("kafka.log"), dir)?;
        let bootstrap = format!("{}:{}", config.host, config.port);
        await_serving(&bootstrap, &mut owned, "Kafka", START_WITHIN)?;
        Ok(Self { owned, bootstrap })
    }

    /// Where clients begin.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// Its process and what it prints.
    pub fn process(&mut self) -> &mut Owned {
        &mut self.owned
    }

    /// Its process alone.
    pub fn into_process(self) -> Owned {
        self.owned
    }
}

/// `program`, on these cores only.
fn on_cores(cores: Option<&str>, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let Some(cores) = cores else { return Command::new(program) };
    let mut command = Command::new("taskset");
    command.args(["-c", cores]).arg(program);
    command
}

/// What `kafka-storage format --standalone` does: a quorum of this node alone (KIP-853).
fn format_storage(config: &KafkaConfig, class_path: &str) -> Result<(), HostError> {
    let mut format = Command::new("java");
    format.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", class_path, "kafka.tools.StorageTool"]);
    format.args(["format", "--standalone", "-t", &cluster_id(), "-c"]).arg(config.path());
    let output = format.stdin(Stdio::null()).output().map_err(|error| HostError::io("java", error))?;
    if output.status.success() {
        return Ok(());
    }
    let mut log_tail = String::from_utf8_lossy(&output.stdout).into_owned();
    log_tail.push_str(&String::from_utf8_lossy(&output.stderr));
    Err(HostError::Program { what: "Kafka's storage tool failed".into(), log_tail })
}

/// A cluster id as Kafka writes them: 16 random bytes in 22 signs of base64 for URLs.
pub(super) fn cluster_id() -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let number = u128::from_be_bytes(rt::random_bytes::<16>());
    // The last sign holds the two bits left over, in its upper part. Kafka refuses ids that begin with a dash.
    let sign = |at: u32| SIGNS[((number.rotate_left(6 * at + 6)) & 63) as usize];
    let mut id: Vec<u8> = (0..21).map(sign).collect();
    id.push(SIGNS[((number & 3) << 4) as usize]);
    if id[0] == b'-' {
        id[0] = b'A';
    }
    String::from_utf8(id).unwrap_or_default()
}

/// True if it holds nothing, or isn't there.
pub(super) fn is_empty_dir(path: &Path) -> bool {
    std::fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none())
}
