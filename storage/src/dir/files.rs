//! Files as this crate opens them: the one place that spells out modes and paths to `rt`.

use std::io;
use std::path::Path;

use bytes::Bytes;
use rt::fs::{self, DirEntry, File, OpenMode};

use crate::Offset;
use crate::error::is_full;
use crate::segment::names;

/// A segment to append to.
pub(crate) async fn open_for_writing(path: &Path, create: bool, direct: bool) -> io::Result<File> {
    File::open(path, OpenMode::ReadWrite { create, direct }).await
}

/// A segment to read.
pub(crate) async fn open_for_reading(path: &Path, direct: bool) -> io::Result<File> {
    File::open(path, OpenMode::Read { direct }).await
}

/// Makes a directory's entries durable.
pub(crate) async fn sync_dir(path: &Path) -> io::Result<()> {
    fs::sync_dir(path).await
}

/// A whole small file; `None` if there is none, an error if it is larger than `bytes_max`.
pub(crate) async fn read_small(path: &Path, bytes_max: u64) -> io::Result<Option<Bytes>> {
    match fs::read(path).await {
        Ok(bytes) if bytes.len() as u64 > bytes_max => {
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("larger than {bytes_max} bytes")))
        }
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A whole small text file.
pub(crate) async fn read_text(path: &Path, bytes_max: u64) -> io::Result<Option<String>> {
    let Some(bytes) = read_small(path, bytes_max).await? else { return Ok(None) };
    let text = String::from_utf8(bytes.to_vec());
    text.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// Content, if what was read is any; or words for why it can't be that file's, too large or no text.
///
/// # Errors
/// The device's.
pub(crate) fn content<T>(read: io::Result<Option<T>>) -> io::Result<Result<Option<T>, String>> {
    match read {
        Ok(content) => Ok(Ok(content)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Replaces a file: after a crash it is the old one or the new one, whole.
pub(crate) async fn replace(path: &Path, content: impl Into<Bytes>) -> io::Result<()> {
    fs::write_atomic(path, content.into()).await
}

/// A directory's entries, sorted by name; none if it isn't there.
pub(crate) async fn list(path: &Path) -> io::Result<Vec<DirEntry>> {
    match fs::read_dir(path).await {
        Ok(mut entries) => {
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(entries)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes a file; no error if it isn't there.
pub(crate) async fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the producer snapshots that stand behind `end`, durably.
pub(crate) async fn remove_snapshots_behind(dir: &Path, end: Offset) -> io::Result<()> {
    let entries = list(dir).await?;
    let snapshots = entries.iter().filter(|entry| {
        let parsed = names::parse_file_name(&entry.name);
        parsed.is_some_and(|(offset, suffix)| suffix == names::SNAPSHOT && offset > end)
    });
    let mut any = false;
    for entry in snapshots {
        remove(&dir.join(&entry.name)).await?;
        any = true;
    }
    if any { sync_dir(dir).await } else { Ok(()) }
}

/// The files of a segment, the records last.
const OF_A_SEGMENT: [&str; 5] =
    [names::INDEX, names::TIME_INDEX, names::TXN_INDEX, names::SNAPSHOT, names::LOG];

/// Removes a segment with all its files, durably.
pub(crate) async fn remove_segment(dir: &Path, base: Offset) -> io::Result<()> {
    for suffix in OF_A_SEGMENT {
        remove(&dir.join(names::file_name(base, suffix))).await?;
    }
    sync_dir(dir).await
}

/// Renames all files of a segment to `.deleted`, as Kafka does, for [`remove_doomed`]. Not durable: a crash may bring some
/// of the names back. Where there is no space for a new name the file goes at once.
pub(crate) async fn doom_segment(dir: &Path, base: Offset) -> io::Result<()> {
    for suffix in OF_A_SEGMENT {
        let path = dir.join(names::file_name(base, suffix));
        match fs::rename(&path, dir.join(names::doomed_file_name(base, suffix))).await {
            Err(error) if is_full(&error) => remove(&path).await?,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Removes the files that [`doom_segment`] renamed.
pub(crate) async fn remove_doomed(dir: &Path, base: Offset) -> io::Result<()> {
    for suffix in OF_A_SEGMENT {
        remove(&dir.join(names::doomed_file_name(base, suffix))).await?;
    }
    Ok(())
}
