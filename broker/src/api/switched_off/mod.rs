//! What is asked of features that a node doesn't have: the answers of Kafka with the same feature switched off, which clients understand.
//!
//! An API that isn't advertised at all makes a client say that the broker is too old, or leaves it to guess; these say what is the matter.

pub mod acls;
pub mod delegation_tokens;
pub mod newer_groups;
pub mod sasl;

#[cfg(test)]
mod tests;

/// Texts beside error codes in one answer: each takes several times what it answers took in the request.
const TEXTS_MAX: usize = 10_000;
