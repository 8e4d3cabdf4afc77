//! What a process used between two samples.

use super::Sample;

/// The difference of two samples of one process.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// CPU time of all threads, in s.
    pub cpu_s: f64,
    /// Memory resident at the end, in bytes.
    pub rss_bytes: u64,
    /// The highest it ever was, in bytes.
    pub rss_peak_bytes: u64,
    /// Context switches that a thread asked for, as by waiting. Those of threads that ended in between are lost;
    /// brokers keep theirs.
    pub voluntary_switches: u64,
    /// Context switches that were forced upon a thread.
    pub involuntary_switches: u64,
    /// Bytes stored, see [`Sample::written_bytes`].
    pub written_bytes: Option<u64>,
    /// Bytes that had to be brought from the device.
    pub read_bytes: Option<u64>,
}

impl Usage {
    /// Between `before` and `after`. `None` if they aren't of the same process: it was restarted.
    pub fn between(before: &Sample, after: &Sample) -> Option<Usage> {
        if before.started_ticks != after.started_ticks {
            return None;
        }
        let (mut voluntary, mut involuntary) = (0, 0);
        for (thread, now) in &after.switches {
            let then = before.switches.get(thread).copied().unwrap_or_default();
            // A thread id may be given anew too: then it counts from 0.
            voluntary += now.voluntary.checked_sub(then.voluntary).unwrap_or(now.voluntary);
            involuntary += now.involuntary.checked_sub(then.involuntary).unwrap_or(now.involuntary);
        }
        let between = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        Some(Usage {
            cpu_s: (after.cpu_s - before.cpu_s).max(0.0),
            rss_bytes: after.rss_bytes,
            rss_peak_bytes: after.rss_peak_bytes,
            voluntary_switches: voluntary,
            involuntary_switches: involuntary,
            written_bytes: between(after.written_bytes, before.written_bytes),
            read_bytes: between(after.read_bytes, before.read_bytes),
        })
    }
}
