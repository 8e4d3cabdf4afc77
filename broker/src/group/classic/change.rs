//! Changes of the volatile part of a group.

use protocol::types::Str;

use super::member::{Member, Protocols};
use crate::group::coordinator::WaiterId;

/// What a member says anew with each join.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberUpdate {
    /// What it offers.
    pub protocols: Protocols,
    /// ms.
    pub rebalance_timeout_ms: i32,
    /// ms.
    pub session_timeout_ms: i32,
}

/// A change of one group.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassicChange {
    /// An id was given out (KIP-394).
    AddPending {
        /// It.
        member_id: Str,
        /// How long it is kept, ms.
        session_timeout_ms: i32,
    },
    /// A member joins for the first time.
    Add {
        /// Its id.
        member_id: Str,
        /// It, with its join waiter.
        member: Box<Member>,
        /// Its protocol type.
        protocol_type: Str,
    },
    /// A known member joins again.
    Update {
        /// Its id.
        member_id: Str,
        /// What it says now.
        update: Box<MemberUpdate>,
        /// Who waits.
        waiter: WaiterId,
    },
    /// A static member came back under a new id: the old id is fenced.
    ReplaceStatic {
        /// The id that is fenced.
        old_id: Str,
        /// Its successor.
        new_id: Str,
        /// What it says now.
        update: Box<MemberUpdate>,
        /// Who waits for a rebalance; none if it was answered at once.
        waiter: Option<WaiterId>,
    },
    /// A member is alive.
    Heard {
        /// Its id.
        member_id: Str,
    },
    /// Members, joined or pending, leave or have expired.
    Remove {
        /// Their ids.
        member_ids: Vec<Str>,
        /// Whether an initial delay is waited out all the same.
        by_leave: bool,
    },
    /// A member finds no place any more (`group.max.size`).
    Refuse {
        /// Its id.
        member_id: Str,
    },
    /// A rebalance is due.
    Rebalance,
    /// The initial delay goes on.
    ExtendInitialDelay,
    /// The join phase is over.
    CompleteJoin,
    /// Nobody has rejoined: static members are waited for once more.
    AwaitRejoin,
    /// The group has become empty, by its record.
    BecameEmpty,
    /// A member waits for its assignment.
    AwaitSync {
        /// Its id.
        member_id: Str,
        /// Who waits.
        waiter: WaiterId,
    },
    /// A member has its assignment already.
    SyncSeen {
        /// Its id.
        member_id: Str,
    },
    /// The assignments are logged: whoever waits gets its own.
    Synced,
    /// Who hasn't asked for its assignment in time is out.
    DropUnsynced,
}
