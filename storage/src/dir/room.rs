//! Room on the disk: when writes are refused, and the ballast that is given up when nothing is free.
//!
//! ```text
//!   used:  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░▒▒│▓▓▓▓▓▓▓▓
//!                                      taken again ▲ ▲ refused (ringlog.disk.full.percent)
//! ```
//!
//! Refused are the batches of producers. Reads, deletions, retention, and what the node writes for itself go on, so that the
//! disk gets room again; when the device has not a byte left, they have the ballast's space. Until that is there again, nothing is taken
//! from producers, however much the disk seems to have. A disk that never had room for it does without, and says so.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use rt::fs::{OpenMode, Space};

use super::files;
use super::shared::DirShared;
use crate::LogDirConfig;
use crate::limits::{
    DISK_ENOUGH_MORE, DISK_RESUME_PERCENT, ROOM_CHECK_EVERY, ROOM_NONE_BYTES, ROOM_NONE_LOOKS,
};

/// The ballast's file, in the log directory. Kafka skips it.
const BALLAST: &str = "ringlog-ballast";

/// What is known of the disk that a directory is on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Room {
    /// Size of the file system, in bytes.
    pub total_bytes: u64,
    /// What may still be taken, in bytes.
    pub free_bytes: u64,
    /// Whether producers' batches are refused for it.
    pub refuses_writes: bool,
}

/// The last look at the disk, of one shard.
#[derive(Debug, Default)]
pub(crate) struct RoomGauge {
    room: Cell<Room>,
    /// By the disk's fill alone.
    is_full: Cell<bool>,
    /// The ballast was seen: if it is gone, it was given up.
    had_ballast: Cell<bool>,
    /// That there is no room for it was said.
    was_told: Cell<bool>,
    /// Looks in a row that found nothing free.
    empty_looks: Cell<u32>,
}

impl RoomGauge {
    pub(crate) fn room(&self) -> Room {
        self.room.get()
    }

    pub(crate) fn refuses_writes(&self) -> bool {
        self.room.get().refuses_writes
    }

    /// Takes in a look. Gives whether something changed about writes.
    fn update(&self, space: Space, has_ballast: bool, config: &LogDirConfig) -> bool {
        let full = is_full(space, self.is_full.get(), config);
        self.is_full.set(full);
        self.had_ballast.set(self.had_ballast.get() || has_ballast);
        let refuses_writes = full || (self.had_ballast.get() && !has_ballast);
        let (total_bytes, free_bytes) = (space.total_bytes, space.free_bytes);
        let before = self.room.replace(Room { total_bytes, free_bytes, refuses_writes });
        before.refuses_writes != refuses_writes
    }
}

/// Whether a disk counts as full that `was_full` before: without anything free it does, with as much as is enough it doesn't.
fn is_full(space: Space, was_full: bool, config: &LogDirConfig) -> bool {
    // What only the system's administrator may take is neither used nor free.
    let all = u128::from(space.used_bytes) + u128::from(space.free_bytes);
    let percent = config.full_percent.saturating_sub(if was_full { DISK_RESUME_PERCENT } else { 0 });
    let is_above = u128::from(space.used_bytes) * 100 >= all * u128::from(percent);
    // As with the percentage: what is enough is a little more once it wasn't.
    let more = if was_full { config.free_bytes_enough / DISK_ENOUGH_MORE } else { 0 };
    let is_enough = space.free_bytes >= config.free_bytes_enough.saturating_add(more);
    space.free_bytes < ROOM_NONE_BYTES || (is_above && !is_enough)
}

/// Looks at the disk every so often, for as long as the directory is in use.
pub(crate) async fn watch(dir: Rc<DirShared>) {
    loop {
        rt::sleep(ROOM_CHECK_EVERY).await;
        look(&dir).await;
    }
}

/// Looks at the disk now. The shard that keeps the ballast gives it up or makes it, as there is room.
pub(crate) async fn look(dir: &DirShared) {
    let space = match rt::fs::space(&dir.path).await {
        Ok(space) => space,
        Err(error) => {
            tracing::warn!(%error, dir = %dir.path.display(), "the disk doesn't tell its free space");
            return;
        }
    };
    if dir.config.keeps_ballast {
        keep_ballast(dir, space).await;
    }
    let has_ballast = dir.config.ballast_bytes == 0 || rt::fs::exists(dir.path.join(BALLAST)).await;
    if dir.room.update(space, has_ballast, &dir.config) {
        let Room { total_bytes, free_bytes, refuses_writes } = dir.room.room();
        match refuses_writes {
            true => {
                tracing::warn!(dir = %dir.path.display(), free_bytes, total_bytes, "the disk is full: producers' writes are refused")
            }
            false => {
                tracing::info!(dir = %dir.path.display(), free_bytes, total_bytes, "the disk has room again: writes are taken")
            }
        }
        // Deleted files needn't wait any more.
        dir.doomed.look_again();
    }
}

async fn keep_ballast(dir: &DirShared, space: Space) {
    if space.free_bytes < ROOM_NONE_BYTES {
        // Only once every shard has looked, and takes nothing more from producers: they would have it at once.
        let looks = dir.room.empty_looks.get() + 1;
        dir.room.empty_looks.set(looks);
        if looks >= ROOM_NONE_LOOKS {
            dir.give_up_ballast().await;
        }
        return;
    }
    dir.room.empty_looks.set(0);
    let ballast_bytes = dir.config.ballast_bytes;
    match make_ballast(&dir.path, ballast_bytes, space).await {
        Ok(()) => dir.room.was_told.set(false),
        Err(error) if !dir.room.was_told.replace(true) => {
            let (dir, free_bytes) = (dir.path.display(), space.free_bytes);
            tracing::warn!(%error, %dir, ballast_bytes, free_bytes, "the ballast can't be made: on a full disk deletions may find no room");
        }
        Err(_) => {}
    }
}

/// Makes the ballast unless it is there, or removes it if it is to have no size.
///
/// # Errors
/// Too little space: there must be room for as much again.
pub(crate) async fn make_ballast(dir: &Path, bytes: u64, space: Space) -> io::Result<()> {
    let path = dir.join(BALLAST);
    if bytes == 0 {
        return files::remove(&path).await;
    }
    if let Some(there) = size_of(&path).await? {
        if there == bytes {
            return Ok(());
        }
        // Of another size than is configured, or of none: its making was cut off.
        files::remove(&path).await?;
    }
    if space.free_bytes < bytes.saturating_mul(2).saturating_add(ROOM_NONE_BYTES) {
        return Err(io::ErrorKind::StorageFull.into());
    }
    // Under a name that the next start removes, until it has its space.
    let part = dir.join(format!("{BALLAST}.tmp"));
    files::remove(&part).await?;
    let file = rt::fs::File::open(&part, OpenMode::ReadWrite { create: true, direct: false }).await?;
    let filled = match file.preset(bytes).await {
        Ok(()) => file.sync_data().await,
        refused => refused,
    };
    file.close().await?;
    if let Err(error) = filled {
        files::remove(&part).await?;
        return Err(error);
    }
    rt::fs::rename(&part, &path).await
}

/// How large the ballast is, if there is one.
async fn size_of(ballast: &Path) -> io::Result<Option<u64>> {
    let file = match rt::fs::File::open(ballast, OpenMode::Read { direct: false }).await {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let len = file.len().await;
    file.close().await?;
    len.map(Some)
}

impl DirShared {
    /// Gives up the ballast because the disk is full: true if there was one. Until it is made again, writes are refused.
    pub(crate) async fn give_up_ballast(&self) -> bool {
        if self.config.ballast_bytes == 0 || rt::fs::remove_file(self.path.join(BALLAST)).await.is_err() {
            return false;
        }
        tracing::warn!(dir = %self.path.display(), bytes = self.config.ballast_bytes, "the disk is full: the ballast is given up");
        self.room.had_ballast.set(true);
        self.room.room.set(Room { refuses_writes: true, ..self.room.room() });
        self.doomed.look_again();
        true
    }
}

#[cfg(test)]
mod tests;
