//! Where and when something was measured.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::process::read_text;

/// The host, as far as it matters to figures.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's own name.
    pub processor: String,
    /// Cores that this process may run on.
    pub cores: usize,
    /// Memory, in MiB.
    pub memory_mib: u64,
    /// Kernel and its release.
    pub kernel: String,
    /// File system and device that the data lie on.
    pub storage: String,
    /// Day, as 2026-11-30 (UTC).
    pub date: String,
}

impl Machine {
    /// This host; `data_dir` is where the brokers' data go.
    pub fn here(data_dir: &Path) -> Machine {
        let text = |path: &str| read_text(Path::new(path)).unwrap_or_default();
        let (processors, memory) = (text("/proc/cpuinfo"), text("/proc/meminfo"));
        // Mount points are whole paths; a directory may be named from where we stand, or through a link.
        let whole = data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned());
        let after = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_once(':'))
                .map_or(String::new(), |(_, value)| value.trim().to_owned())
        };
        let kib =
            after(&memory, "MemTotal").split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok());
        Machine {
            processor: after(&processors, "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: kib.unwrap_or(0) / 1024,
            kernel: format!("Linux {}", text("/proc/sys/kernel/osrelease").trim()),
            storage: mount_of(&text("/proc/self/mounts"), &whole).unwrap_or_default(),
            date: date(rt::unix_ms()),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Machine { processor, cores, memory_mib, kernel, storage, date } = self;
        write!(f, "{processor}, {cores} cores, {memory_mib} MiB, {kernel}, {storage}, {date}")
    }
}

/// File system and device of the longest mount point above a path.
pub(super) fn mount_of(mounts: &str, path: &Path) -> Option<String> {
    let rows = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let (device, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
        path.starts_with(point).then_some((point.len(), format!("{kind} on {device}")))
    });
    // Of several mounts on one point the last one is on top.
    rows.max_by_key(|(len, _)| *len).map(|(_, text)| text)
}

/// The day of a moment in ms since 1970, by the Gregorian calendar (UTC).
pub(super) fn date(unix_ms: i64) -> String {
    let mut days = unix_ms.div_euclid(86_400_000);
    let mut year = 1970;
    let is_leap = |year: i64| (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}
