//! Consumer groups: one member of the classic protocol.
//!
//! ```text
//!  assign ── what a leader decides          pure
//!  calls ─── the requests, one by one       I/O
//!  member ── join, read, commit, leave      I/O; reading is a `Consumer`
//! ```

mod assign;
mod calls;
mod member;

pub(crate) use member::{Member, drive};
