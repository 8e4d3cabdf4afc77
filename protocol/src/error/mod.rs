//! Error codes of the protocol.

mod code;
mod table;

pub use code::ErrorCode;

#[cfg(test)]
mod tests;
