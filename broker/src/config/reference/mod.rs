//! The table of names for people: one name explained, and all of them as a page.
//!
//! docs/configuration.md is what [`markdown()`] gives; a test fails when it isn't.

mod explained;
mod find;
mod markdown;
#[cfg(test)]
mod tests;
mod unit;

pub use explained::{Explained, Scope};
pub use find::{explain, similar};
pub use markdown::markdown;
