//! Watching a run.

use crate::result::{LineResult, Second};
use crate::scenario::Line;

/// Told of a run as it goes, on the thread that called [`crate::run()`]. Every method does nothing by default.
pub trait Observer {
    /// A line is about to be prepared.
    fn line_begins(&mut self, _line: &Line) {}
    /// Its load begins now, warm-up first.
    fn load_begins(&mut self) {}
    /// Its measured window begins now: the moment to take a broker's first sample.
    fn window_begins(&mut self) {}
    /// About once a second, in every phase.
    fn progress(&mut self, _progress: &Progress) {}
    /// It was over before much of the window had passed: all since [`Observer::load_begins`] is what is measured.
    fn window_is_whole_load(&mut self) {}
    /// Its measured window has just ended: the moment to take the second sample, and to put the difference into
    /// `line.broker`. Verification and cleaning up come later.
    fn window_ended(&mut self, _line: &mut LineResult) {}
    /// The line is over, also if it wasn't run or failed.
    fn line_ended(&mut self, _line: &LineResult) {}
}

/// An observer that doesn't look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// How far a line has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// How much of this phase is over, 0 to 1.
    pub done: f64,
    /// The second just over.
    pub second: Second,
}

/// The phases of a line, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Sending what consumers are to find.
    Backlog,
    /// Load that isn't measured.
    WarmUp,
    /// Load that is.
    Measured,
    /// Reading everything back.
    Verify,
}

impl Phase {
    /// As people read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Backlog => "backlog",
            Self::WarmUp => "warm-up",
            Self::Measured => "measuring",
            Self::Verify => "verifying",
        }
    }
}
