//! Bytes to values, without copying and without trusting a length.

use bytes::Bytes;

use super::DecodeError;
use crate::limits::{ARRAY_LEN_MAX, STRING_BYTES_MAX};
use crate::types::Str;

/// A cursor over one message. Strings and byte fields it returns share the buffer.
///
/// Every length is checked against the bytes that are left before it is used, so that a decoder never
/// allocates or loops on the word of its peer. Cost of a value: a bounds check.
#[derive(Debug, Clone)]
pub struct Reader {
    buf: Bytes,
    pos: usize,
    /// End of what may be read: of the buffer, or of the tagged field being read.
    end: usize,
    array_bytes: usize,
    array_bytes_max: usize,
}

impl Reader {
    /// Reads `buf` from its start.
    pub fn new(buf: Bytes) -> Self {
        let end = buf.len();
        Self { buf, pos: 0, end, array_bytes: 0, array_bytes_max: usize::MAX }
    }

    /// The same, for a message whose arrays and unknown tagged fields take no more than `bytes` of memory: an element of one byte may be a struct of
    /// a hundred.
    #[must_use]
    pub fn with_array_bytes_max(self, bytes: usize) -> Self {
        Self { array_bytes_max: bytes, ..self }
    }

    /// Memory of the arrays and unknown tagged fields read so far, in bytes.
    pub fn array_bytes(&self) -> usize {
        self.array_bytes
    }

    /// Bytes not yet read. Bytes left after a request are not a fault: Kafka ignores them.
    pub fn remaining(&self) -> usize {
        self.end - self.pos
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Everything not yet read.
    pub fn take_rest(&mut self) -> Bytes {
        let rest = self.buf.slice(self.pos..self.end);
        self.pos = self.end;
        rest
    }

    /// Refuses bytes left over, where the value must fill its buffer (records and files).
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            left => Err(DecodeError::Trailing { at: self.pos, left }),
        }
    }

    /// The next `len` bytes, shared.
    pub fn take(&mut self, len: usize) -> Result<Bytes, DecodeError> {
        self.need(len)?;
        let from = self.pos;
        self.pos += len;
        // An empty slice would pin the whole buffer for nothing.
        Ok(if len == 0 { Bytes::new() } else { self.buf.slice(from..self.pos) })
    }

    /// The next `N` bytes, copied.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.need(N)?;
        let mut out = [0; N];
        out.copy_from_slice(&self.buf[self.pos..self.pos + N]);
        self.pos += N;
        Ok(out)
    }

    /// One signed byte.
    pub fn i8(&mut self) -> Result<i8, DecodeError> {
        self.array().map(i8::from_be_bytes)
    }

    /// A big-endian 16-bit integer.
    pub fn i16(&mut self) -> Result<i16, DecodeError> {
        self.array().map(i16::from_be_bytes)
    }

    /// A big-endian 32-bit integer.
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        self.array().map(i32::from_be_bytes)
    }

    /// A big-endian 64-bit integer.
    pub fn i64(&mut self) -> Result<i64, DecodeError> {
        self.array().map(i64::from_be_bytes)
    }

    /// An unsigned variable-length integer of 1 to 5 bytes.
    pub fn uvarint(&mut self) -> Result<u32, DecodeError> {
        let at = self.pos;
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DecodeError::Varint { at })
    }

    /// A string of at most [`STRING_BYTES_MAX`] bytes, `None` for null. Any negative length is null, as in
    /// Kafka; invalid UTF-8 is refused, where Kafka would replace it.
    pub fn opt_string(&mut self, flexible: bool) -> Result<Option<Str>, DecodeError> {
        let len = if flexible { self.compact_len()? } else { usize::try_from(self.i16()?).ok() };
        let Some(len) = len else { return Ok(None) };
        if len > STRING_BYTES_MAX {
            return Err(DecodeError::StringTooLong { at: self.pos, len });
        }
        let at = self.pos;
        let bytes = self.take(len)?;
        Str::from_utf8(bytes).map(Some).map_err(|_| DecodeError::Utf8 { at })
    }

    /// Bytes of any length that is there, shared; `None` for null.
    pub fn opt_bytes(&mut self, flexible: bool) -> Result<Option<Bytes>, DecodeError> {
        match self.len(flexible)? {
            Some(len) => self.take(len).map(Some),
            None => Ok(None),
        }
    }

    /// The count of an array whose elements take `element_bytes` or more each; `None` for null.
    pub fn opt_array_len(
        &mut self,
        flexible: bool,
        element_bytes: usize,
    ) -> Result<Option<usize>, DecodeError> {
        let Some(len) = self.len(flexible)? else { return Ok(None) };
        if len > ARRAY_LEN_MAX {
            return Err(DecodeError::TooMany { at: self.pos, len, max: ARRAY_LEN_MAX });
        }
        self.need(len * element_bytes)?;
        Ok(Some(len))
    }

    /// Counts an array of `bytes` in memory.
    pub(super) fn count_array(&mut self, bytes: usize) -> Result<(), DecodeError> {
        self.array_bytes = self.array_bytes.saturating_add(bytes);
        if self.array_bytes > self.array_bytes_max {
            return Err(DecodeError::ArraysTooLarge { at: self.pos, max: self.array_bytes_max });
        }
        Ok(())
    }

    /// A null where there can be none was read just now.
    pub fn null(&self) -> DecodeError {
        DecodeError::Null { at: self.pos }
    }

    /// Narrows the reader to the next `len` bytes; returns what [`Self::leave`] needs.
    pub(super) fn enter(&mut self, len: usize) -> Result<usize, DecodeError> {
        self.need(len)?;
        let outer = self.end;
        self.end = self.pos + len;
        Ok(outer)
    }

    /// Ends what [`Self::enter`] began.
    pub(super) fn leave(&mut self, outer: usize) {
        self.end = outer;
    }

    fn len(&mut self, flexible: bool) -> Result<Option<usize>, DecodeError> {
        if flexible { self.compact_len() } else { Ok(usize::try_from(self.i32()?).ok()) }
    }

    /// Length + 1 as a varint; 0 is null.
    fn compact_len(&mut self) -> Result<Option<usize>, DecodeError> {
        Ok((self.uvarint()? as usize).checked_sub(1))
    }

    fn need(&self, needed: usize) -> Result<(), DecodeError> {
        let left = self.remaining();
        if needed > left { Err(DecodeError::Truncated { at: self.pos, needed, left }) } else { Ok(()) }
    }
}
