//! What a log remembers of its idempotent producers (KIP-98).
pub mod snapshot;
pub mod state;

pub use state::{BatchRange, ProducerBatch, ProducerEntry, ProducerState, SequenceCheck};
