//! `ringlog-placement`: which shard has which partition, from one start to the next.
//!
//! `magic "RLPL", kind u8 = 1, version u8 = 1, shards u16, count u32, count x (topic id, partition i32, shard u16, on purpose u8),
//! CRC-32C u32` of all before. It stands beside the metadata log and is a cache: without it partitions are spread anew, which copies nothing.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use protocol::types::Uuid;
use rt::ShardId;
use shards::{PartitionKey, Placed, Placement};

use super::failure::Failure;
use super::state::ShardState;
use crate::metadata::Image;

/// The file's name.
pub(super) const PLACEMENT: &str = "ringlog-placement";
const MAGIC: &[u8; 4] = b"RLPL";
const KIND: u8 = 1;
const VERSION: u8 = 1;
const HEAD_BYTES: usize = 12;
const ENTRY_BYTES: usize = 16 + 4 + 2 + 1;
const CRC_BYTES: usize = 4;
/// Changes are written together, so seldom at most: topics may be made by the thousand.
const PAUSE: Duration = Duration::from_millis(200);

/// What an earlier process left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Remembered {
    /// How many shards it had.
    pub(super) shards: u16,
    /// Its partitions.
    pub(super) placed: Vec<(PartitionKey, Placed)>,
}

/// Why the file's content can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unusable {
    #[error("it isn't what was written")]
    Damaged,
    #[error("it is of a later release (version {0})")]
    Newer(u8),
}

impl Remembered {
    /// What the file in `dir` says; nothing if it isn't there or is damaged.
    ///
    /// # Errors
    /// It is of a later release, or can't be read.
    pub(super) async fn read(dir: &Path) -> Result<Remembered, Failure> {
        let file = dir.join(PLACEMENT);
        let bytes = match rt::fs::read(&file).await {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Remembered::default()),
            Err(error) => return Err(Failure::fatal(format!("reading {}: {error}", file.display()))),
        };
        match decode(&bytes) {
            Ok(remembered) => Ok(remembered),
            Err(Unusable::Damaged) => {
                tracing::warn!(file = %file.display(), "damaged: partitions are spread over the cores anew");
                Ok(Remembered::default())
            }
            Err(newer) => Err(Failure::unusable(format!(
                "{}: {newer}; without the file partitions are spread over the cores anew",
                file.display()
            ))),
        }
    }

    /// The placement that a node of `shards` shards begins with. With the same number all stays where it was; with another only what was
    /// put somewhere on purpose, and the rest is spread anew.
    pub(super) fn placement(&self, shards: u16, image: &Image) -> Placement {
        let is_same = self.shards == shards;
        let stays = |(key, placed): &&(PartitionKey, Placed)| {
            (is_same || placed.on_purpose) && image.partition(key.topic_id, key.partition).is_some()
        };
        Placement::restored(shards, self.placed.iter().filter(stays).copied())
    }
}

/// Writes the file whenever the placement has changed. On shard 0.
pub(super) async fn keep(shard: Rc<ShardState>) {
    let mut written = 0;
    loop {
        let moved = shard.served_moved.notified();
        let changes = shard.placement.borrow().changes();
        if changes == written {
            moved.await;
            continue;
        }
        // Without space, say: the next change, or the stop, tries again.
        written = changes;
        save(&shard).await;
        rt::sleep(PAUSE).await;
    }
}

/// Writes the file, on shard 0. False if that failed, which is told: the next start may have some partitions elsewhere.
pub(super) async fn save(shard: &ShardState) -> bool {
    let Some(first) = &shard.first else { return false };
    // Two at the same time would meet in the file that is renamed.
    let _turn = first.placement_writes.take(1).await;
    let file = shard.node.config.metadata_log_dir.join(PLACEMENT);
    let bytes = encode(&shard.placement.borrow());
    let written = rt::fs::write_atomic(&file, bytes).await;
    if let Err(error) = &written {
        tracing::warn!(file = %file.display(), %error, "which core has which partition wasn't written down");
    }
    written.is_ok()
}

fn encode(placement: &Placement) -> Bytes {
    let count = placement.all().count();
    let mut file = BytesMut::with_capacity(HEAD_BYTES + count * ENTRY_BYTES + CRC_BYTES);
    file.put_slice(MAGIC);
    file.put_slice(&[KIND, VERSION]);
    file.put_u16(placement.shards());
    file.put_u32(count as u32);
    for (key, placed) in placement.all() {
        file.put_slice(&key.topic_id.0);
        file.put_i32(key.partition);
        file.put_u16(placed.owner.0);
        file.put_u8(u8::from(placed.on_purpose));
    }
    file.put_u32(crc32c::crc32c(&file));
    file.freeze()
}

pub(super) fn decode(file: &[u8]) -> Result<Remembered, Unusable> {
    if file.len() < HEAD_BYTES + CRC_BYTES || &file[..4] != MAGIC || file[4] != KIND {
        return Err(Unusable::Damaged);
    }
    let (body, mut crc) = file.split_at(file.len() - CRC_BYTES);
    if crc.get_u32() != crc32c::crc32c(body) {
        return Err(Unusable::Damaged);
    }
    if body[5] > VERSION {
        return Err(Unusable::Newer(body[5]));
    }
    let mut rest = &body[6..];
    let (shards, count) = (rest.get_u16(), rest.get_u32());
    if rest.len() != (count as usize).saturating_mul(ENTRY_BYTES) {
        return Err(Unusable::Damaged);
    }
    let mut placed = Vec::with_capacity(count as usize);
    while rest.has_remaining() {
        let mut topic_id = [0; 16];
        rest.copy_to_slice(&mut topic_id);
        let key = PartitionKey { topic_id: Uuid(topic_id), partition: rest.get_i32() };
        placed.push((key, Placed { owner: ShardId(rest.get_u16()), on_purpose: rest.get_u8() != 0 }));
    }
    Ok(Remembered { shards, placed })
}

#[cfg(test)]
mod tests;
