//! All messages of Kafka 4.4, generated from `schema/api/` at build time: one module a message, its
//! top-level struct named again here.

mod message;

#[allow(clippy::all, unused_variables)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/messages.rs"));
}

pub use generated::*;
pub use message::{ApiMessage, Message, Request, Response, VersionRange};

#[cfg(test)]
mod tests;
