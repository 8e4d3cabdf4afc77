//! Incremental fetch sessions (KIP-227), kept by the shard a connection lives on.
//!
//! A session remembers which partitions a consumer fetches, so that its requests name only what changed, and answers leave out partitions
//! without news. A client whose session is unknown here, say after it was moved to another shard by a reconnect, is told so and starts anew.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::types::{Str, Uuid};
use rt::Instant;

/// A session may be given up for a new one when it was idle this long, as in Kafka.
const EVICTABLE_AFTER: Duration = Duration::from_secs(120);

/// Partitions of a session; a fetch of more is answered without one, in full each time.
pub const SESSION_PARTITIONS_MAX: usize = 100_000;

/// A partition as a fetch names it: by name up to version 12, by id from 13.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchName {
    /// Name of the topic; empty from version 13.
    pub topic: Str,
    /// Id of the topic; zero up to version 12.
    pub topic_id: Uuid,
    /// Number of the partition.
    pub partition: i32,
}

/// A partition of a fetch, with what the client was last told of it.
#[derive(Debug, Clone)]
pub struct FetchEntry {
    /// Which.
    pub name: FetchName,
    /// Offset to read from.
    pub offset: i64,
    /// Limit of the partition, in bytes.
    pub bytes_max: usize,
    /// Leader epoch believed in, -1 without.
    pub leader_epoch: i32,
    /// Epoch of the last record fetched, -1 without.
    pub last_fetched_epoch: i32,
    /// Error code, high watermark and log start last told; none if nothing was.
    pub told: Option<(i16, i64, i64)>,
}

#[derive(Debug)]
struct Session {
    /// What the next request must say.
    epoch: i32,
    by_id: bool,
    used: Instant,
    /// Who comes first in the next answer; partitions that gave data go to the end. None while a fetch has them.
    entries: Option<Vec<FetchEntry>>,
}

/// Why a session's request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionError {
    /// FETCH_SESSION_ID_NOT_FOUND.
    NotFound,
    /// INVALID_FETCH_SESSION_EPOCH.
    InvalidEpoch,
    /// FETCH_SESSION_TOPIC_ID_ERROR: names and ids were mixed.
    TopicId,
}

/// The sessions of a shard.
#[derive(Debug)]
pub struct FetchSessions {
    sessions: RefCell<BTreeMap<i32, Session>>,
    sessions_max: usize,
}

impl FetchSessions {
    /// None yet, at most `sessions_max`.
    pub fn new(sessions_max: usize) -> FetchSessions {
        FetchSessions { sessions: RefCell::default(), sessions_max }
    }

    /// Begins a session; 0 if there is no room for one. [`Self::put`] gives it its partitions. Its next request has epoch 1.
    pub fn open(&self, by_id: bool) -> i32 {
        let mut sessions = self.sessions.borrow_mut();
        if sessions.len() >= self.sessions_max {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.used);
            let oldest =
                oldest.filter(|(_, session)| rt::now().saturating_since(session.used) > EVICTABLE_AFTER);
            let Some(id) = oldest.map(|(id, _)| *id) else { return 0 };
            sessions.remove(&id);
        }
        let id = loop {
            let id = (rt::random_u64() >> 33) as i32;
            if id != 0 && !sessions.contains_key(&id) {
                break id;
            }
        };
        sessions.insert(id, Session { epoch: 1, by_id, used: rt::now(), entries: None });
        id
    }

    /// Number of sessions.
    #[allow(clippy::len_without_is_empty, reason = "a count to show")]
    pub fn len(&self) -> usize {
        self.sessions.borrow().len()
    }

    /// Ends a session, if there is one.
    pub fn close(&self, id: i32) {
        self.sessions.borrow_mut().remove(&id);
    }

    /// Takes a session's next request: what it adds, changes and forgets. Gives all its partitions, in order, until [`Self::put`] brings them
    /// back; a request that comes meanwhile, or after a fetch that was given up, finds no session.
    ///
    /// # Errors
    /// The session is unknown, or the request isn't its next.
    pub fn advance(
        &self,
        id: i32,
        epoch: i32,
        changed: Vec<FetchEntry>,
        forgotten: &BTreeSet<FetchName>,
        by_id: bool,
    ) -> Result<Vec<FetchEntry>, SessionError> {
        let mut sessions = self.sessions.borrow_mut();
        let session = sessions.get_mut(&id).ok_or(SessionError::NotFound)?;
        if session.epoch != epoch {
            return Err(SessionError::InvalidEpoch);
        }
        let says_nothing = changed.is_empty() && forgotten.is_empty();
        if session.by_id != by_id && !says_nothing {
            return Err(SessionError::TopicId);
        }
        let Some(mut entries) = session.entries.take() else {
            sessions.remove(&id);
            return Err(SessionError::NotFound);
        };
        session.epoch = if epoch == i32::MAX { 1 } else { epoch + 1 };
        session.used = rt::now();
        if !forgotten.is_empty() {
            entries.retain(|entry| !forgotten.contains(&entry.name));
        }
        if !changed.is_empty() {
            merge(&mut entries, changed);
        }
        Ok(entries)
    }

    /// Brings a session's partitions back with what the client was told of them; those with records go to the end. Too many end the session.
    pub fn put(&self, id: i32, entries: Vec<(FetchEntry, bool)>) {
        if entries.len() > SESSION_PARTITIONS_MAX {
            self.close(id);
            return;
        }
        if let Some(session) = self.sessions.borrow_mut().get_mut(&id) {
            let (with, without): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(_, records)| *records);
            session.entries = Some(without.into_iter().chain(with).map(|(entry, _)| entry).collect());
        }
    }
}

/// Changed partitions keep their places and what was told of them; new ones follow in the request's order.
fn merge(entries: &mut Vec<FetchEntry>, changed: Vec<FetchEntry>) {
    let places: BTreeMap<&FetchName, usize> =
        entries.iter().enumerate().map(|(place, entry)| (&entry.name, place)).collect();
    let places: Vec<Option<usize>> = changed.iter().map(|entry| places.get(&entry.name).copied()).collect();
    for (new, place) in changed.into_iter().zip(places) {
        match place {
            Some(place) => entries[place] = FetchEntry { told: entries[place].told, ..new },
            None => entries.push(new),
        }
    }
}

#[cfg(test)]
mod tests;
