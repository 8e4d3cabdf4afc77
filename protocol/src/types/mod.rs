//! Field types of messages that Rust has no type for.

mod records;
mod str;
mod uuid;

pub use records::Records;
pub use str::Str;
pub use uuid::{ParseUuidError, Uuid};

#[cfg(test)]
mod tests;
