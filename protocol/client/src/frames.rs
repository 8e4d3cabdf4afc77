//! Cutting a byte stream into frames.

use bytes::{Buf, Bytes, BytesMut};

use crate::ConnectionError;

/// Collects received bytes until a frame is whole. Holds at most one frame's limit plus what one receive
/// brought; makes no room on the strength of an announced size.
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

    /// The next whole frame without its size.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, ConnectionError> {
        let Some(prefix) = self.buffer.first_chunk::<4>() else { return Ok(None) };
        let size = i32::from_be_bytes(*prefix);
        let len = usize::try_from(size).ok().filter(|len| *len <= self.frame_bytes_max);
        let len = len.ok_or(ConnectionError::FrameSize { size })?;
        if self.buffer.len() < 4 + len {
            return Ok(None);
        }
        self.buffer.advance(4);
        Ok(Some(self.buffer.split_to(len).freeze()))
    }
}
