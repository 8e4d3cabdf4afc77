//! Cutting a byte stream into frames.

use std::mem;

use bytes::{Buf, Bytes, BytesMut};

use crate::ConnectionError;

/// Room for answers that say little, and what must have come of one before its announced size is believed, in bytes.
const ROOM_BYTES: usize = 64 << 10;
/// With less room than this behind what has come, a buffer is exchanged for another, in bytes.
const ROOM_BYTES_MIN: usize = 4 << 10;

/// Collects received bytes until a frame is whole. Holds at most one frame's limit plus what one receive
/// brought; makes no room on the strength of a size that is merely announced.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: BytesMut,
    frame_bytes_max: usize,
}

impl Frames {
    pub(crate) fn new(frame_bytes_max: usize) -> Self {
        Self { buffer: BytesMut::new(), frame_bytes_max }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Lends the buffer, with room behind what has come: a large frame is received where it stays, without a copy.
    pub(crate) fn lend(&mut self) -> BytesMut {
        let mut buffer = mem::take(&mut self.buffer);
        let room = buffer.capacity() - buffer.len();
        match self.frame_len(&buffer) {
            Ok(Some(len)) if buffer.len() >= ROOM_BYTES => {
                buffer.reserve((4 + len).saturating_sub(buffer.len()))
            }
            _ if room < ROOM_BYTES_MIN => buffer.reserve(ROOM_BYTES),
            _ => {}
        }
        buffer
    }

    /// Takes the buffer back, with what came.
    pub(crate) fn give_back(&mut self, buffer: BytesMut) {
        assert!(self.buffer.is_empty(), "bytes were handed in while the buffer was lent");
        self.buffer = buffer;
    }

    /// The size of the frame that begins here, without that of its size.
    fn frame_len(&self, buffer: &[u8]) -> Result<Option<usize>, ConnectionError> {
        let Some(prefix) = buffer.first_chunk::<4>() else { return Ok(None) };
        let size = i32::from_be_bytes(*prefix);
        let len = usize::try_from(size).ok().filter(|len| *len <= self.frame_bytes_max);
        len.map(Some).ok_or(ConnectionError::FrameSize { size })
    }

    /// The next whole frame without its size.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, ConnectionError> {
        let len = self.frame_len(&self.buffer)?;
        let Some(len) = len.filter(|len| self.buffer.len() >= 4 + len) else { return Ok(None) };
        self.buffer.advance(4);
        Ok(Some(self.buffer.split_to(len).freeze()))
    }
}
