//! Bytes to messages and back: framing, headers, all API messages, record batches, error codes.
//!
//! Pure: no async, no clock, no sockets. Facts are Kafka 4.4's.
//!
//! | layer | what it knows |
//! |--|--|
//! | [`wire`], [`types`], [`limits`] | primitive encodings, bounded by the bytes at hand |
//! | [`messages`], [`internal`] | structs generated from `schema/*/*.txt` by `build.rs`, one line a field |
//! | [`api`], [`header`], [`error`] | keys and versions, headers and frames, error codes |
//! | [`records`], [`partitioner`] | what is inside the record bytes of a message, and where it belongs |
//!
//! Reading a request: [`header::RequestHeader::decode`] on a [`wire::Reader`] over the frame, then
//! [`messages::Message::decode`] of the type its key and version name (or [`with_request!`] for any).
//! Answering: [`header::response_frame`], whose [`wire::Writer::into_bufs`] goes to a vectored send.
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
