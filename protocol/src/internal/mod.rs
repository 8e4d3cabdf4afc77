//! Records of internal topics and files, and data embedded in messages; generated from `schema/internal/`.

#[allow(clippy::all, unused_variables)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/internal.rs"));
}

pub use generated::*;
