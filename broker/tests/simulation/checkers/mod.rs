//! What must hold whatever happens. Each checker is told what clients sent, were told and saw, and panics at the first contradiction;
//! it lives outside of the simulated nodes, so no crash reaches it.

mod acked_records;
mod committed_offsets;
mod one_owner;
mod producer_ids;
mod read_records;
mod tests;

pub(crate) use acked_records::{AckedRecords, Asked};
pub(crate) use committed_offsets::CommittedOffsets;
pub(crate) use one_owner::OneOwner;
pub(crate) use producer_ids::ProducerIds;
pub(crate) use read_records::{Asked as ReadAsked, ReadRecords};
