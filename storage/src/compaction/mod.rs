//! Log compaction: of the records of a key the last one stays (`cleanup.policy=compact`).
//!
//! ```text
//!   plan     which log is dirtiest, and what of it may be compacted   ([`plan`])
//!    │
//!   map      the last offset of each key of the dirty part            ([`key_map`]; a full map ends the pass there)
//!    │
//!   group    neighbouring segments that fit one                       ([`group`])
//!    │
//!   rewrite  batch by batch into `.cleaned` files                     ([`filter`], [`txns`], [`cleaned`])
//!    │
//!   replace  `.cleaned` -> `.swap` -> in place                        ([`replace`]; a start finishes it, [`crate::log::swapped`])
//!    │
//!   note     up to where the log is compacted                         ([`noted`])
//! ```
//! Closed segments only, below the last stable offset. Offsets never change, and what stays of a batch keeps its place. A
//! crash at any point, or a cut of the log, leaves each group of segments either as it was or compacted, older groups
//! first: so no record comes back whose tombstone is gone, and the next pass does again what wasn't noted.
//!
//! One pass at a time on a shard, on the shard's own thread: it yields between batches, holds one batch, one piece of a
//! segment and the map, and keeps to the rate it is given. Readers of replaced segments go on with the old files.
pub(crate) mod cleaned;
pub(crate) mod filter;
pub(crate) mod group;
pub(crate) mod key_map;
pub(crate) mod noted;
pub(crate) mod pass;
pub(crate) mod plan;
pub(crate) mod replace;
pub(crate) mod rewrite;
pub(crate) mod run;
pub(crate) mod source;
pub(crate) mod state;
pub(crate) mod survey;
pub(crate) mod throttle;
pub(crate) mod txns;

pub use run::Compacted;
