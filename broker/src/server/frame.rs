//! [`FrameReader`]: requests out of a connection's bytes.

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use protocol::limits::FRAME_PREFIX_BYTES;
use rt::Instant;
use rt::net::Conn;
use rt::sync::{Budget, Permit};

/// Shortest request: key, version and correlation id, in bytes.
const FRAME_BYTES_MIN: usize = 8;

/// Room for a connection that says little, in bytes: most connections are idle most of the time.
const ROOM_BYTES_MIN: usize = 4 << 10;

/// Room for a connection that says much, and what must have arrived before a claimed size is believed, in bytes.
const ROOM_BYTES_MAX: usize = 64 << 10;

/// A request that has begun must go on within this.
const STALL: Duration = Duration::from_secs(30);

/// It must be whole within [`STALL`] and the time that its size takes at this rate, in bytes a second, not counting how long it waits for
/// memory. A peer that sends a byte now and then would otherwise keep the memory of a large request for hours.
const BYTES_PER_S_MIN: u64 = 1 << 20;

/// How long a connection that says much may pause before it is one that says little again, and gives its buffer back.
const QUIET: Duration = Duration::from_secs(1);

/// A request as it came, with the memory it is counted in.
#[derive(Debug)]
pub struct Frame {
    /// The request, without its size.
    pub bytes: Bytes,
    /// Size of the allocation that the bytes, and all that is sliced from them, keep.
    pub allocation_bytes: usize,
    /// What it is counted in.
    pub memory: FrameMemory,
}

impl Frame {
    /// The same in a buffer of its own, if it shares one and `is_to_be`: it will be there for long.
    #[must_use]
    pub fn alone_if(self, is_to_be: impl FnOnce(&[u8]) -> bool) -> Frame {
        if self.allocation_bytes <= self.bytes.len() || !is_to_be(&self.bytes) {
            return self;
        }
        self.memory.leave_buffer();
        let bytes = Bytes::copy_from_slice(&self.bytes);
        Frame { allocation_bytes: bytes.len(), bytes, memory: self.memory }
    }
}

/// What a frame is counted in: its length, and the buffer that it shares with others, if it has none of its own. Clones are handles to the same:
/// a request that is going to wait gives back what it doesn't keep.
#[derive(Debug, Clone)]
pub struct FrameMemory(Rc<RefCell<Counted>>);

#[derive(Debug)]
struct Counted {
    frame_bytes: usize,
    own: Permit,
    buffer: Option<Rc<Permit>>,
}

impl FrameMemory {
    /// Of a frame that counts `own`, in a buffer that counts so much.
    pub(super) fn new(own: Permit, buffer: Option<Rc<Permit>>) -> Self {
        Self(Rc::new(RefCell::new(Counted { frame_bytes: own.amount(), own, buffer })))
    }

    /// What the frame counts now, without the buffer that it shares.
    pub fn amount(&self) -> usize {
        self.0.borrow().own.amount()
    }

    /// Counts what was made of the frame, beyond the budget if need be: it is there.
    pub fn add(&self, bytes: usize) {
        let own = &mut self.0.borrow_mut().own;
        own.adjust_to(own.amount() + bytes);
    }

    /// The frame has a copy of its own: it keeps no shared buffer.
    pub fn leave_buffer(&self) {
        let buffer = self.0.borrow_mut().buffer.take();
        drop(buffer);
    }

    /// What was made of the frame is gone, and only its bytes are there.
    pub fn keep_frame(&self) {
        let counted = &mut *self.0.borrow_mut();
        counted.own.shrink_to(counted.frame_bytes);
    }

    /// The frame is gone, and no more than `bytes` are there of what was made of it.
    pub fn keep(&self, bytes: usize) {
        self.leave_buffer();
        self.0.borrow_mut().own.shrink_to(bytes);
    }
}

/// Reads frames: a size of 4 bytes, then as many bytes.
///
/// Small frames are slices of the buffer they arrived in, many to one call of the system; a large one gets a buffer of its own.
/// What a peer merely claims costs no memory: the budget is asked first, and the buffer grows when bytes are there. A buffer of small frames
/// is counted once, for as long as one of them is there: a frame of some bytes may keep all of it.
#[derive(Debug)]
pub struct FrameReader {
    conn: Rc<Conn>,
    buf: BytesMut,
    room: usize,
    /// Size of what `buf` is a part of, in bytes.
    allocation_bytes: usize,
    /// What the frames count that were sliced from it.
    shared: Weak<Permit>,
    frame_bytes_max: usize,
}

/// Why there is no further frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The peer ended the connection between two frames.
    #[error("end of stream")]
    End,
    /// Nothing came for as long as a connection may be idle.
    #[error("idle")]
    Idle,
    /// The peer ended the connection within a frame.
    #[error("the stream ended within a request")]
    Truncated,
    /// The peer stopped within a frame, or sends it too slowly.
    #[error("a request stalled")]
    Stalled,
    /// A size that no request has.
    #[error("a request of {0} bytes")]
    Size(i32),
    /// The connection broke.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl FrameError {
    /// Whether the peer broke the protocol.
    pub fn is_violation(&self) -> bool {
        matches!(self, Self::Truncated | Self::Stalled | Self::Size(_))
    }
}

impl FrameReader {
    /// Frames of `conn`, at most `frame_bytes_max` bytes each.
    pub fn new(conn: Rc<Conn>, frame_bytes_max: usize) -> FrameReader {
        FrameReader {
            conn,
            buf: BytesMut::new(),
            room: ROOM_BYTES_MIN,
            allocation_bytes: 0,
            shared: Weak::new(),
            frame_bytes_max,
        }
    }

    /// Waits until a frame has begun, at most `idle`. What has arrived is kept, so it may be called again.
    ///
    /// # Errors
    /// `End`, `Idle`, `Truncated`, `Io`.
    pub async fn begun(&mut self, idle: Option<Duration>) -> Result<(), FrameError> {
        if !self.buf.is_empty() {
            return Ok(());
        }
        if self.buf.capacity() == 0 {
            // The rest of a large frame's buffer, of no use but to keep it.
            self.buf = BytesMut::new();
        }
        let filled = match self.fill(Some(idle.map_or(QUIET, |idle| idle.min(QUIET)))).await {
            Err(FrameError::Stalled) if idle.is_none_or(|idle| idle > QUIET) => {
                // The buffer went with the wait.
                self.room = ROOM_BYTES_MIN;
                self.fill(idle.map(|idle| idle - QUIET)).await
            }
            filled => filled,
        };
        match filled {
            Err(FrameError::Truncated) => Err(FrameError::End),
            Err(FrameError::Stalled) => Err(FrameError::Idle),
            other => other,
        }
    }

    /// Whether nothing of a further frame has arrived.
    pub fn is_between(&self) -> bool {
        self.buf.is_empty()
    }

    /// The frame that has begun, counted in the budget that is for its length.
    ///
    /// # Errors
    /// `Size`, `Truncated`, `Stalled`, `Io`; the stream is of no use afterwards.
    pub async fn frame<'a>(&mut self, budget: impl FnOnce(usize) -> &'a Budget) -> Result<Frame, FrameError> {
        if self.buf.len() < FRAME_PREFIX_BYTES {
            let whole_by = rt::now() + STALL;
            while self.buf.len() < FRAME_PREFIX_BYTES {
                self.fill(Some(left(whole_by)?)).await?;
            }
        }
        let prefix = self.buf.split_to(FRAME_PREFIX_BYTES);
        let size = prefix[..].try_into().map_or(-1, i32::from_be_bytes);
        let len =
            usize::try_from(size).ok().filter(|len| (FRAME_BYTES_MIN..=self.frame_bytes_max).contains(len));
        let len = len.ok_or(FrameError::Size(size))?;
        let budget = budget(len);
        let own = budget.take(len).await;
        if self.buf.len() < len {
            self.fill_frame(len).await?;
        }
        let buffer = (self.allocation_bytes > len).then(|| self.count_buffer(budget));
        Ok(Frame {
            bytes: self.buf.split_to(len).freeze(),
            allocation_bytes: self.allocation_bytes.max(len),
            memory: FrameMemory::new(own, buffer),
        })
    }

    /// Counts the buffer, once for all frames in it.
    fn count_buffer(&mut self, budget: &Budget) -> Rc<Permit> {
        if let Some(counted) = self.shared.upgrade() {
            return counted;
        }
        let counted = Rc::new(budget.charge(self.allocation_bytes));
        self.shared = Rc::downgrade(&counted);
        counted
    }

    fn allocated(&mut self) {
        self.allocation_bytes = self.buf.capacity();
        self.shared = Weak::new();
    }

    async fn fill_frame(&mut self, len: usize) -> Result<(), FrameError> {
        let whole_by = rt::now() + STALL + Duration::from_secs(len as u64 / BYTES_PER_S_MIN);
        while self.buf.len() < len.min(ROOM_BYTES_MAX) {
            self.fill(Some(left(whole_by)?)).await?;
        }
        if self.buf.len() < len {
            self.fill_large(len, whole_by).await?;
        }
        Ok(())
    }

    /// Moves to a buffer of the frame's own and reads the rest straight into it.
    async fn fill_large(&mut self, len: usize, whole_by: Instant) -> Result<(), FrameError> {
        let mut own = BytesMut::with_capacity(len);
        own.extend_from_slice(&self.buf);
        self.buf = own;
        self.allocated();
        while self.buf.len() < len {
            self.recv(Some(left(whole_by)?)).await?;
        }
        Ok(())
    }

    async fn fill(&mut self, within: Option<Duration>) -> Result<(), FrameError> {
        if self.buf.capacity() - self.buf.len() < self.room / 2 {
            self.buf.reserve(self.room);
            self.allocated();
        }
        let spare = self.buf.capacity() - self.buf.len();
        let received = self.recv(within).await?;
        self.room = match received {
            _ if received >= spare => (self.room * 4).min(ROOM_BYTES_MAX),
            _ if received < self.room / 16 => (self.room / 2).max(ROOM_BYTES_MIN),
            _ => self.room,
        };
        Ok(())
    }

    /// One receive into the spare capacity, which isn't 0.
    async fn recv(&mut self, within: Option<Duration>) -> Result<usize, FrameError> {
        let receiving = self.conn.recv(std::mem::take(&mut self.buf));
        let (received, buf) = match within {
            // The buffer is lost with the future, and the stream's use with it.
            Some(within) => rt::timeout(within, receiving).await.map_err(|_| FrameError::Stalled)?,
            None => receiving.await,
        };
        self.buf = buf;
        match received? {
            0 => Err(FrameError::Truncated),
            received => Ok(received),
        }
    }
}

/// How long the next bytes may take.
fn left(whole_by: Instant) -> Result<Duration, FrameError> {
    match whole_by.saturating_since(rt::now()) {
        Duration::ZERO => Err(FrameError::Stalled),
        left => Ok(left.min(STALL)),
    }
}

#[cfg(test)]
mod tests;
