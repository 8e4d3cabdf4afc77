//! How much processor time and memory the control groups grant.

use std::path::{Path, PathBuf};

/// Cores' worth of time that the process may use by its control groups, versions 1 and 2; `None` without a
/// limit.
pub(crate) fn cpu_quota() -> Option<f64> {
    quota_of(&read_text(Path::new("/proc/self/cgroup"))?, &read_text)
}

/// A file's text, if it has one.
#[allow(clippy::disallowed_methods, reason = "before any shard runs")]
pub(super) fn read_text(path: &Path) -> Option<String> {
    std::fs::read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The smallest quota on the way from the process's group to the root: each level limits those below.
pub(super) fn quota_of(membership: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<f64> {
    let mut quotas = Vec::new();
    for (controllers, group) in groups_of(membership) {
        if controllers.is_empty() {
            quotas.extend(levels("/sys/fs/cgroup", group).iter().filter_map(|dir| unified(dir, read)));
        } else if controllers.split(',').any(|name| name == "cpu") {
            for mount in ["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"] {
                quotas.extend(levels(mount, group).iter().filter_map(|dir| legacy(dir, read)));
            }
        }
    }
    quotas.into_iter().min_by(f64::total_cmp)
}

/// The smallest memory limit on that way, in bytes.
pub(super) fn memory_limit_of(membership: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut limits = Vec::new();
    for (controllers, group) in groups_of(membership) {
        let (mount, file) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max")
        } else if controllers.split(',').any(|name| name == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            continue;
        };
        let texts = levels(mount, group).into_iter().filter_map(|dir| read(&dir.join(file)));
        // "max", and in version 1 a number above any machine's memory, is no limit.
        limits.extend(texts.filter_map(|text| text.trim().parse::<u64>().ok()));
    }
    limits.into_iter().min()
}

/// Controllers (none in version 2) and group of each line of /proc/self/cgroup.
fn groups_of(membership: &str) -> impl Iterator<Item = (&str, &str)> {
    membership.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
        Some((controllers, group))
    })
}

/// The group's directory and those above it, down to the mount. In a container only the mount may exist.
fn levels(mount: &str, group: &str) -> Vec<PathBuf> {
    let below = Path::new(group.trim_start_matches('/'));
    below.ancestors().map(|level| Path::new(mount).join(level)).collect()
}

/// Version 2: `cpu.max` is "QUOTA PERIOD" or "max PERIOD", in microseconds.
fn unified(dir: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<f64> {
    let text = read(&dir.join("cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    ratio(quota, period)
}

/// Version 1: two files in microseconds, a quota of -1 is none.
fn legacy(dir: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<f64> {
    let quota = read(&dir.join("cpu.cfs_quota_us"))?;
    let period = read(&dir.join("cpu.cfs_period_us"))?;
    ratio(quota.trim(), period.trim())
}

fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}
