//! Fetch sessions (KIP-227): a request names only what has changed since the last one.

use std::collections::BTreeMap;

/// The client's side of a session with one broker.
///
/// The first request names all partitions and asks for a session; later ones name those whose position has moved.
/// Any error ends the session, and the next request is a full one again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// 0 before the broker has given one.
    id: i32,
    epoch: i32,
    /// What the broker knows: slots with their positions.
    sent: BTreeMap<u32, i64>,
}

/// What a request says of partitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) session_id: i32,
    pub(crate) session_epoch: i32,
    pub(crate) positions: Vec<(u32, i64)>,
    pub(crate) forgotten: Vec<u32>,
}

impl Session {
    /// The next request's partitions, of which `all` are to be read. Costs a step for each of `all` in any case.
    pub(crate) fn request(&mut self, all: impl Iterator<Item = (u32, i64)>) -> Wanted {
        let all: BTreeMap<u32, i64> = all.collect();
        let is_full = self.id == 0;
        let changed = |(slot, offset): &(u32, i64)| is_full || self.sent.get(slot) != Some(offset);
        let positions = all.iter().map(|(slot, offset)| (*slot, *offset)).filter(changed).collect();
        let forgotten = if is_full {
            Vec::new()
        } else {
            self.sent.keys().filter(|slot| !all.contains_key(slot)).copied().collect()
        };
        self.sent = all;
        Wanted {
            session_id: self.id,
            session_epoch: if is_full { 0 } else { self.epoch },
            positions,
            forgotten,
        }
    }

    /// The answer came, without an error for the whole request. An id of 0 means that the broker keeps no session.
    pub(crate) fn answered(&mut self, session_id: i32) {
        if session_id == 0 {
            return self.reset();
        }
        self.epoch = if self.id == session_id { next_epoch(self.epoch) } else { 1 };
        self.id = session_id;
    }

    /// The session is over, on the broker or with the connection.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Epochs of sessions that go on count from 1 and wrap to 1.
fn next_epoch(epoch: i32) -> i32 {
    if epoch == i32::MAX { 1 } else { epoch + 1 }
}
