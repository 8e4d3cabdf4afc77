//! What a line took on either side.

use serde::{Deserialize, Serialize};

/// What the load generator itself took in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientCost {
    /// CPU time of all its threads, in s.
    pub cpu_s: f64,
    /// The same for each record produced or consumed, in us.
    pub cpu_us_per_record: f64,
    /// Shards it ran on.
    pub shards: u32,
    /// It used more than half of the machine's CPU: the figure is the client's as much as the broker's.
    pub is_limit: bool,
}

/// What the broker's process took in the measured window, from /proc by its pid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BrokerSample {
    /// Its process.
    pub pid: u32,
    /// User and system time, in s.
    pub cpu_s: f64,
    /// The same for each 10^9 bytes of values that went the line's way, in s.
    pub cpu_s_per_gb: f64,
    /// Resident memory at the end, in bytes.
    pub rss_bytes: u64,
    /// The highest resident memory so far, in bytes.
    pub rss_max_bytes: u64,
    /// Context switches of all its threads, of its own will.
    pub voluntary_switches: u64,
    /// Context switches forced upon it.
    pub involuntary_switches: u64,
    /// Bytes it caused to be written to storage.
    pub written_bytes: u64,
    /// Bytes it caused to be read from storage.
    pub read_bytes: u64,
    /// System calls, where they could be counted.
    pub syscalls: Option<u64>,
}
