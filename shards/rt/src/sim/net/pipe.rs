//! One end of a connection: bytes that arrived, bytes on their way here, and how the stream ended.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::task::Waker;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::sim::node::NodeId;

/// Bytes that one direction holds, on the wire and unread, before `send` waits.
pub(crate) const WINDOW_BYTES: usize = 256 * 1024;

/// What travels towards an end, in order.
#[derive(Debug)]
pub(crate) enum Segment {
    Data(Vec<Bytes>),
    /// The peer will send no more.
    Fin,
    /// The peer knows nothing of this connection any more.
    Reset,
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) node: NodeId,
    pub(crate) addr: SocketAddr,
    /// A process still holds this end, or will once it has accepted.
    pub(crate) open: bool,
    /// On the way here, oldest first.
    pub(crate) wire: VecDeque<Segment>,
    /// Arrivals that came due while the link was cut; they are due again when it heals.
    pub(crate) stalled: u32,
    /// When the first of them came due.
    pub(crate) stalled_since_ns: u64,
    /// When the last segment so far is due: none overtakes it.
    pub(crate) last_due_ns: u64,
    received: VecDeque<Bytes>,
    received_bytes: usize,
    /// Bytes of `wire` and `received`, held against the sender's window.
    pub(crate) held_bytes: usize,
    pub(crate) fin_received: bool,
    pub(crate) fin_sent: bool,
    pub(crate) error: Option<io::ErrorKind>,
    pub(crate) read_waker: Option<Waker>,
    pub(crate) write_waker: Option<Waker>,
    pub(crate) sending: bool,
}

impl End {
    pub(crate) fn new(node: NodeId, addr: SocketAddr) -> End {
        End {
            node,
            addr,
            open: true,
            wire: VecDeque::new(),
            stalled: 0,
            stalled_since_ns: 0,
            last_due_ns: 0,
            received: VecDeque::new(),
            received_bytes: 0,
            held_bytes: 0,
            fin_received: false,
            fin_sent: false,
            error: None,
            read_waker: None,
            write_waker: None,
            sending: false,
        }
    }

    pub(crate) fn unread_bytes(&self) -> usize {
        self.received_bytes
    }

    pub(crate) fn arrive(&mut self, data: Vec<Bytes>) {
        self.received_bytes += data.iter().map(Bytes::len).sum::<usize>();
        self.received.extend(data);
    }

    /// Moves `len` arrived bytes into `buf`.
    pub(crate) fn read_into(&mut self, buf: &mut BytesMut, len: usize) {
        let mut left = len;
        while left > 0 {
            let Some(chunk) = self.received.front_mut() else { break };
            let take = left.min(chunk.len());
            buf.put_slice(&chunk[..take]);
            chunk.advance(take);
            left -= take;
            if chunk.is_empty() {
                self.received.pop_front();
            }
        }
        self.received_bytes -= len - left;
        self.held_bytes = self.held_bytes.saturating_sub(len - left);
    }

    /// Throws away what arrived and wasn't read.
    pub(crate) fn discard(&mut self) {
        self.held_bytes = self.held_bytes.saturating_sub(self.received_bytes);
        self.received.clear();
        self.received_bytes = 0;
    }

    /// Wakes whoever waits on this end.
    pub(crate) fn wake_all(&mut self) {
        for waker in [self.read_waker.take(), self.write_waker.take()].into_iter().flatten() {
            waker.wake();
        }
    }
}
