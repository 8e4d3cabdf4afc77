//! Requests of every served API: well-formed ones that succeed, ones that fail in part, ones that fail as a whole.

pub(crate) mod admin;
pub(crate) mod configs;
pub(crate) mod groups;
pub(crate) mod records;
pub(crate) mod switched_off;
pub(crate) mod topics;

use protocol::types::{Str, Uuid};

/// A topic that is there, with two partitions.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: Str,
    pub(crate) id: Uuid,
}

/// A topic that isn't.
pub(crate) fn nowhere() -> Target {
    Target { name: "nowhere".into(), id: Uuid([9; 16]) }
}
