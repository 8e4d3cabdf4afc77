//! A file system, by a file on it that stays open.

#![allow(clippy::disallowed_types, reason = "used on helper threads")]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{fdatasync, syncfs};

use crate::real::current;

#[derive(Debug)]
pub(crate) struct Volume {
    file: Arc<File>,
}

impl Volume {
    pub(crate) async fn open(path: &Path) -> io::Result<Volume> {
        let path = path.to_owned();
        let helpers = current::expect("rt::fs").helpers.clone();
        let file = helpers.run(move || File::open(path)).await?;
        Ok(Volume { file: Arc::new(file) })
    }

    pub(crate) async fn sync(&self) -> io::Result<()> {
        let file = self.file.clone();
        let helpers = current::expect("rt::fs").helpers.clone();
        let sync = move || {
            syncfs(&file)?;
            // XFS's syncfs forces its log, which flushes the device only if anything is in it: an overwrite by direct I/O may leave
            // nothing there. The sync of a file always flushes the device.
            fdatasync(&file)?;
            Ok(())
        };
        helpers.run(sync).await
    }
}
