//! How much memory the process may use.

use std::path::Path;

use super::cgroup;

/// Bytes of memory that the process may use: the machine's, or less by its control groups (versions 1 and 2). `None`
/// where /proc tells nothing.
pub fn memory_bytes() -> Option<u64> {
    let read = cgroup::read_text;
    let machine = total_of(&read(Path::new("/proc/meminfo"))?)?;
    let granted = read(Path::new("/proc/self/cgroup"))
        .and_then(|membership| cgroup::memory_limit_of(&membership, &read));
    Some(granted.map_or(machine, |granted| granted.min(machine)))
}

/// "MemTotal: N kB", in bytes.
pub(super) fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}
