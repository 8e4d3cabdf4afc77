//! What verification found.

use serde::{Deserialize, Serialize};

use crate::scenario::Delivery;

/// What reading everything back found. Each record carries its producer, its sequence in its partition and a
/// checksum over all of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VerifyOutcome {
    /// What was to be proven.
    pub delivery: Delivery,
    /// Records that were acknowledged.
    pub acked: u64,
    /// Records read back that this run had sent; those without an acknowledgement too.
    pub read: u64,
    /// Acknowledged records that aren't there.
    pub missing: u64,
    /// Records that are there again. No fault if delivery is at least once.
    pub duplicated: u64,
    /// Records that stand before one sent earlier to the same partition.
    pub reordered: u64,
    /// Records whose checksum doesn't hold.
    pub altered: u64,
    /// Records in a partition they weren't sent to, and sequences that were never sent.
    pub strayed: u64,
    /// The first faults, in words.
    pub faults: Vec<Fault>,
    /// How long reading back took, in s.
    pub seconds: f64,
    /// Why it could not be finished, if so: nothing is proven then.
    pub unfinished: Option<String>,
}

impl VerifyOutcome {
    /// True if what was to be proven is proven.
    pub fn is_proven(&self) -> bool {
        let never = self.missing + self.altered + self.strayed + self.reordered;
        let twice = if self.delivery == Delivery::Once { self.duplicated } else { 0 };
        never + twice == 0 && self.unfinished.is_none()
    }
}

/// One fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fault {
    /// Topic and partition, as `topic-0`.
    pub partition: String,
    /// Offset where it shows; -1 for a record that isn't there.
    pub offset: i64,
    /// What is wrong.
    pub what: String,
}
