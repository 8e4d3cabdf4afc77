//! A member of a classic group.

use bytes::Bytes;
use protocol::types::Str;

use crate::group::coordinator::WaiterId;

/// The protocols a member offers, by preference, each with the member's metadata for it.
pub type Protocols = Vec<(Str, Bytes)>;

/// A member: who it is, what it offers, what it was assigned, and whether it waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// `group.instance.id` of a static member (KIP-345).
    pub instance_id: Option<Str>,
    /// Client id of its first join.
    pub client_id: Str,
    /// Its address in Java's form, `/127.0.0.1`.
    pub client_host: Str,
    /// How long it may take to rejoin, ms.
    pub rebalance_timeout_ms: i32,
    /// How long it may be silent, ms.
    pub session_timeout_ms: i32,
    /// What it offers. After a load only the chosen protocol is known.
    pub protocols: Protocols,
    /// What the leader gave it in this generation.
    pub assignment: Bytes,
    /// Who waits for the end of the join phase.
    pub join: Option<WaiterId>,
    /// Who waits for the assignment.
    pub sync: Option<WaiterId>,
    /// Whether its first join is still going on: it doesn't know its id for sure and can't send heartbeats, so its join is bounded
    /// by a timeout of its own.
    pub is_new: bool,
}

impl Member {
    /// The member's metadata for `protocol`; empty if it doesn't offer it.
    pub fn metadata(&self, protocol: &str) -> Bytes {
        let found = self.protocols.iter().find(|(name, _)| name == protocol);
        found.map_or_else(Bytes::new, |(_, metadata)| metadata.clone())
    }

    /// Whether it is a static one.
    pub fn is_static(&self) -> bool {
        self.instance_id.is_some()
    }

    /// Whether its silence is no sign of death: it waits for us. A new member's wait is bounded all the same.
    pub fn is_heard(&self) -> bool {
        !self.is_new && (self.join.is_some() || self.sync.is_some())
    }
}
