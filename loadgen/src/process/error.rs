//! What the host refused.

use std::io;

/// Why a program could not be started, watched or prepared. The operator's to mend.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A system call failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A program or file that is needed isn't there.
    #[error("{0}")]
    Missing(String),
    /// A program ended or hung where it should have gone on.
    #[error("{what}{}", tail(.log_tail))]
    Program {
        /// Which one, and what it did.
        what: String,
        /// The end of what it printed.
        log_tail: String,
    },
}

impl HostError {
    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }
}

fn tail(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("; it printed last:\n{log}") }
}
