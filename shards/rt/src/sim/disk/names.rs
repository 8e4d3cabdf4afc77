//! Operations on paths of the running task's node.

use std::io;
use std::path::Path;

use bytes::Bytes;

use super::fault::FaultOp;
use super::file::File;
use super::lottery::Lottery;
use super::state::{Disk, Fate};
use super::submit::{submit, submit_atomic};
use crate::fs::{DirEntry, Space};
use crate::sim::current::expect_current;

/// The names of a directory, sorted.
pub(crate) fn list(disk: &Disk, path: &Path) -> io::Result<Vec<DirEntry>> {
    let dir = disk.find(path)?;
    if !disk.tree.is_dir(dir) {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let entry = |(name, ino): (&String, _)| DirEntry {
        name: name.clone(),
        is_dir: disk.tree.is_dir(ino),
        len: disk.file(ino).map_or(0, super::file_data::FileData::len),
        modified_ms: disk.file(ino).map_or(0, |file| file.modified_ms),
    };
    Ok(disk.tree.names(dir).map(entry).collect())
}

async fn change<T: 'static>(effect: impl FnOnce(&mut Disk) -> io::Result<T> + 'static) -> io::Result<T> {
    submit_atomic(&expect_current(), |l| &l.name_us, effect).await
}

pub(crate) async fn create_dir_all(path: &Path) -> io::Result<()> {
    let path = path.to_path_buf();
    change(move |disk| disk.create_dir_all(&path)).await
}

/// The names come in no useful order, as from a file system; the seed decides it.
pub(crate) async fn read_dir(path: &Path) -> io::Result<Vec<DirEntry>> {
    let path = path.to_path_buf();
    submit(
        &expect_current(),
        |l| &l.name_us,
        move |disk, _, rng| {
            Some(list(disk, &path).map(|mut entries| {
                for i in (1..entries.len()).rev() {
                    entries.swap(i, rng.index(i + 1));
                }
                entries
            }))
        },
    )
    .await
}

pub(crate) async fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (from.to_path_buf(), to.to_path_buf());
    change(move |disk| {
        disk.faults.strike(FaultOp::Rename, &from.to_string_lossy())?;
        disk.faults.strike(FaultOp::RenameBusy, &from.to_string_lossy())?;
        disk.rename(&from, &to)
    })
    .await
}

pub(crate) async fn remove_file(path: &Path) -> io::Result<()> {
    let path = path.to_path_buf();
    change(move |disk| disk.remove_file(&path)).await
}

/// A crash finds it done or not done; the durable names below it go one by one all the same.
pub(crate) async fn remove_dir_all(path: &Path) -> io::Result<()> {
    let path = path.to_path_buf();
    change(move |disk| disk.remove_dir_all(&path)).await
}

pub(crate) async fn exists(path: &Path) -> bool {
    let path = path.to_path_buf();
    change(move |disk| Ok(disk.find(&path).is_ok())).await.unwrap_or(false)
}

pub(crate) async fn read(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path, false).await?;
    let len = file.len()?;
    file.read_at(0, usize::try_from(len).map_err(io::Error::other)?).await
}

/// Free space of the disk, in bytes; `path` only names the disk, and a node has one.
pub(crate) async fn space(_path: &Path) -> io::Result<Space> {
    change(|disk| {
        let (total_bytes, free_bytes) = (disk.total_bytes(), disk.free_bytes());
        Ok(Space { total_bytes, used_bytes: disk.used_bytes(), free_bytes })
    })
    .await
}

/// Makes the names in a directory durable, as they were when the call began.
pub(crate) async fn sync_dir(path: &Path) -> io::Result<()> {
    let place = expect_current();
    let upto = place.world.disk(place.node).borrow().last_seq();
    let path = path.to_path_buf();
    submit(
        &place,
        |l| &l.sync_us,
        move |disk, fate, rng| {
            if fate == Fate::PowerCut || (fate == Fate::Killed && rng.percent(50)) {
                return None;
            }
            Some(disk.find(&path).and_then(|dir| {
                let struck = disk.faults.strike(FaultOp::Sync, &path.to_string_lossy());
                match &struck {
                    Ok(()) => disk.tree.promote(Some(dir), upto),
                    Err(_) => {
                        disk.sync_failed();
                        disk.tree.promote_some(Some(dir), upto, &Lottery::new(rng));
                    }
                }
                struck
            }))
        },
    )
    .await
}

/// Replaces the file at `path` so that a crash leaves the old content or the new: a temporary file, synced, renamed
/// over it, and the directory synced.
pub(crate) async fn write_atomic(path: &Path, content: Bytes) -> io::Result<()> {
    let mut tmp = path.as_os_str().to_owned();
    tmp.push(".tmp");
    let tmp = Path::new(&tmp);
    let file = File::open(tmp, true).await?;
    file.set_len(0).await?;
    file.write_at(0, content).await?;
    file.sync_data().await?;
    drop(file);
    rename(tmp, path).await?;
    sync_dir(path.parent().unwrap_or(Path::new("/"))).await
}
