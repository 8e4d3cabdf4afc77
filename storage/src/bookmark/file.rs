//! `ringlog-bookmarks-<shard>`: the bookmarks of one shard's logs in a directory. A plain file, which Kafka skips.
//!
//! `magic "RLBM", kind u8 = 1, version u8 = 1, zeros u16, CRC-32C u32` of what follows, `zeros u32`; then an archive of rkyv's,
//! little-endian and with 32-bit pointers on every machine. The archive is checked as it is read. Whatever is wrong with the file, it
//! counts as none.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use protocol::types::Uuid;
use rkyv::rancor::Error;
use rkyv::util::AlignedVec;
use rkyv::{Archive, Deserialize, Serialize};

use super::mark::Bookmark;
use crate::TopicPartition;
use crate::dir::files;
use crate::limits::BOOKMARKS_BYTES_MAX;

const PREFIX: &str = "ringlog-bookmarks-";
const MAGIC: &[u8; 4] = b"RLBM";
const KIND: u8 = 1;
const VERSION: u8 = 1;
const HEAD_BYTES: usize = 16;

/// Bookmarks by log, each with the topic's id.
pub(crate) type Bookmarks = BTreeMap<TopicPartition, (Uuid, Bookmark)>;

/// Bookmarks of a directory's logs, for all of its shards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirBookmarks(pub(crate) Arc<Bookmarks>);

/// One log's entry.
#[derive(Debug, Clone, PartialEq, Eq, Archive, Serialize, Deserialize)]
struct Entry {
    topic: String,
    partition: i32,
    topic_id: [u8; 16],
    bookmark: Bookmark,
}

/// The name of a shard's file.
pub(crate) fn file_name(shard: u16) -> String {
    format!("{PREFIX}{shard}")
}

/// Whether it is such a name.
pub(crate) fn is_bookmarks(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|shard| shard.parse::<u16>().is_ok())
}

/// The file's bytes.
///
/// # Errors
/// Words for what can't be archived.
pub(crate) fn encode<'a>(
    bookmarks: impl Iterator<Item = (&'a TopicPartition, Uuid, &'a Bookmark)>,
) -> Result<Bytes, String> {
    let entry = |(of, topic_id, bookmark): (&TopicPartition, Uuid, &Bookmark)| Entry {
        topic: of.topic.to_string(),
        partition: of.partition,
        topic_id: topic_id.0,
        bookmark: bookmark.clone(),
    };
    let entries: Vec<Entry> = bookmarks.map(entry).collect();
    let archive = rkyv::to_bytes::<Error>(&entries).map_err(|error| error.to_string())?;
    let mut file = BytesMut::with_capacity(HEAD_BYTES + archive.len());
    file.put_slice(MAGIC);
    file.put_slice(&[KIND, VERSION, 0, 0]);
    file.put_u32(crc32c::crc32c(&archive));
    file.put_u32(0);
    file.put_slice(&archive);
    Ok(file.freeze())
}

/// Reads the file.
///
/// # Errors
/// Words for what is wrong with it.
pub(crate) fn decode(file: &[u8]) -> Result<Bookmarks, String> {
    let Some((head, body)) = file.split_at_checked(HEAD_BYTES) else { return Err("it is too short".into()) };
    if &head[..4] != MAGIC || head[4..6] != [KIND, VERSION] {
        return Err("it isn't one of this version".into());
    }
    if head[8..12] != crc32c::crc32c(body).to_be_bytes() {
        return Err("the CRC doesn't match".into());
    }
    // An archive is read where it lies, which must be aligned.
    let mut archive = AlignedVec::<16>::with_capacity(body.len());
    archive.extend_from_slice(body);
    let entries = rkyv::from_bytes::<Vec<Entry>, Error>(&archive).map_err(|error| error.to_string())?;
    let named = |entry: Entry| {
        let of = TopicPartition::new(entry.topic, entry.partition);
        (of, (Uuid(entry.topic_id), entry.bookmark))
    };
    Ok(entries.into_iter().map(named).collect())
}

/// What the files of a directory say: all shards' that there were. Of two bookmarks of one log the later counts; a file that tells
/// nothing any more, left of a start with more shards, is removed.
///
/// # Errors
/// The device's.
pub(crate) async fn read_all(dir: &Path) -> io::Result<Bookmarks> {
    let names = files::list(dir).await?.into_iter().map(|entry| entry.name);
    let mut each: BTreeMap<String, Bookmarks> = BTreeMap::new();
    for name in names.filter(|name| is_bookmarks(name)) {
        let file = dir.join(&name);
        let decoded = match files::content(files::read_small(&file, BOOKMARKS_BYTES_MAX as u64 * 2).await)? {
            Ok(bytes) => decode(&bytes.unwrap_or_default()),
            Err(reason) => Err(reason),
        };
        let decoded = decoded.unwrap_or_else(|reason| {
            tracing::warn!(file = %file.display(), reason, "bookmarks are damaged and ignored: segments are scanned from their start");
            Bookmarks::new()
        });
        each.insert(name, decoded);
    }
    let mut latest: BTreeMap<TopicPartition, (String, (Uuid, Bookmark))> = BTreeMap::new();
    for (name, bookmarks) in &each {
        for (of, found) in bookmarks {
            let place = |(_, mark): &(Uuid, Bookmark)| (mark.next, mark.bytes);
            if latest.get(of).is_none_or(|(_, known)| place(known) < place(found)) {
                latest.insert(of.clone(), (name.clone(), found.clone()));
            }
        }
    }
    for name in each.keys().filter(|name| !latest.values().any(|(from, _)| from == *name)) {
        files::remove(&dir.join(name)).await?;
    }
    Ok(latest.into_iter().map(|(of, (_, bookmark))| (of, bookmark)).collect())
}

#[cfg(test)]
mod tests;
