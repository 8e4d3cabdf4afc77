//! Files of a quorum that begins with metadata from elsewhere.

use bytes::{BufMut, Bytes, BytesMut};
use protocol::wire::Writer;
use raft::eraftpb::HardState;

use super::batch::put_record;
use super::config::raft_id;
use super::error::QuorumError;
pub use super::files::{LOG_NAME, SNAPSHOT_NAME};
use super::frame::Frame;
use super::header::LogHeader;
use super::snapshot;
use crate::metadata::image::Image;

/// Index and term of the one entry that the metadata stand for.
const ENTRY: (u64, u64) = (1, 1);

/// A quorum's two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// [`SNAPSHOT_NAME`].
    pub snapshot: Bytes,
    /// [`LOG_NAME`]. Without the snapshot a start refuses it, and the other way round.
    pub log: Bytes,
}

/// The files of a quorum of the one node `node_id` that begins with `image`. `random` makes the log's frames its own.
///
/// # Errors
/// `Record`: a name in the image is too long for a record.
pub fn seed(node_id: i32, image: &Image, random: u64) -> Result<Seed, QuorumError> {
    let raft_id = raft_id(node_id);
    let (mut w, mut records) = (Writer::new(), 0);
    for record in image.to_records() {
        put_record(&mut w, &record)?;
        records += 1;
    }
    let snapshot = snapshot::file(raft_id, ENTRY, image, records, &w.into_bytes());
    let header = LogHeader {
        file_id: random,
        raft_id,
        start_index: ENTRY.0,
        start_term: ENTRY.1,
        first_seq: 1,
        cluster_id: image.cluster_id.clone(),
    };
    let mut hard_state = HardState::default();
    hard_state.set_term(ENTRY.1);
    hard_state.set_commit(ENTRY.0);
    let frame = Frame { hard_state, entries: Vec::new() };
    let mut log = BytesMut::from(&header.encode()[..]);
    log.put_slice(&frame.encode(random, header.first_seq));
    Ok(Seed { snapshot, log: log.freeze() })
}
