//! Records of internal topics and files, and data embedded in messages; generated from `schema/internal/`,
//! with the framing around them by hand.

mod coordinator;
mod metadata;
mod versioned;

#[allow(clippy::all, unused_variables)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/internal.rs"));
}

pub use coordinator::{CoordinatorKey, KEY_GROUP_METADATA, KEY_OFFSET_COMMIT};
pub use generated::*;
pub use metadata::{METADATA_FRAME_VERSION, MetadataRecord};
pub use versioned::{
    decode_self_versioned, decode_versioned, decode_versioned_lenient, encode_plain, encode_versioned,
};

#[cfg(test)]
mod tests;
