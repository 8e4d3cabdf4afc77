//! Live progress in the terminal.

use std::io::{IsTerminal, Write, stderr};

use crate::observe::{Observer, Progress};
use crate::result::LineResult;
use crate::scenario::Line;

/// Rewrites one line of standard error about once a second: bar, rate, latencies, lag. Says nothing where that is
/// no terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    is_on: bool,
    name: String,
}

const BAR_CELLS: usize = 20;
/// Longest name shown.
const NAME_CHARS: usize = 36;

impl Terminal {
    pub(super) fn new(quiet: bool) -> Self {
        Self { is_on: !quiet && stderr().is_terminal(), name: String::new() }
    }

    fn write(&self, text: &str) {
        if self.is_on {
            // A terminal that is gone takes nothing from the run.
            let _ = write!(stderr(), "\r\x1b[K{text}").and_then(|()| stderr().flush());
        }
    }
}

impl Observer for Terminal {
    fn line_begins(&mut self, line: &Line) {
        self.name = line.name.chars().take(NAME_CHARS).collect();
        self.write(&format!("{}: preparing", self.name));
    }

    fn progress(&mut self, progress: &Progress) {
        self.write(&format!("{}: {}", self.name, text(progress)));
    }

    fn line_ended(&mut self, _line: &LineResult) {
        self.write("");
    }
}

/// As in `[#####     ] measuring 1.2 M/s 120 MB/s, p50 0.4 p99 1.2 ms, lag 12`.
pub(super) fn text(progress: &Progress) -> String {
    let full = (progress.done.clamp(0.0, 1.0) * BAR_CELLS as f64) as usize;
    let bar: String = (0..BAR_CELLS).map(|cell| if cell < full { '#' } else { '.' }).collect();
    let second = &progress.second;
    let mut text = format!("[{bar}] {}", progress.phase.name());
    if second.produced_per_s > 0.0 {
        text += &format!(" out {}/s {:.1} MB/s", short(second.produced_per_s), second.mb_per_s);
    }
    if second.consumed_per_s > 0.0 {
        text += &format!(" in {}/s lag {}", short(second.consumed_per_s), short(second.lag_records as f64));
    }
    if second.produce_p99_ms > 0.0 {
        text += &format!(" p50 {:.2} p99 {:.2} ms", second.produce_p50_ms, second.produce_p99_ms);
    }
    if second.end_to_end_p99_ms > 0.0 {
        text += &format!(" end-to-end p99 {:.2} ms", second.end_to_end_p99_ms);
    }
    if second.errors > 0 {
        text += &format!(" errors {}", second.errors);
    }
    text
}

/// 1234567 as 1.23 M.
pub(super) fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
