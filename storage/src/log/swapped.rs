//! Finishing what compaction had decided when a crash came: a segment under a `.swap` name takes the place of those it
//! was made of, here as in Kafka, whose directories may hold such files too.
//!
//! It replaces all segments that start within its offsets; its last batch is the last of the last of them. Its indexes
//! are written anew: which of those found beside it are its own can't be told. But for that of aborted transactions, which
//! tells more than the batches do: if it isn't under a `.swap` name any more it has its own, or there is none, and one of the
//! old segment of that name says nothing wrong. May be cut short itself at any point.

use std::path::Path;
use std::rc::Rc;

use super::active::SegmentBuild;
use crate::dir::files;
use crate::dir::shared::DirShared;
use crate::error::is_full;
use crate::segment::{SegmentReader, WalkError, names};
use crate::{Offset, StorageError};

/// A segment that is to take others' place, and the names in the directory.
struct Swapped<'a> {
    path: &'a Path,
    build: SegmentBuild,
    /// The offset after its last record.
    next: Offset,
}

/// Finishes all replacements in a partition's directory. Gives words for one that is damaged: it, and what it would have
/// replaced, are left for repair.
///
/// # Errors
/// `Io`, `NoSpace`.
pub(crate) async fn finish(
    dir: &DirShared,
    path: &Path,
    index_interval_bytes: u32,
) -> Result<Option<String>, StorageError> {
    let failed = |error| StorageError::io(format!("opening {}", path.display()), error);
    let entries = files::list(path).await.map_err(failed)?;
    let parsed = entries.iter().filter_map(|entry| {
        let plain = entry.name.strip_suffix(names::SWAP)?.strip_suffix('.')?;
        names::parse_file_name(plain).map(|(base, suffix)| (base, suffix, entry.len, &entry.name))
    });
    let (logs, others): (Vec<_>, Vec<_>) = parsed.partition(|(_, suffix, ..)| *suffix == names::LOG);
    let mut damaged = None;
    for (base, _, bytes, name) in logs {
        let file = path.join(name);
        match walk(dir, &file, base, bytes, index_interval_bytes).await.map_err(failed)? {
            Ok((build, next)) => {
                let swapped = Swapped { path, build, next };
                let installed = swapped.install(&entries).await;
                installed.map_err(|error| {
                    // What a full disk keeps from being done is done at the next try.
                    if !is_full(&error) {
                        dir.fail(format!("replacing segments of {}: {error}", path.display()));
                    }
                    failed(error)
                })?;
            }
            Err(reason) => {
                damaged.get_or_insert_with(|| format!("{}: {reason}", file.display()));
            }
        }
    }
    if damaged.is_none() {
        // Those of a replacement that was never decided, and what is left of the others.
        for (_, _, _, name) in others {
            files::remove(&path.join(name)).await.map_err(failed)?;
        }
    }
    Ok(damaged)
}

/// Looks at all batches of a segment file; gives its indexes and where it ends, or why it isn't whole.
async fn walk(
    dir: &DirShared,
    file: &Path,
    base: Offset,
    bytes: u64,
    index_interval_bytes: u32,
) -> std::io::Result<Result<(SegmentBuild, Offset), String>> {
    let mut build = SegmentBuild::new(base);
    let mut next = base;
    if bytes == 0 {
        return Ok(Ok((build, next)));
    }
    let opened = files::open_for_reading(file, dir.config.direct_io).await?;
    let mut reader = SegmentReader::uncached(Rc::new(opened), bytes);
    let ended = loop {
        let header = match reader.header_at(build.bytes).await {
            Ok(Some(header)) => header,
            Ok(None) => break Ok(()),
            Err(WalkError::NoBatch(reason)) => break Err(format!("at {}: {reason}", build.bytes)),
            Err(WalkError::Io(error)) => return Err(error),
        };
        let fits = Offset(header.base_offset) >= next
            && header.last_offset_delta >= 0
            && build.holds(Offset(header.last_offset()))
            && build.bytes <= i32::MAX as u64;
        if !fits {
            break Err(format!("at {}: offset {} doesn't follow {next}", build.bytes, header.base_offset));
        }
        build.push(&header, index_interval_bytes);
        next = Offset(header.next_offset());
        rt::yield_point().await;
    };
    reader.close().await?;
    build.seal();
    Ok(ended.map(|()| (build, next)))
}

impl Swapped<'_> {
    async fn install(&self, entries: &[rt::fs::DirEntry]) -> std::io::Result<()> {
        let base = self.build.base;
        let replaces = |found: Offset| found == base || (base..self.next).contains(&found);
        for entry in entries {
            let Some((found, suffix)) = names::parse_file_name(&entry.name) else { continue };
            let is_segments = [names::LOG, names::INDEX, names::TIME_INDEX].contains(&suffix);
            let is_others = [names::SNAPSHOT, names::TXN_INDEX].contains(&suffix) && found != base;
            if replaces(found) && (is_segments || is_others) {
                files::remove(&self.path.join(&entry.name)).await?;
            }
        }
        files::sync_dir(self.path).await?;
        let path = |suffix| self.path.join(names::file_name(base, suffix));
        let write = async {
            files::replace(&path(names::TIME_INDEX), self.build.times.to_file()).await?;
            files::replace(&path(names::INDEX), self.build.index.to_file()).await
        };
        // They are caches.
        write.await.or_else(|error| if is_full(&error) { Ok(()) } else { Err(error) })?;
        let swap = |suffix| self.path.join(names::passing_name(base, suffix, names::SWAP));
        match rt::fs::rename(swap(names::TXN_INDEX), path(names::TXN_INDEX)).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        rt::fs::rename(swap(names::LOG), path(names::LOG)).await?;
        files::sync_dir(self.path).await
    }
}
