//! [`BrokerWatch`]: what the broker takes during the measured window of each line.

use super::{Sample, Syscalls, Usage};
use crate::result::{BrokerSample, LineResult};
use crate::scenario::Line;
use crate::{Observer, Progress};

/// Watches the broker's process while a scenario runs and writes what it took into each line's result. Tells
/// another observer everything too. Of a ramp only sums are told: its figure is that of one step.
pub struct BrokerWatch<'a> {
    pid: u32,
    counts_syscalls: bool,
    inner: &'a mut dyn Observer,
    /// When the load began, and when the window did.
    load: Option<Sample>,
    window: Option<Sample>,
    syscalls: Option<Syscalls>,
}

impl<'a> BrokerWatch<'a> {
    /// Watches `pid`. System calls are counted only if asked for, since that slows the broker a little.
    pub fn new(pid: u32, counts_syscalls: bool, inner: &'a mut dyn Observer) -> Self {
        Self { pid, counts_syscalls, inner, load: None, window: None, syscalls: None }
    }
}

impl std::fmt::Debug for BrokerWatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerWatch").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Observer for BrokerWatch<'_> {
    fn line_begins(&mut self, line: &Line) {
        self.inner.line_begins(line);
    }

    fn load_begins(&mut self) {
        self.inner.load_begins();
        // What can't be counted or seen is missing in the result.
        self.load = Sample::take(self.pid).ok();
        self.window = None;
        // Over the whole load: who asks for a count has no warm-up, since nothing is timed.
        self.syscalls = self.counts_syscalls.then(|| Syscalls::start(self.pid).ok()).flatten();
    }

    fn window_begins(&mut self) {
        self.inner.window_begins();
        self.window = Sample::take(self.pid).ok();
    }

    fn window_is_whole_load(&mut self) {
        self.inner.window_is_whole_load();
        self.window = self.load.take();
    }

    fn progress(&mut self, progress: &Progress) {
        self.inner.progress(progress);
    }

    fn window_ended(&mut self, line: &mut LineResult) {
        let after = Sample::take(self.pid).ok();
        let syscalls = self.syscalls.take().and_then(Syscalls::stop);
        let usage = self.window.take().zip(after).and_then(|(before, after)| Usage::between(&before, &after));
        line.broker = usage.map(|usage| sample(self.pid, &usage, syscalls, line));
        self.inner.window_ended(line);
    }

    fn line_ended(&mut self, line: &LineResult) {
        self.inner.line_ended(line);
    }
}

fn sample(pid: u32, usage: &Usage, syscalls: Option<u64>, line: &LineResult) -> BrokerSample {
    let flow = line.produced.as_ref().or(line.consumed.as_ref());
    let value_bytes = flow.map_or(0, |flow| flow.value_bytes);
    let cpu_s_per_gb =
        if value_bytes > 0 && line.ramp.is_empty() { usage.cpu_s * 1e9 / value_bytes as f64 } else { 0.0 };
    BrokerSample {
        pid,
        cpu_s: usage.cpu_s,
        cpu_s_per_gb,
        rss_bytes: usage.rss_bytes,
        rss_max_bytes: usage.rss_peak_bytes,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        written_bytes: usage.written_bytes.unwrap_or(0),
        read_bytes: usage.read_bytes.unwrap_or(0),
        syscalls,
    }
}
