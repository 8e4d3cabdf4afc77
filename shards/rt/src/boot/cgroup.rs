//! How much processor time the control group grants.

use std::path::{Path, PathBuf};

/// Cores' worth of time that the process may use by its control groups, versions 1 and 2; `None` without a
/// limit.
pub(crate) fn cpu_quota() -> Option<f64> {
    #[allow(clippy::disallowed_methods, reason = "before any shard runs")]
    let read = |path: &Path| std::fs::read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    quota_of(&read(Path::new("/proc/self/cgroup"))?, &read)
}

/// The smallest quota on the way from the process's group to the root: each level limits those below.
pub(super) fn quota_of(membership: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<f64> {
    let mut quotas = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
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
