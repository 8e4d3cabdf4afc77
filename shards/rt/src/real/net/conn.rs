//! An established connection.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};

use super::socket::Socket;
use crate::real::current;

/// Slices in one `sendmsg`.
const SLICES_MAX: usize = 64;

/// How long a closing connection waits for the peer to end its side.
const LINGER: Duration = Duration::from_millis(200);

/// The most it reads meanwhile, in bytes, and the buffer for it.
const LINGER_BYTES: usize = 1 << 20;
const LINGER_BUFFER: usize = 16 * 1024;

/// See [`crate::net::Conn`]. Receiving and sending are independent, and each has one task at a time.
pub(crate) struct Conn {
    /// Owns the descriptor and waits for readiness.
    socket: Socket,
    peer: SocketAddr,
    local: SocketAddr,
    /// The last read took all there was: ask for readiness before reading again.
    drained: Cell<bool>,
    receiving: Cell<bool>,
    sending: Cell<bool>,
    /// A send was given up half-way: what follows would be read as part of it.
    torn: Cell<bool>,
}

/// Connects by the ring, with the system's own timeout.
pub(crate) async fn connect(to: SocketAddr) -> io::Result<Conn> {
    Conn::of(Socket::connect(to).await?, to)
}

impl Conn {
    /// Takes the descriptor over, on the shard it is called on.
    ///
    /// With SO_KEEPALIVE, as Kafka's: a peer that vanished without a word (power, NAT) is found out by the system also when its connection may
    /// be idle for ever.
    pub(super) fn new(fd: OwnedFd, peer: SocketAddr) -> io::Result<Conn> {
        rustix::net::sockopt::set_socket_keepalive(&fd, true)?;
        Conn::of(Socket::new(fd), peer)
    }

    fn of(socket: Socket, peer: SocketAddr) -> io::Result<Conn> {
        socket.with_fd(|fd| sockopt::set_tcp_nodelay(fd, true))?;
        let local = socket.with_fd(|fd| rustix::net::getsockname(fd))?.try_into()?;
        let (drained, receiving, sending, torn) = Default::default();
        Ok(Conn { socket, peer, local, drained, receiving, sending, torn })
    }

    pub(crate) fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local
    }

    pub(crate) async fn recv(&self, mut buf: BytesMut) -> (io::Result<usize>, BytesMut) {
        assert!(buf.capacity() > buf.len(), "recv into a buffer without room");
        let _one = Turn::begin(&self.receiving, "recv");
        let result = poll_fn(|cx| self.poll_recv(&mut buf, cx)).await;
        if let Ok(n) = result {
            current::expect("rt::net").turns.consume(n);
        }
        (result, buf)
    }

    /// One `recv` when there is data: when the last one came back full, or readiness has fired. Otherwise
    /// the engine waits.
    fn poll_recv(&self, buf: &mut BytesMut, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        loop {
            if !self.drained.get() {
                match self.try_recv(buf) {
                    Err(Errno::INTR) => continue,
                    Err(Errno::WOULDBLOCK) => self.drained.set(true),
                    other => return Poll::Ready(Ok(other?)),
                }
            }
            match self.socket.poll_readable(cx) {
                Poll::Ready(Ok(())) => self.drained.set(false),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    // Else the next poll finds out by a plain `recv` whether it was this that woke the task.
                    self.drained.set(self.socket.keeps_waits());
                    return Poll::Pending;
                }
            }
        }
    }

    fn try_recv(&self, buf: &mut BytesMut) -> Result<usize, Errno> {
        let room = buf.spare_capacity_mut();
        let asked = room.len();
        let ((filled, _), n) = self.socket.with_fd(|fd| rustix::net::recv(fd, room, RecvFlags::DONTWAIT))?;
        debug_assert_eq!(filled.len(), n, "no MSG_TRUNC was asked for");
        // SAFETY: the call has filled the first n bytes of the spare capacity.
        #[allow(unsafe_code, reason = "reading into spare capacity saves zeroing it")]
        unsafe {
            buf.advance_mut(n);
        }
        self.drained.set(n > 0 && n < asked);
        Ok(n)
    }

    pub(crate) async fn send(&self, bufs: Vec<Bytes>) -> io::Result<()> {
        if self.torn.get() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let _one = Turn::begin(&self.sending, "send");
        let mut rest = Rest { bufs, first: 0 };
        rest.skip(0);
        // Stays set if this future is dropped or fails before all is out.
        self.torn.set(true);
        while !rest.is_done() {
            let sent = poll_fn(|cx| self.poll_send(&rest, cx)).await?;
            rest.skip(sent);
            let shard = current::expect("rt::net");
            shard.turns.consume(sent);
            if !rest.is_done() {
                shard.pass().await;
            }
        }
        self.torn.set(false);
        Ok(())
    }

    fn poll_send(&self, rest: &Rest, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        loop {
            match self.socket.with_fd(|fd| rest.send(fd)) {
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => {}
                other => return Poll::Ready(Ok(other?)),
            }
            match self.socket.poll_writable(&rest.bufs[rest.first], cx) {
                Poll::Ready(Ok(0)) => {}
                other => return other,
            }
        }
    }

    pub(crate) fn shutdown(&self) {
        // An error says that the connection is gone: nothing is left to end.
        let _ = self.socket.with_fd(|fd| rustix::net::shutdown(fd, Shutdown::Write));
    }

    /// The sending side ends first, then what the peer still says is read and thrown away for a moment:
    /// closing a socket with unread bytes resets it, and the peer would lose the end of what was sent to it.
    pub(crate) async fn close(&self) {
        self.torn.set(true);
        self.shutdown();
        // Who receives on another task reads to the end itself, or is woken by what follows.
        if !self.receiving.get() {
            let _ = crate::time::timeout(LINGER, self.drain()).await;
        }
        let _ = self.socket.with_fd(|fd| rustix::net::shutdown(fd, Shutdown::Both));
    }

    async fn drain(&self) {
        let mut left = LINGER_BYTES;
        let mut buf = BytesMut::with_capacity(LINGER_BUFFER);
        while left > 0 {
            buf.clear();
            buf.reserve(LINGER_BUFFER);
            let (result, back) = self.recv(buf).await;
            buf = back;
            match result {
                Ok(n) if n > 0 => left = left.saturating_sub(n),
                _ => return,
            }
        }
    }
}

/// What is still to be sent.
struct Rest {
    bufs: Vec<Bytes>,
    /// Everything before it is sent; it is not empty.
    first: usize,
}

impl Rest {
    fn is_done(&self) -> bool {
        self.first == self.bufs.len()
    }

    fn send(&self, fd: BorrowedFd<'_>) -> Result<usize, Errno> {
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let left = &self.bufs[self.first..];
        for (slice, buf) in slices.iter_mut().zip(left) {
            *slice = IoSlice::new(buf);
        }
        let slices = &slices[..left.len().min(SLICES_MAX)];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::net::sendmsg(fd, slices, &mut SendAncillaryBuffer::default(), flags)
    }

    fn skip(&mut self, mut sent: usize) {
        while let Some(buf) = self.bufs.get_mut(self.first) {
            let step = sent.min(buf.len());
            buf.advance(step);
            sent -= step;
            if !buf.is_empty() {
                return;
            }
            // Let go at once: budgets count these bytes until they are sent.
            *buf = Bytes::new();
            self.first += 1;
        }
    }
}

/// One task a direction.
struct Turn<'a>(&'a Cell<bool>);

impl<'a> Turn<'a> {
    fn begin(flag: &'a Cell<bool>, what: &str) -> Turn<'a> {
        assert!(!flag.replace(true), "two tasks in {what} of one connection");
        Turn(flag)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
