//! The header before every response.

use crate::wire::{DecodeError, EncodeError, Reader, UnknownTags, Writer};

/// Header v0 (correlation id) or v1 (and tagged fields);
/// [`crate::api::ApiKey::response_header_version`] tells which.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseHeader {
    /// That of the request.
    pub correlation_id: i32,
    /// Tagged fields of a v1 header; no version knows any.
    pub unknown_tags: UnknownTags,
}

impl ResponseHeader {
    /// A header without tagged fields.
    pub fn new(correlation_id: i32) -> Self {
        Self { correlation_id, unknown_tags: UnknownTags::default() }
    }

    /// Reads a header of version 0 or 1.
    pub fn decode(r: &mut Reader, header_version: i16) -> Result<Self, DecodeError> {
        let correlation_id = r.i32()?;
        let unknown_tags = if header_version >= 1 { UnknownTags::read(r)? } else { UnknownTags::default() };
        Ok(Self { correlation_id, unknown_tags })
    }

    /// Appends a header of version 0 or 1.
    pub fn encode(&self, w: &mut Writer, header_version: i16) -> Result<(), EncodeError> {
        w.put_i32(self.correlation_id);
        if header_version >= 1 {
            self.unknown_tags.write(w)
        } else {
            self.unknown_tags.refuse(header_version)
        }
    }
}
