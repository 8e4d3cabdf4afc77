//! Messages that stand alone and say their version first.

use bytes::Bytes;

use crate::messages::Message;
use crate::wire::{DecodeError, EncodeError, Reader, Writer};

/// A message behind its 16-bit version, filling `bytes`: values of internal topics, transaction markers.
///
/// # Errors
/// An unknown version, bytes that are no such message, or bytes left over.
pub fn decode_versioned<M: Message>(bytes: &Bytes) -> Result<(i16, M), DecodeError> {
    let mut r = Reader::new(bytes.clone());
    let version = r.i16()?;
    let message = M::decode(&mut r, version)?;
    r.finish()?;
    Ok((version, message))
}

/// As [`decode_versioned`], for data of clients (consumer subscriptions and assignments): a newer version is
/// read as the newest known, and bytes left over are ignored, as Kafka's own reader does.
///
/// # Errors
/// A negative version, or bytes that are no such message.
pub fn decode_versioned_lenient<M: Message>(bytes: &Bytes) -> Result<(i16, M), DecodeError> {
    let mut r = Reader::new(bytes.clone());
    let version = r.i16()?;
    Ok((version, M::decode(&mut r, version.min(M::VERSIONS.max))?))
}

/// A message whose first field is its version (the control records of the metadata log), filling `bytes`.
///
/// # Errors
/// As [`decode_versioned`].
pub fn decode_self_versioned<M: Message>(bytes: &Bytes) -> Result<(i16, M), DecodeError> {
    let mut r = Reader::new(bytes.clone());
    let version = r.clone().i16()?;
    let message = M::decode(&mut r, version)?;
    r.finish()?;
    Ok((version, message))
}

/// The inverse of [`decode_versioned`].
///
/// # Errors
/// The message has no encoding at `version`.
pub fn encode_versioned<M: Message>(message: &M, version: i16) -> Result<Bytes, EncodeError> {
    let mut w = Writer::new();
    w.put_i16(version);
    message.encode(&mut w, version)?;
    Ok(w.into_bytes())
}

/// The message alone. The inverse of [`decode_self_versioned`] when its version field is set to `version`.
///
/// # Errors
/// The message has no encoding at `version`.
pub fn encode_plain<M: Message>(message: &M, version: i16) -> Result<Bytes, EncodeError> {
    let mut w = Writer::new();
    message.encode(&mut w, version)?;
    Ok(w.into_bytes())
}
