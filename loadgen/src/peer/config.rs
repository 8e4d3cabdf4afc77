//! How Kafka is run: what an operator of production would set, and why.

use std::path::{Path, PathBuf};

use crate::process::{HostError, read_text};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// One node of Kafka, controller and broker in one process.
#[derive(Debug, Clone)]
pub struct KafkaConfig {
    /// Everything of it lies below: settings, log directory, what it prints.
    pub dir: PathBuf,
    /// Host it listens on.
    pub host: String,
    /// Port of the clients.
    pub port: u16,
    /// Port of its controller.
    pub controller_port: u16,
    /// Heap in bytes, taken whole from the start.
    pub heap_bytes: u64,
    /// Cores it may run on, as taskset takes them; all if `None`.
    pub cores: Option<String>,
}

impl KafkaConfig {
    /// Where its logs lie.
    pub fn log_dir(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// Its server.properties.
    pub fn path(&self) -> PathBuf {
        self.dir.join("server.properties")
    }

    /// The text of server.properties: Kafka's defaults but for what is named here.
    ///
    /// - One node has no second replica to offer, so internal topics get one.
    /// - `socket.*.buffer.bytes=-1`: the kernel sizes the buffers, where Kafka's 100 KiB would hold a fast
    ///   connection back.
    /// - `num.network.threads` and `num.io.threads`: the defaults, or one a core where there are more.
    /// - Retention (7 days), segments (1 GiB), flushing (left to the kernel) stay the defaults: with them Kafka
    ///   is at its fastest.
    pub fn properties(&self) -> String {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let named = self.cores.as_deref().and_then(|list| rt::boot::parse_cores(list).ok());
        let cores = named.map_or(all, |cores| cores.len());
        let client = format!("{}:{}", self.host, self.port);
        let control = format!("127.0.0.1:{}", self.controller_port);
        let rows = [
            ("process.roles", "broker,controller".to_owned()),
            ("node.id", "1".to_owned()),
            ("log.dirs", self.log_dir().display().to_string()),
            ("listeners", format!("PLAINTEXT://{client},CONTROLLER://{control}")),
            ("advertised.listeners", format!("PLAINTEXT://{client},CONTROLLER://{control}")),
            ("controller.listener.names", "CONTROLLER".to_owned()),
            ("controller.quorum.bootstrap.servers", control),
            ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT".to_owned()),
            ("inter.broker.listener.name", "PLAINTEXT".to_owned()),
            ("offsets.topic.replication.factor", "1".to_owned()),
            ("transaction.state.log.replication.factor", "1".to_owned()),
            ("transaction.state.log.min.isr", "1".to_owned()),
            ("share.coordinator.state.topic.replication.factor", "1".to_owned()),
            ("share.coordinator.state.topic.min.isr", "1".to_owned()),
            ("num.network.threads", cores.max(3).to_string()),
            ("num.io.threads", cores.max(8).to_string()),
            ("socket.send.buffer.bytes", "-1".to_owned()),
            ("socket.receive.buffer.bytes", "-1".to_owned()),
        ];
        rows.map(|(key, value)| format!("{key}={value}\n")).concat()
    }

    /// Options of the JVM: those of Kafka's own start script, a fixed heap, and all of it touched at the start,
    /// so that no page fault of a growing heap is measured.
    pub fn java_options(&self, log4j: &Path) -> Vec<String> {
        let heap = self.heap_bytes / MIB;
        let mut options: Vec<String> = [
            "-server",
            "-XX:+UseG1GC",
            "-XX:MaxGCPauseMillis=20",
            "-XX:InitiatingHeapOccupancyPercent=35",
            "-XX:+ExplicitGCInvokesConcurrent",
            "-XX:MaxInlineLevel=15",
            "-XX:+AlwaysPreTouch",
            "-Djava.awt.headless=true",
        ]
        .map(str::to_owned)
        .into();
        options.extend([format!("-Xms{heap}m"), format!("-Xmx{heap}m")]);
        options.push(format!("-Dlog4j2.configurationFile=file:{}", log4j.display()));
        options
    }
}

/// A quarter of the machine's memory, from 1 GiB, what Kafka's start script gives, to 6 GiB, what its operators
/// give a busy broker: the rest is the page cache, which serves its reads.
///
/// # Errors
/// /proc isn't there.
pub fn default_heap_bytes() -> Result<u64, HostError> {
    let text = read_text(Path::new("/proc/meminfo"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0);
    Ok((kib * 1024 / 4).clamp(GIB, 6 * GIB) / GIB * GIB)
}

/// Reads a heap size: a whole number with k, m or g, as the JVM takes it.
///
/// # Errors
/// What is wrong with it.
pub fn parse_heap(text: &str) -> Result<u64, String> {
    let text = text.to_ascii_lowercase();
    let (digits, unit) = text.split_at(text.trim_end_matches(['k', 'm', 'g']).len());
    let unit = match unit {
        "k" => 1024,
        "m" => MIB,
        "g" => GIB,
        _ => return Err(format!("{text:?} isn't a size as 512m or 4g")),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes >= 128 * MIB => Ok(bytes),
        Some(_) => Err("Kafka needs 128m at the least".into()),
        None => Err(format!("{text:?} isn't a size as 512m or 4g")),
    }
}
