//! Incremental fetch sessions (KIP-227), kept by the shard a connection lives on.
//!
//! A session remembers which partitions a consumer fetches, so that its requests name only what changed, and answers leave out partitions
//! without news. A client whose session is unknown here, say after it was moved to another shard by a reconnect, is told so and starts anew.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use protocol::types::{Str, Uuid};
use rt::Instant;

/// A session may be given up for a new one when it was idle this long, as in Kafka.
const EVICTABLE_AFTER: Duration = Duration::from_secs(120);

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
    /// Who comes first in the next answer; partitions that gave data go to the end.
    entries: Vec<FetchEntry>,
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

    /// Begins a session over these partitions; 0 if there is no room for one. Its next request has epoch 1.
    pub fn open(&self, entries: Vec<FetchEntry>, by_id: bool) -> i32 {
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
        sessions.insert(id, Session { epoch: 1, by_id, used: rt::now(), entries });
        id
    }

    /// Ends a session, if there is one.
    pub fn close(&self, id: i32) {
        self.sessions.borrow_mut().remove(&id);
    }

    /// Takes a session's next request: what it adds, changes and forgets. Gives all its partitions, in order.
    ///
    /// # Errors
    /// The session is unknown, or the request isn't its next.
    pub fn advance(
        &self,
        id: i32,
        epoch: i32,
        changed: Vec<FetchEntry>,
        forgotten: &[FetchName],
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
        session.epoch = if epoch == i32::MAX { 1 } else { epoch + 1 };
        session.used = rt::now();
        if !forgotten.is_empty() {
            session.entries.retain(|entry| !forgotten.contains(&entry.name));
        }
        let mut changed: BTreeMap<FetchName, FetchEntry> =
            changed.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        for entry in &mut session.entries {
            if let Some(new) = changed.remove(&entry.name) {
                *entry = FetchEntry { told: entry.told, ..new };
            }
        }
        session.entries.extend(changed.into_values());
        Ok(session.entries.clone())
    }

    /// Remembers what the client was told, in the order of `entries`; those with records go to the end.
    pub fn told(&self, id: i32, entries: Vec<(FetchEntry, bool)>) {
        if let Some(session) = self.sessions.borrow_mut().get_mut(&id) {
            let (with, without): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(_, records)| *records);
            session.entries = without.into_iter().chain(with).map(|(entry, _)| entry).collect();
        }
    }

    /// Number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.borrow().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
