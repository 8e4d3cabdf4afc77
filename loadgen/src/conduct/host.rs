//! The machine, and what this process takes of it.

use std::path::Path;

use crate::process::read_text;
use crate::result::Host;

/// Ticks of /proc's CPU times in a second: the same on every Linux machine that Rust's std supports.
const CLOCK_TICKS_PER_S: f64 = 100.0;

fn read(path: &str) -> String {
    read_text(Path::new(path)).unwrap_or_default()
}

/// CPU time this process has used, all threads, in s.
pub(super) fn cpu_s() -> f64 {
    let stat = read("/proc/self/stat");
    // The name may contain anything; what follows it doesn't.
    let Some((_, fields)) = stat.rsplit_once(')') else { return 0.0 };
    let times = fields.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / CLOCK_TICKS_PER_S
}

/// Cores this process may use.
pub(super) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// The machine, as /proc tells it.
pub(super) fn host() -> Host {
    let cpu = read("/proc/cpuinfo");
    let named = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let memory = read("/proc/meminfo");
    let kib = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
    Host {
        cores: cores(),
        cpu: named.map(|(_, name)| name.trim().to_owned()).unwrap_or_default(),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        memory_bytes: kib.unwrap_or(0) * 1024,
    }
}
