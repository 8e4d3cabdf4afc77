//! Classic groups (JoinGroup, SyncGroup, Heartbeat, LeaveGroup), as a pure machine.
//!
//! `group`, `member`: the state. `join`, `sync`, `liveness`, `expire`, `describe`: decisions. `change`, `apply`: what they change.

mod apply;
mod change;
mod describe;
mod expire;
mod group;
mod join;
mod liveness;
mod member;
mod protocols;
mod record;
mod subscription;
mod sync;

pub(crate) use apply::Applying;
pub use change::{ClassicChange, MemberUpdate};
pub(crate) use describe::{describe, list};
pub(crate) use expire::{decide_join_over, decide_session_over, decide_sync_over};
pub use group::{CONSUMER_PROTOCOL_TYPE, ClassicGroup, GroupState, InitialDelay};
pub(crate) use join::{Join, refusal as join_refusal};
pub(crate) use liveness::{decide_heartbeat, decide_leave};
pub use member::{Member, Protocols};
pub(crate) use sync::{decide_sync, sync_refusal};
