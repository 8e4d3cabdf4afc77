//! A scenario from beginning to end, on the caller's thread: prepares topics over blocking sockets, starts the
//! shards for each phase of a line, watches them, and makes results of what they report.
//!
//! ```text
//!  run ── line ── topics            blocking client
//!           │ ─── watch             Engine's reports
//!           │       └ ticks, ramp   pure
//!           └ ─── measured          pure
//! ```

mod host;
mod line;
mod measured;
mod ramp;
mod run;
#[cfg(test)]
mod tests;
mod ticks;
mod topics;
mod watch;

pub use run::{run, run_observed};
