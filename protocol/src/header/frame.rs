//! Size, header and message together: what goes over a connection.

use super::{RequestHeader, ResponseHeader};
use crate::limits::FRAME_PREFIX_BYTES;
use crate::messages::{ApiMessage, Request};
use crate::types::Str;
use crate::wire::{EncodeError, Writer};

/// A response with its size and header, ready for a vectored send.
///
/// # Errors
/// The message has no encoding at `version`.
pub fn response_frame<M: ApiMessage>(
    correlation_id: i32,
    message: &M,
    version: i16,
) -> Result<Writer, EncodeError> {
    let mut w = open();
    ResponseHeader::new(correlation_id).encode(&mut w, M::API.response_header_version(version))?;
    message.encode(&mut w, version)?;
    close(w)
}

/// A request with its size and header.
///
/// # Errors
/// The message has no encoding at `version`.
pub fn request_frame<M: Request>(
    correlation_id: i32,
    client_id: Option<Str>,
    message: &M,
    version: i16,
) -> Result<Writer, EncodeError> {
    let mut w = open();
    let header = RequestHeader {
        api_key: M::API.code(),
        api_version: version,
        correlation_id,
        client_id,
        unknown_tags: Default::default(),
    };
    header.encode(&mut w)?;
    message.encode(&mut w, version)?;
    close(w)
}

fn open() -> Writer {
    let mut w = Writer::with_capacity(256);
    w.put_i32(0);
    w
}

fn close(mut w: Writer) -> Result<Writer, EncodeError> {
    let len = w.len() - FRAME_PREFIX_BYTES;
    let size = i32::try_from(len).map_err(|_| EncodeError::TooLong { len, max: i32::MAX as usize })?;
    w.set_i32(0, size);
    Ok(w)
}
