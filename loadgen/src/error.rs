//! Why a run failed.

use client::ClientError;
use protocol::records::RecordsError;
use rt::boot::BootError;

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
    /// The shards don't run on this host.
    #[error("the load generator can't run here: {0}")]
    Boot(BootError),
    /// A phase ended before it should.
    #[error("{0}")]
    Stopped(String),
}
