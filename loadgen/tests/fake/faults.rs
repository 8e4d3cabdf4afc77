//! What is done wrong.

/// The fault of a fake broker. It shows in every seventh batch, the first one being the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Acknowledged, not kept.
    Drop,
    /// Kept twice.
    Duplicate,
    /// Kept before the batch that came before it.
    Reorder,
    /// One byte of one value is another, under a checksum of the batch that holds.
    Alter,
    /// Kept in another partition.
    Misplace,
    /// Kept, and the connection closed instead of an answer.
    Disconnect,
    /// Refused with an error that passes.
    Refuse,
}

impl Fault {
    /// Whether batch `count` (from 0) is one that it befalls.
    pub(crate) fn befalls(self, count: u64) -> bool {
        self != Self::None && count % 7 == 2
    }
}
