//! Record values: filler, and stamps that prove what a value is.

mod filler;
mod stamp;
#[cfg(test)]
mod tests;

pub(crate) use filler::fill;
pub(crate) use stamp::{STAMP_BYTES, Stamp};
