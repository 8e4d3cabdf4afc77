//! What the process takes of its machine, as the kernel counts it.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// See [`process_usage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Time on cores, user and system, all threads, since the process began.
    pub cpu: Duration,
    /// Memory in RAM now, in bytes.
    pub resident_bytes: u64,
    /// Open file descriptors.
    pub open_files: u64,
    /// How many it may have open; none without a limit.
    pub open_files_max: Option<u64>,
    /// Threads.
    pub threads: u64,
}

/// Asks the kernel. Blocks, and takes time for every open descriptor: not for a shard.
///
/// # Errors
/// `/proc` can't be read.
pub fn process_usage() -> io::Result<ProcessUsage> {
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    let pages = pages.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/self/statm"))?;
    Ok(ProcessUsage {
        cpu: Duration::new(cpu.tv_sec as u64, cpu.tv_nsec as u32),
        resident_bytes: pages * rustix::param::page_size() as u64,
        // One of them is the directory being read.
        open_files: entries("/proc/self/fd")?.saturating_sub(1),
        open_files_max: getrlimit(Resource::Nofile).current,
        threads: entries("/proc/self/task")?,
    })
}

fn entries(dir: &str) -> io::Result<u64> {
    Ok(std::fs::read_dir(dir)?.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_what_a_process_takes() {
        let before = process_usage().unwrap();
        assert!(before.resident_bytes > 100_000 && before.threads >= 1 && before.open_files >= 1);
        let busy = std::hint::black_box((0..20_000_000u64).fold(0, |sum, n| sum ^ (n * 31)));
        let after = process_usage().unwrap();
        assert!(after.cpu > before.cpu, "{busy}");
        assert!(after.open_files_max.is_none_or(|max| max > after.open_files));
    }
}
