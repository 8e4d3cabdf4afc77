//! Primitive values as bytes: a bounded zero-copy [`Reader`], a scatter-gather [`Writer`].

mod error;
mod reader;
mod tags;
mod value;
mod writer;

pub use error::{DecodeError, EncodeError};
pub use reader::Reader;
pub use tags::{TagReader, TagWriter, UnknownTags};
pub use value::{Nullable, Wire, absent, read_opt, read_opt_struct, write_opt, write_opt_struct};
pub use writer::Writer;

#[cfg(test)]
mod tests;
