//! A file system as a whole.

use std::cell::Cell;
use std::io;
use std::path::Path;

use crate::sync::Budget;

/// The file system that a file is on, held open: to be opened before the first write whose durability it is asked about.
///
/// The system tells a failed write-back once to each descriptor that was open by then. A descriptor that is opened for one sync learns
/// nothing of what somebody else was told before, and takes for durable what is lost.
#[derive(Debug)]
pub struct Volume {
    inner: Inner,
    /// One sync at a time: of two, one alone would be told.
    turn: Budget,
    /// A sync failed, or isn't over: no later one makes up for it.
    failed: Cell<bool>,
}

#[derive(Debug)]
enum Inner {
    Real(crate::real::fs::Volume),
    #[cfg(feature = "sim")]
    Sim(crate::sim::disk::Volume),
}

impl Volume {
    /// The file system of the file at `path`.
    ///
    /// # Errors
    /// NotFound and the like.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Volume> {
        Ok(Volume {
            inner: Inner::open(path.as_ref()).await?,
            turn: Budget::new(1),
            failed: Cell::new(false),
        })
    }

    /// Makes everything on it durable, as it was when the call began.
    ///
    /// # Errors
    /// EIO, as by [`File::sync_data`](super::File::sync_data): of a write-back that failed at any time since this was opened, whoever else
    /// was told of it. From then on always.
    pub async fn sync(&self) -> io::Result<()> {
        let _turn = self.turn.take(1).await;
        if self.failed.get() {
            return Err(io::Error::other("an earlier sync failed"));
        }
        // Also by one whose caller went away: its answer is lost.
        self.failed.set(true);
        let synced = match &self.inner {
            Inner::Real(volume) => volume.sync().await,
            #[cfg(feature = "sim")]
            Inner::Sim(volume) => volume.sync().await,
        };
        self.failed.set(synced.is_err());
        synced
    }
}

impl Inner {
    async fn open(path: &Path) -> io::Result<Inner> {
        #[cfg(feature = "sim")]
        if crate::sim::facade::is_simulated() {
            return Ok(Inner::Sim(crate::sim::disk::Volume::open(path).await?));
        }
        Ok(Inner::Real(crate::real::fs::Volume::open(path).await?))
    }
}
