//! A connection in the hands of a process.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::pipe::{Segment, WINDOW_BYTES};
use super::state::{Attempt, ConnId, NetEvent};
use crate::sim::current::{Current, expect_current};
use crate::sim::event::Event;
use crate::sim::slot::slot;

/// How long a closing connection waits for the peer to end its side, as the real one.
const LINGER: Duration = Duration::from_millis(200);

/// One end of an established connection. Dropping it closes it.
pub(crate) struct Conn {
    place: Current,
    id: ConnId,
    side: usize,
    peer: SocketAddr,
    local: SocketAddr,
    /// A task is in `recv`.
    receiving: Cell<bool>,
}

/// Connects to a listener of any node by its address, or of this node by a loopback address.
///
/// # Errors
/// ConnectionRefused when nothing listens there, TimedOut when the machine is off or can't be reached.
pub(crate) fn connect(to: SocketAddr) -> impl Future<Output = io::Result<Conn>> {
    let place = expect_current();
    let (fill, answer) = slot();
    let attempt = Attempt { node: place.node, incarnation: place.incarnation, to, slot: fill, tries: 0 };
    let delay_ns = 1_000 * place.world.rng.net.within(&(20..=300));
    place.world.push_event_in(delay_ns, Event::Net(NetEvent::Request(attempt)));
    // Held over the wait, so that an answer that came but was never taken is closed.
    let mut pending = Connecting { place, answer, taken: false };
    async move {
        let result = (&mut pending.answer).await;
        pending.taken = true;
        Conn::adopt(pending.place.clone(), result?, 0)
    }
}

struct Connecting {
    place: Current,
    answer: crate::sim::slot::Filled<io::Result<ConnId>>,
    taken: bool,
}

impl Drop for Connecting {
    fn drop(&mut self) {
        if let (false, Some(Ok(id))) = (self.taken, self.answer.take()) {
            let world = &self.place.world;
            world.net_close(&mut world.net.borrow_mut(), id, 0);
        }
    }
}

impl Conn {
    /// Takes over an end that the network made.
    pub(crate) fn adopt(place: Current, id: ConnId, side: usize) -> io::Result<Conn> {
        let world = place.world.clone();
        let mut net = world.net.borrow_mut();
        let (end, peer) = net.ends(id, side).ok_or(io::ErrorKind::ConnectionReset)?;
        let (peer, local) = (peer.addr, end.addr);
        Ok(Conn { place, id, side, peer, local, receiving: Cell::new(false) })
    }

    pub(crate) fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Appends what has arrived to the spare capacity of `buf`, at least one byte and as many as the seed likes.
    /// 0 is the end of the stream.
    pub(crate) async fn recv(&self, mut buf: BytesMut) -> (io::Result<usize>, BytesMut) {
        let spare = buf.capacity() - buf.len();
        assert!(spare > 0, "recv into a full buffer would look like the end of the stream");
        let _receiving = Receiving::begin(&self.receiving);
        let result = poll_fn(|cx| {
            if !self.place.is_alive() {
                return Poll::Pending;
            }
            let world = &self.place.world;
            let mut net = world.net.borrow_mut();
            let Some((end, peer)) = net.ends(self.id, self.side) else {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            };
            let there = end.unread_bytes().min(spare);
            if there > 0 {
                // Mostly all of it; now and then any part, as a kernel may.
                let len = if world.rng.net.percent(85) { there } else { 1 + world.rng.net.index(there) };
                end.read_into(&mut buf, len);
                if let Some(waker) = peer.write_waker.take() {
                    waker.wake();
                }
                return Poll::Ready(Ok(len));
            }
            if let Some(kind) = end.error {
                return Poll::Ready(Err(kind.into()));
            }
            if end.fin_received || !end.open {
                return Poll::Ready(Ok(0));
            }
            end.read_waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        (result, buf)
    }

    /// Sends all of `bufs`, in order. Ready once the network has taken them, which says nothing of their arrival.
    ///
    /// # Panics
    /// When another `send` of the same connection is under way: their bytes would mix.
    pub(crate) async fn send(&self, bufs: Vec<Bytes>) -> io::Result<()> {
        let _sole = Sending::begin(self);
        let mut left: std::collections::VecDeque<Bytes> =
            bufs.into_iter().filter(|buf| !buf.is_empty()).collect();
        poll_fn(|cx| {
            if !self.place.is_alive() {
                return Poll::Pending;
            }
            let mut net = self.place.world.net.borrow_mut();
            loop {
                let Some((end, peer)) = net.ends(self.id, self.side) else {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                };
                if end.fin_sent || !end.open {
                    return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
                }
                if let Some(kind) = end.error {
                    return Poll::Ready(Err(kind.into()));
                }
                if left.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let room = WINDOW_BYTES.saturating_sub(peer.held_bytes);
                if room == 0 {
                    end.write_waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                let train = self.cut_train(&mut left, room);
                self.place.world.net_send(&mut net, self.id, 1 - self.side, Segment::Data(train), 0);
            }
        })
        .await
    }

    // Takes what the next segment carries: everything that fits, or by seed a part that ends anywhere.
    fn cut_train(&self, left: &mut std::collections::VecDeque<Bytes>, room: usize) -> Vec<Bytes> {
        let rng = &self.place.world.rng.net;
        let fits = left.iter().map(Bytes::len).sum::<usize>().min(room);
        let mut want = if rng.percent(80) { fits } else { 1 + rng.index(fits) };
        let mut train = Vec::new();
        while want > 0 {
            let Some(first) = left.front_mut() else { break };
            let take = want.min(first.len());
            train.push(first.split_to(take));
            want -= take;
            if first.is_empty() {
                left.pop_front();
            }
        }
        train
    }

    /// Ends the sending direction: the peer reads what was sent, then the end of the stream.
    pub(crate) fn shutdown(&self) {
        let world = &self.place.world;
        let mut net = world.net.borrow_mut();
        let Some((end, _)) = net.ends(self.id, self.side) else { return };
        if self.place.is_alive() && end.open && !end.fin_sent {
            end.fin_sent = true;
            end.wake_all();
            world.net_send(&mut net, self.id, 1 - self.side, Segment::Fin, 0);
        }
    }

    /// As the real one: a moment for what the peer still says, which would otherwise reset the connection and take what was
    /// sent with it.
    pub(crate) async fn close(&self) {
        self.shutdown();
        if !self.receiving.get() {
            let _ = crate::time::timeout(LINGER, self.drain()).await;
        }
        self.close_now();
    }

    async fn drain(&self) {
        let mut buf = BytesMut::new();
        loop {
            buf.clear();
            buf.reserve(WINDOW_BYTES);
            let (result, back) = self.recv(buf).await;
            buf = back;
            if !matches!(result, Ok(1..)) {
                return;
            }
        }
    }

    /// Ends both directions for this side; whoever still waits here is woken.
    fn close_now(&self) {
        let world = &self.place.world;
        if self.place.is_alive() {
            let mut net = world.net.borrow_mut();
            if let Some((end, _)) = net.ends(self.id, self.side) {
                end.wake_all();
            }
            world.net_close(&mut net, self.id, self.side);
        }
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        self.close_now();
    }
}

/// Says that a task receives.
struct Receiving<'a>(&'a Cell<bool>);

impl<'a> Receiving<'a> {
    fn begin(receiving: &'a Cell<bool>) -> Receiving<'a> {
        receiving.set(true);
        Receiving(receiving)
    }
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Holds the sending side of a connection for one `send`.
struct Sending<'a>(&'a Conn);

impl<'a> Sending<'a> {
    fn begin(conn: &'a Conn) -> Sending<'a> {
        if let Some((end, _)) = conn.place.world.net.borrow_mut().ends(conn.id, conn.side) {
            assert!(!end.sending, "two sends at a time on one connection");
            end.sending = true;
        }
        Sending(conn)
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        if let Some((end, _)) = self.0.place.world.net.borrow_mut().ends(self.0.id, self.0.side) {
            end.sending = false;
        }
    }
}
