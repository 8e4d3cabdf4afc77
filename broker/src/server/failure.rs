//! [`Failure`]: why a node ends otherwise than by the stop in order.

use std::cell::RefCell;

use rt::sync::Notify;

/// Why the node can't start, or can't go on. Nothing of it is retried: what is in memory may not be what is on disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Exit code of the process: 78 (EX_CONFIG) if it can't run as configured or not on this host, 0 if it was told to stop, 1 otherwise.
    pub code: u8,
    /// In words.
    pub message: String,
}

impl Failure {
    /// It can't run as configured, or not on this host: exit code 78.
    pub fn unusable(message: impl ToString) -> Failure {
        Failure { code: rt::boot::EX_CONFIG as u8, message: message.to_string() }
    }

    /// It was told to stop before it served: no failure to who told it so. Exit code 0. The next start begins where this one did: logs that were clean
    /// still are, and those that were being recovered are recovered from the beginning.
    pub fn stopped_early() -> Failure {
        Failure { code: 0, message: "stopped before it served".to_string() }
    }

    /// Anything else: exit code 1.
    pub fn fatal(message: impl ToString) -> Failure {
        Failure { code: 1, message: message.to_string() }
    }
}

/// Where the tasks of a shard say that the node can't go on. The first one counts.
#[derive(Debug, Default)]
pub struct Failures {
    first: RefCell<Option<Failure>>,
    told: Notify,
}

impl Failures {
    /// Ends the shard with this failure, and the process with the shard.
    pub fn tell(&self, failure: Failure) {
        tracing::error!(%failure, "the node can't go on");
        self.first.borrow_mut().get_or_insert(failure);
        self.told.notify_waiters();
    }

    /// Waits for the first one.
    pub async fn first(&self) -> Failure {
        loop {
            let told = self.told.notified();
            if let Some(failure) = self.first.borrow().clone() {
                return failure;
            }
            told.await;
        }
    }
}
