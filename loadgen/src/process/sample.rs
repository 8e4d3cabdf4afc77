//! A process's counters at one moment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{HostError, files};

/// Ticks of /proc's CPU times in a second: USER_HZ, which is 100 on every architecture we run on, whatever
/// the kernel's own HZ is.
const TICKS_PER_SECOND: f64 = 100.0;

/// What /proc says of a process, all its threads together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// Which start of which process: a pid may be given anew.
    pub(super) started_ticks: u64,
    /// User and system time so far, ended threads included, in s. Its grain is 10 ms.
    pub cpu_s: f64,
    /// Memory resident now, in bytes.
    pub rss_bytes: u64,
    /// Most memory that ever was, in bytes.
    pub rss_peak_bytes: u64,
    /// Bytes handed to the page cache or the device for storing, less those taken back before they went
    /// there. `None`: not ours to see.
    pub written_bytes: Option<u64>,
    /// Bytes that had to be brought from the device.
    pub read_bytes: Option<u64>,
    /// By thread: how often it gave up its core by itself, and how often it was taken off.
    pub(super) switches: BTreeMap<u32, Switches>,
}

/// Context switches of one thread since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Switches {
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
}

impl Sample {
    /// Takes one.
    ///
    /// # Errors
    /// No such process, or /proc isn't there.
    pub fn take(pid: u32) -> Result<Self, HostError> {
        let dir = PathBuf::from(format!("/proc/{pid}"));
        let stat = files::read_text(&dir.join("stat"))?;
        let (cpu_s, started_ticks) = parse_stat(&stat)
            .ok_or_else(|| HostError::Missing(format!("/proc/{pid}/stat isn't as expected: {stat}")))?;
        let status = files::read_text(&dir.join("status"))?;
        let io = files::read_text(&dir.join("io")).ok().and_then(|text| parse_io(&text));
        Ok(Self {
            started_ticks,
            cpu_s,
            rss_bytes: kib_of(&status, "VmRSS:"),
            rss_peak_bytes: kib_of(&status, "VmHWM:"),
            written_bytes: io.map(|(written, _)| written),
            read_bytes: io.map(|(_, read)| read),
            switches: switches(&dir.join("task")),
        })
    }
}

/// CPU time in s and start time in ticks. The name, in brackets, may hold anything, brackets too.
pub(super) fn parse_stat(stat: &str) -> Option<(f64, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    // Fields 14, 15 and 22 of proc(5), which counts from 1 and has two before the last bracket.
    Some(((number(11)? + number(12)?) as f64 / TICKS_PER_SECOND, number(19)?))
}

/// Bytes written and read.
pub(super) fn parse_io(io: &str) -> Option<(u64, u64)> {
    let value = |name: &str| -> Option<u64> {
        io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    Some((value("write_bytes")?.saturating_sub(value("cancelled_write_bytes")?), value("read_bytes")?))
}

fn kib_of(status: &str, name: &str) -> u64 {
    number_after(status, name) * 1024
}

/// The number on the line that starts with `name`; 0 without one (a kernel thread, an ended process).
pub(super) fn number_after(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The process's own status counts its first thread only, so each thread is asked.
fn switches(tasks: &Path) -> BTreeMap<u32, Switches> {
    let mut found = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(tasks) else { return found };
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A thread may end between the listing and the look.
        let Ok(status) = files::read_text(&entry.path().join("status")) else { continue };
        let voluntary = number_after(&status, "voluntary_ctxt_switches:");
        let involuntary = number_after(&status, "nonvoluntary_ctxt_switches:");
        found.insert(id, Switches { voluntary, involuntary });
    }
    found
}
