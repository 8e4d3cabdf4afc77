//! raft-rs logs by slog; here that becomes tracing events.

use slog::{Drain, Level, Logger, Never, OwnedKVList, Record, o};

struct ToTracing;

/// What raft-rs is given.
pub(super) fn logger() -> Logger {
    Logger::root(ToTracing, o!())
}

impl Drain for ToTracing {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _values: &OwnedKVList) -> Result<(), Never> {
        // A quorum of one says nothing that an operator needs: what goes wrong comes back as an error.
        match record.level() {
            Level::Critical | Level::Error => tracing::error!(target: "raft", "{}", record.msg()),
            Level::Warning => tracing::warn!(target: "raft", "{}", record.msg()),
            Level::Info | Level::Debug | Level::Trace => tracing::debug!(target: "raft", "{}", record.msg()),
        }
        Ok(())
    }
}
