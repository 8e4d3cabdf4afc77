//! Bytes to messages and back: framing, headers, all API messages, record batches, error codes.
//!
//! Pure: no async, no clock, no sockets. Facts are Kafka 4.4's.
pub mod api;
pub mod error;
pub mod header;
pub mod internal;
pub mod limits;
pub mod messages;
pub mod partitioner;
pub mod records;
pub mod types;
pub mod wire;
