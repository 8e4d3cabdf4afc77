//! Entries that a replay found no place for, kept aside in a file of their own: as a journal with one entry a frame.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use protocol::types::Uuid;
use rt::fs::{File, IoBuf};

use super::chain::FoundEntry;
use super::frame::{FrameHeader, frame_bytes};
use super::header::FileHeader;
use super::names;
use super::read::OpenJournal;
use crate::dir::files;
use crate::limits::BLOCK_BYTES;

/// Writes the entries to the file `name` in `dir`, durably. The same entries give the same file.
///
/// # Errors
/// Of the device; no space.
pub(super) async fn write(
    dir: &Path,
    name: &str,
    id: u64,
    journal: &OpenJournal,
    entries: &[FoundEntry],
) -> io::Result<()> {
    let part = dir.join(format!("{name}.tmp"));
    files::remove(&part).await?;
    let file = files::open_for_writing(&part, true, false).await?;
    let written = write_entries(&file, id, journal, entries).await;
    file.close().await?;
    written?;
    rt::fs::rename(&part, &dir.join(name)).await?;
    files::sync_dir(dir).await
}

/// Removes what was kept of partitions of the topics `deleted`: nobody can take it any more.
///
/// # Errors
/// Of the device.
pub(crate) async fn forget(dir: &Path, deleted: &BTreeSet<Uuid>) -> io::Result<()> {
    let names = files::list(dir).await?.into_iter().map(|entry| entry.name);
    let of_deleted =
        |name: &String| names::parse_kept_name(name).is_some_and(|(topic_id, _)| deleted.contains(&topic_id));
    let gone: Vec<String> = names.filter(of_deleted).collect();
    for name in &gone {
        files::remove(&dir.join(name)).await?;
        tracing::info!(dir = %dir.display(), name, "records that were kept aside are of a deleted topic: they are removed");
    }
    match gone.is_empty() {
        true => Ok(()),
        false => files::sync_dir(dir).await,
    }
}

async fn write_entries(
    file: &File,
    id: u64,
    journal: &OpenJournal,
    entries: &[FoundEntry],
) -> io::Result<()> {
    let mut block = IoBuf::zeroed(BLOCK_BYTES);
    FileHeader { shard: 0, number: 0, journal: id, start: 0 }.encode(&mut block);
    file.write_at(0, block).await.0?;
    let mut at = BLOCK_BYTES as u64;
    for (sequence, found) in (1..).zip(entries) {
        let payload = journal.payload(found).await?;
        let bytes = frame_bytes(1, payload.len());
        let mut frame = IoBuf::zeroed(bytes.next_multiple_of(BLOCK_BYTES));
        found.entry.encode(&mut frame, 0);
        frame[frame_bytes(1, 0)..bytes].copy_from_slice(&payload);
        let header = FrameHeader { journal: id, lap: 0, sequence, floor: 0, entries: 1, bytes: bytes as u32 };
        header.seal(&mut frame);
        let padded_bytes = frame.len() as u64;
        file.write_at(at, frame).await.0?;
        at += padded_bytes;
        rt::yield_point().await;
    }
    file.sync_data().await
}
