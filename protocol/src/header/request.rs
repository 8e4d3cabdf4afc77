//! The header before every request.

use crate::api::ApiKey;
use crate::types::Str;
use crate::wire::{DecodeError, EncodeError, Reader, UnknownTags, Writer};

/// Header v1 (classic) or v2 (flexible). The client id keeps its 2-byte length in v2: a broker reads it
/// before it knows whether it knows the version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHeader {
    /// Key of the API; may be unknown.
    pub api_key: i16,
    /// Version of the request; may be unknown.
    pub api_version: i16,
    /// Comes back in the response.
    pub correlation_id: i32,
    /// Name the client gives itself.
    pub client_id: Option<Str>,
    /// Tagged fields of a v2 header; no version knows any.
    pub unknown_tags: UnknownTags,
}

impl RequestHeader {
    /// Reads key, version and correlation id alone: what can be told of a request nobody understands.
    pub fn peek(r: &Reader) -> Result<Self, DecodeError> {
        let mut r = r.clone();
        let (api_key, api_version, correlation_id) = (r.i16()?, r.i16()?, r.i32()?);
        Ok(Self { api_key, api_version, correlation_id, ..Self::default() })
    }

    /// Reads the header that key and version ask for. An unknown version of ApiVersions has a v2 header, as in
    /// Kafka (KIP-511).
    ///
    /// # Errors
    /// An unknown key, or bytes that are no header. Whether the version is supported is the caller's question.
    pub fn decode(r: &mut Reader) -> Result<Self, DecodeError> {
        let mut header = Self::peek(r)?;
        let key = ApiKey::from_code(header.api_key)
            .ok_or(DecodeError::Unknown { what: "API key", value: header.api_key as u16 as u32 })?;
        r.array::<8>()?;
        header.client_id = r.opt_string(false)?;
        if key.request_header_version(header.api_version) >= 2 {
            header.unknown_tags = UnknownTags::read(r)?;
        }
        Ok(header)
    }

    /// Appends the header that key and version ask for; an unknown key gets v1.
    pub fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i16(self.api_key);
        w.put_i16(self.api_version);
        w.put_i32(self.correlation_id);
        w.put_opt_string(self.client_id.as_deref(), false)?;
        let key = ApiKey::from_code(self.api_key);
        if key.is_some_and(|key| key.request_header_version(self.api_version) >= 2) {
            return self.unknown_tags.write(w);
        }
        self.unknown_tags.refuse(self.api_version)
    }
}
