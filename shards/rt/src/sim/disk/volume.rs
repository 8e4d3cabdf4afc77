//! A simulated disk as a whole.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::path::Path;
use std::rc::Rc;

use super::fault::{FaultOp, eio};
use super::lottery::Lottery;
use super::state::Fate;
use super::submit::{submit, submit_atomic};
use crate::sim::current::{Current, expect_current};

/// The running task's node's disk. It is told of each failed sync since it was opened, once, as a descriptor is of failed write-back.
pub(crate) struct Volume {
    place: Current,
    path: Rc<str>,
    // Failed syncs it was told of, or that were before its time.
    told: Rc<Cell<u64>>,
}

impl Volume {
    pub(crate) async fn open(path: &Path) -> io::Result<Volume> {
        let place = expect_current();
        let owned = path.to_path_buf();
        let find = move |disk: &mut super::state::Disk| disk.find(&owned).map(|_| disk.failed_syncs());
        let before = submit_atomic(&place, |l| &l.name_us, find).await?;
        let (path, told) = (path.to_string_lossy().into(), Rc::new(Cell::new(before)));
        Ok(Volume { place, path, told })
    }

    /// Makes everything on the disk durable, as it was when the call began.
    pub(crate) async fn sync(&self) -> io::Result<()> {
        let upto = self.place.world.disk(self.place.node).borrow().last_seq();
        let (path, told) = (self.path.clone(), self.told.clone());
        submit(
            &self.place,
            |l| &l.sync_us,
            move |disk, fate, rng| {
                if fate == Fate::PowerCut || (fate == Fate::Killed && rng.percent(50)) {
                    return None;
                }
                if disk.faults.strike(FaultOp::Sync, &path).is_err() {
                    disk.sync_failed();
                    let lottery = Lottery::new(rng);
                    disk.files_mut().for_each(|file| file.promote_some(upto, &lottery));
                    disk.tree.promote_some(None, upto, &lottery);
                } else {
                    disk.sync_all(upto);
                }
                let failed = disk.failed_syncs();
                Some(if told.replace(failed) == failed { Ok(()) } else { Err(eio()) })
            },
        )
        .await
    }
}

impl fmt::Debug for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Volume").field("path", &self.path).finish_non_exhaustive()
    }
}
