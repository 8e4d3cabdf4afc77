//! Why a run failed.

use client::ClientError;
use protocol::records::RecordsError;

use crate::process::HostError;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The cluster, or the way to it.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Batches that can't be built or read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A program or file of this host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A scenario file that can't be read.
    #[error("the scenario can't be read: {0}")]
    Scenario(String),
    /// Settings that make no run.
    #[error("{0}")]
    Usage(String),
    /// What was acknowledged isn't what is in the topic.
    #[error("verification failed: {0}")]
    Verify(String),
}
