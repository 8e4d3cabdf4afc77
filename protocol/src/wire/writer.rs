//! Values to bytes: small fields gathered in one buffer, record bytes passed on as they are.

use bytes::{BufMut, Bytes, BytesMut};

use super::EncodeError;
use crate::limits::{SHARE_BYTES_MIN, STRING_BYTES_MAX};

/// Builds one frame. What is small is copied into one growing buffer; what is large and shared
/// ([`Self::put_shared`]) is only referred to, and [`Self::into_bufs`] interleaves both.
///
/// ```text
/// buf     | size, header, topic, ... | high watermark ... | tags |
/// shared                             ^ record bytes       ^ record bytes
/// ```
#[derive(Debug, Default)]
pub struct Writer {
    buf: BytesMut,
    /// Shared slices, each with the position in `buf` it stands before; positions never fall.
    shared: Vec<(usize, Bytes)>,
    shared_bytes: usize,
}

impl Writer {
    /// An empty writer; allocates with the first value.
    pub fn new() -> Self {
        Self::default()
    }

    /// A writer whose first `bytes` of small fields need no reallocation.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { buf: BytesMut::with_capacity(bytes), ..Self::default() }
    }

    /// Bytes written so far, shared ones included.
    pub fn len(&self) -> usize {
        self.buf.len() + self.shared_bytes
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies `bytes`.
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.buf.put_slice(bytes);
    }

    /// Passes `bytes` on without copying, unless they are shorter than [`SHARE_BYTES_MIN`].
    pub fn put_shared(&mut self, bytes: Bytes) {
        if bytes.len() < SHARE_BYTES_MIN {
            return self.put_slice(&bytes);
        }
        self.shared_bytes += bytes.len();
        self.shared.push((self.buf.len(), bytes));
    }

    /// One signed byte.
    pub fn put_i8(&mut self, value: i8) {
        self.buf.put_i8(value);
    }

    /// A big-endian 16-bit integer.
    pub fn put_i16(&mut self, value: i16) {
        self.buf.put_i16(value);
    }

    /// A big-endian 32-bit integer.
    pub fn put_i32(&mut self, value: i32) {
        self.buf.put_i32(value);
    }

    /// A big-endian 64-bit integer.
    pub fn put_i64(&mut self, value: i64) {
        self.buf.put_i64(value);
    }

    /// An unsigned variable-length integer of 1 to 5 bytes.
    pub fn put_uvarint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.buf.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.buf.put_u8(value as u8);
    }

    /// A string, or null.
    ///
    /// # Errors
    /// It has more than [`STRING_BYTES_MAX`] bytes.
    pub fn put_opt_string(&mut self, value: Option<&str>, flexible: bool) -> Result<(), EncodeError> {
        let len = value.map(str::len);
        if len.is_some_and(|len| len > STRING_BYTES_MAX) {
            return Err(EncodeError::TooLong { len: len.unwrap_or(0), max: STRING_BYTES_MAX });
        }
        match len {
            len if flexible => self.put_uvarint(len.map_or(0, |len| len as u32 + 1)),
            None => self.put_i16(-1),
            Some(len) => self.put_i16(len as i16),
        }
        self.put_slice(value.unwrap_or("").as_bytes());
        Ok(())
    }

    /// The length of bytes or the count of an array, `None` for null; what it counts comes next.
    ///
    /// # Errors
    /// It is over 31 bits.
    pub fn put_opt_len(&mut self, len: Option<usize>, flexible: bool) -> Result<(), EncodeError> {
        const MAX: usize = i32::MAX as usize - 1;
        match len {
            Some(len) if len > MAX => return Err(EncodeError::TooLong { len, max: MAX }),
            len if flexible => self.put_uvarint(len.map_or(0, |len| len as u32 + 1)),
            None => self.put_i32(-1),
            Some(len) => self.put_i32(len as i32),
        }
        Ok(())
    }

    /// Overwrites four bytes of the small fields at `at`: the size of a frame, known last.
    ///
    /// # Panics
    /// Fewer than `at + 4` bytes of small fields have been written.
    pub fn set_i32(&mut self, at: usize, value: i32) {
        self.buf[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    /// Appends all of `other`.
    pub fn append(&mut self, other: Writer) {
        for piece in other.into_bufs() {
            self.put_shared(piece);
        }
    }

    /// The frame in pieces, in order; none is empty. Sharing costs a reference count a piece.
    pub fn into_bufs(self) -> Vec<Bytes> {
        let small = self.buf.freeze();
        let mut out = Vec::with_capacity(2 * self.shared.len() + 1);
        let mut from = 0;
        for (at, bytes) in self.shared {
            if at > from {
                out.push(small.slice(from..at));
            }
            out.push(bytes);
            from = at;
        }
        if small.len() > from {
            out.push(small.slice(from..));
        }
        out
    }

    /// The frame in one piece; copies only when there are several.
    pub fn into_bytes(self) -> Bytes {
        if self.shared.is_empty() { self.buf.freeze() } else { self.into_bufs().concat().into() }
    }
}
