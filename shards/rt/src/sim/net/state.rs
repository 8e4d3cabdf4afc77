//! [`Net`]: all connections and listeners, and what arrives when.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::Waker;

use bytes::Bytes;

use super::link::Links;
use super::pipe::{End, Segment};
use crate::sim::event::Event;
use crate::sim::node::{Crash, NodeId, Power};
use crate::sim::slot::Slot;
use crate::sim::trace::{Mark, hash_bytes};
use crate::sim::world::World;

/// Connections that wait to be accepted, per listener; more wait in their client's retries.
const BACKLOG_MAX: usize = 128;
/// How often a connection attempt is repeated, once a second, before it times out.
const SYN_RETRIES_MAX: u32 = 15;
const SYN_RETRY_NS: u64 = 1_000_000_000;
/// Bytes that no cut link lets through for this long end the sender's connection.
const RETRANSMIT_MAX_NS: u64 = 120_000_000_000;
/// The longest it takes until a peer learns that a machine has lost power.
const POWER_LOSS_NOTICE_MAX_NS: u64 = 10_000_000_000;
/// First port given to clients.
const EPHEMERAL_PORT: u16 = 32_768;

/// Names a connection for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnId(pub(crate) u64);

/// An attempt to connect.
pub(crate) struct Attempt {
    pub(crate) node: NodeId,
    pub(crate) incarnation: u32,
    pub(crate) to: SocketAddr,
    pub(crate) slot: Slot<io::Result<ConnId>>,
    pub(crate) tries: u32,
}

/// What comes due in the network.
pub(crate) enum NetEvent {
    /// The oldest segment on the wire towards end `.1` arrives.
    Arrive(ConnId, usize),
    /// A connection request reaches its listener.
    Request(Attempt),
    /// The answer reaches the client.
    Answer(Attempt, io::Result<ConnId>),
    /// If the wire towards end `.1` has been stalled since `.2`, its sender gives up.
    GiveUp(ConnId, usize, u64),
}

struct ListenerState {
    bound: SocketAddr,
    incarnation: u32,
    backlog: VecDeque<ConnId>,
    waker: Option<Waker>,
}

/// All connections and listeners of all nodes.
#[derive(Default)]
pub(crate) struct Net {
    pub(crate) links: Links,
    pub(crate) conns: BTreeMap<ConnId, [End; 2]>,
    listeners: BTreeMap<(NodeId, u16), ListenerState>,
    next_conn: u64,
    ports: BTreeMap<NodeId, u16>,
}

impl Net {
    fn next_port(&mut self, node: NodeId) -> u16 {
        let port = self.ports.entry(node).or_insert(EPHEMERAL_PORT);
        loop {
            *port = port.checked_add(1).unwrap_or(EPHEMERAL_PORT);
            if !self.listeners.contains_key(&(node, *port)) {
                return *port;
            }
        }
    }

    // ---- listeners

    pub(crate) fn bind(
        &mut self,
        node: NodeId,
        incarnation: u32,
        addr: SocketAddr,
    ) -> io::Result<SocketAddr> {
        if !addr.ip().is_unspecified() && !addr.ip().is_loopback() && addr.ip() != node.ip() {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        let port = if addr.port() == 0 { self.next_port(node) } else { addr.port() };
        if self.listeners.contains_key(&(node, port)) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let bound = SocketAddr::new(addr.ip(), port);
        self.listeners.insert(
            (node, port),
            ListenerState { bound, incarnation, backlog: VecDeque::new(), waker: None },
        );
        Ok(bound)
    }

    /// The next connection to accept; otherwise `waker` is told of it.
    pub(crate) fn accept(&mut self, node: NodeId, port: u16, waker: &Waker) -> Option<ConnId> {
        let listener = self.listeners.get_mut(&(node, port))?;
        let next = listener.backlog.pop_front();
        if next.is_none() {
            listener.waker = Some(waker.clone());
        }
        next
    }

    /// Takes a listener away; returns the connections that it never accepted.
    pub(crate) fn unbind(&mut self, node: NodeId, port: u16) -> VecDeque<ConnId> {
        self.listeners.remove(&(node, port)).map(|listener| listener.backlog).unwrap_or_default()
    }

    fn reaches(&self, node: NodeId, incarnation: u32, to: SocketAddr) -> Option<NodeId> {
        let listener = self.listeners.get(&(node, to.port()))?;
        let bound = listener.bound.ip();
        let matches =
            bound.is_unspecified() || bound == to.ip() || (bound.is_loopback() && to.ip().is_loopback());
        (matches && listener.incarnation == incarnation).then_some(node)
    }

    // Makes the connection and queues its far end at the listener; `None` when the backlog is full.
    fn establish(&mut self, attempt: &Attempt, server: NodeId) -> Option<ConnId> {
        let listener = self.listeners.get_mut(&(server, attempt.to.port()))?;
        if listener.backlog.len() >= BACKLOG_MAX {
            return None;
        }
        let id = ConnId(self.next_conn);
        self.next_conn += 1;
        listener.backlog.push_back(id);
        if let Some(waker) = listener.waker.take() {
            waker.wake();
        }
        let ip = if attempt.to.ip().is_loopback() { attempt.to.ip() } else { attempt.node.ip() };
        let client = SocketAddr::new(ip, self.next_port(attempt.node));
        let ends = [End::new(attempt.node, client), End::new(server, attempt.to)];
        self.conns.insert(id, ends);
        Some(id)
    }

    /// An end of a connection and the other one; `None` once both sides are done with it.
    pub(crate) fn ends(&mut self, id: ConnId, side: usize) -> Option<(&mut End, &mut End)> {
        let [a, b] = self.conns.get_mut(&id)?;
        Some(if side == 0 { (a, b) } else { (b, a) })
    }
}

/// The node that an address of the simulation belongs to.
fn node_at(ip: IpAddr, from: NodeId, nodes: usize) -> Option<NodeId> {
    if ip.is_loopback() || ip.is_unspecified() {
        return Some(from);
    }
    (0..nodes).map(|n| NodeId(n as u16)).find(|node| node.ip() == ip)
}

impl World {
    fn link_delay_ns(&self, net: &Net, from: NodeId, to: NodeId) -> u64 {
        self.rng.net.within(&net.links.delay(from, to)) * 1_000 + self.rng.net.below(1_000)
    }

    /// Puts a segment on the wire towards end `to` of a connection, `extra_ns` later than the link's own delay.
    pub(crate) fn net_send(&self, net: &mut Net, id: ConnId, to: usize, segment: Segment, extra_ns: u64) {
        let Some((end, peer)) = net.ends(id, to) else { return };
        let (from, node) = (peer.node, end.node);
        let due = self.now_ns() + self.link_delay_ns(net, from, node) + extra_ns;
        let Some((end, _)) = net.ends(id, to) else { return };
        if let Segment::Data(data) = &segment {
            end.held_bytes += data.iter().map(Bytes::len).sum::<usize>();
        }
        end.last_due_ns = end.last_due_ns.max(due);
        end.wire.push_back(segment);
        let at = end.last_due_ns;
        self.push_event(at, Event::Net(NetEvent::Arrive(id, to)));
    }

    /// A process gives up its end: in order after what it sent, or at once if it leaves bytes unread, as TCP does.
    pub(crate) fn net_close(&self, net: &mut Net, id: ConnId, side: usize) {
        let Some((end, _)) = net.ends(id, side) else { return };
        if !end.open {
            return;
        }
        end.open = false;
        let reset = end.unread_bytes() > 0;
        let over = end.fin_sent || end.error.is_some();
        end.discard();
        if reset {
            self.net_send(net, id, 1 - side, Segment::Reset, 0);
        } else if !over {
            self.net_send(net, id, 1 - side, Segment::Fin, 0);
        }
        self.net_forget(net, id);
    }

    fn net_forget(&self, net: &mut Net, id: ConnId) {
        if net.conns.get(&id).is_some_and(|ends| ends.iter().all(|end| !end.open)) {
            net.conns.remove(&id);
        }
    }

    /// Something comes due.
    pub(crate) fn net_event(&self, event: NetEvent) {
        let net = &mut *self.net.borrow_mut();
        match event {
            NetEvent::Arrive(id, side) => self.net_arrive(net, id, side),
            NetEvent::Request(attempt) => self.net_request(net, attempt),
            NetEvent::Answer(attempt, result) => self.net_answer(net, attempt, result),
            NetEvent::GiveUp(id, side, since_ns) => self.net_give_up(net, id, side, since_ns),
        }
    }

    fn net_arrive(&self, net: &mut Net, id: ConnId, side: usize) {
        let Some((end, peer)) = net.ends(id, side) else { return };
        let (from, to) = (peer.node, end.node);
        if net.links.is_cut(from, to) {
            self.net_stall(net, id, side);
            return;
        }
        let Some((end, peer)) = net.ends(id, side) else { return };
        let Some(segment) = end.wire.pop_front() else { return };
        let mut word = id.0 << 1 | side as u64;
        match segment {
            Segment::Data(data) => {
                word ^= data.iter().fold(0, |h: u64, bytes| h.rotate_left(9) ^ hash_bytes(bytes));
                if end.open && end.error.is_none() {
                    end.arrive(data);
                } else {
                    // Nobody reads it: the peer is told so.
                    let lost: usize = data.iter().map(Bytes::len).sum();
                    end.held_bytes = end.held_bytes.saturating_sub(lost);
                    if peer.open && peer.error.is_none() {
                        self.net_send(net, id, 1 - side, Segment::Reset, 0);
                    }
                }
            }
            Segment::Fin => end.fin_received = true,
            Segment::Reset => self.net_reset(end, peer),
        }
        self.trace.note(Mark::Net, word, self.now_ns());
        if let Some((end, _)) = net.ends(id, side) {
            end.wake_all();
        }
    }

    // A reset reached `end`. What had arrived may be lost with it.
    fn net_reset(&self, end: &mut End, peer: &mut End) {
        end.error.get_or_insert(io::ErrorKind::ConnectionReset);
        if self.rng.net.percent(50) {
            end.discard();
        }
        end.held_bytes = 0;
        peer.wire.clear();
        peer.held_bytes = peer.unread_bytes();
    }

    fn net_stall(&self, net: &mut Net, id: ConnId, side: usize) {
        let Some((end, _)) = net.ends(id, side) else { return };
        end.stalled += 1;
        if end.stalled == 1 {
            let now = self.now_ns();
            end.stalled_since_ns = now;
            end.last_due_ns = end.last_due_ns.max(now);
            self.push_event(now + RETRANSMIT_MAX_NS, Event::Net(NetEvent::GiveUp(id, side, now)));
        }
    }

    fn net_give_up(&self, net: &mut Net, id: ConnId, side: usize, since_ns: u64) {
        let Some((end, sender)) = net.ends(id, side) else { return };
        if end.stalled == 0 || end.stalled_since_ns != since_ns {
            return;
        }
        // The receiver isn't told: to it the connection stays half-open until it sends something itself.
        end.stalled = 0;
        end.wire.clear();
        end.held_bytes = end.unread_bytes();
        sender.error.get_or_insert(io::ErrorKind::TimedOut);
        sender.wake_all();
    }

    fn net_request(&self, net: &mut Net, mut attempt: Attempt) {
        let nodes = self.nodes.borrow();
        let server = node_at(attempt.to.ip(), attempt.node, nodes.len());
        let power = server.map(|server| nodes[server.index()].power());
        let client_alive = nodes[attempt.node.index()].is_running(attempt.incarnation);
        let incarnation = server.map_or(0, |server| nodes[server.index()].incarnation());
        drop(nodes);
        if !client_alive {
            return;
        }
        let retry = match (server, power) {
            (Some(server), Some(power)) => {
                power == Power::Off
                    || net.links.is_cut(attempt.node, server)
                    || net.links.is_cut(server, attempt.node)
            }
            _ => true,
        };
        let mut result = Err(io::ErrorKind::ConnectionRefused.into());
        if let (false, Some(server)) = (retry, server) {
            if net.reaches(server, incarnation, attempt.to).is_some() {
                match net.establish(&attempt, server) {
                    Some(id) => result = Ok(id),
                    None => return self.net_retry(attempt),
                }
            }
        } else if attempt.tries < SYN_RETRIES_MAX {
            return self.net_retry(attempt);
        } else {
            result = Err(io::ErrorKind::TimedOut.into());
        }
        attempt.tries = 0;
        let delay_ns = self.link_delay_ns(net, server.unwrap_or(attempt.node), attempt.node);
        self.push_event_in(delay_ns, Event::Net(NetEvent::Answer(attempt, result)));
    }

    fn net_retry(&self, mut attempt: Attempt) {
        attempt.tries += 1;
        self.push_event_in(SYN_RETRY_NS, Event::Net(NetEvent::Request(attempt)));
    }

    fn net_answer(&self, net: &mut Net, attempt: Attempt, result: io::Result<ConnId>) {
        let id = result.as_ref().ok().copied();
        // Nobody waits for it any more: the kernel closes what it has made.
        if let (Err(_), Some(id)) = (attempt.slot.fill(result), id) {
            self.net_close(net, id, 0);
        }
    }

    // ---- nodes and links

    /// A node crashed: its connections end, and its listeners are gone.
    pub(crate) fn net_crash(&self, node: NodeId, how: Crash) {
        let net = &mut *self.net.borrow_mut();
        net.listeners.retain(|(at, _), _| *at != node);
        for (id, side) in sides_of(net, |end, _| end.node == node && end.open) {
            let Some((end, peer)) = net.ends(id, side) else { continue };
            end.open = false;
            let unread = end.unread_bytes() > 0 || peer.node == node;
            end.discard();
            // What the dead process had sent and the wire hasn't delivered may be lost from any point on.
            let lose = self.rng.net.percent(50);
            if lose {
                let keep = self.rng.net.index(peer.wire.len() + 1);
                peer.wire.truncate(keep);
            }
            let (segment, extra_ns) = match how {
                Crash::PowerCut => (Segment::Reset, self.rng.net.below(POWER_LOSS_NOTICE_MAX_NS)),
                Crash::Kill if unread || lose => (Segment::Reset, 0),
                Crash::Kill => (Segment::Fin, 0),
            };
            self.net_send(net, id, 1 - side, segment, extra_ns);
            self.net_forget(net, id);
        }
    }

    /// A machine has power again: it answers old connections with resets, which their peers already have on the way.
    pub(crate) fn net_power_on(&self, node: NodeId) {
        let net = &mut *self.net.borrow_mut();
        for (id, side) in sides_of(net, |end, peer| peer.node == node && !peer.open && end.open) {
            let Some((end, peer)) = net.ends(id, side) else { continue };
            self.net_reset(end, peer);
            end.wake_all();
        }
    }

    /// Lets the stalled segments of healed links go on.
    pub(crate) fn net_unstall(&self) {
        let net = &mut *self.net.borrow_mut();
        for (id, side) in sides_of(net, |end, _| end.stalled > 0) {
            let Some((end, peer)) = net.ends(id, side) else { continue };
            let (from, to) = (peer.node, end.node);
            if net.links.is_cut(from, to) {
                continue;
            }
            let due = self.now_ns() + self.link_delay_ns(net, from, to);
            let Some((end, _)) = net.ends(id, side) else { continue };
            end.last_due_ns = end.last_due_ns.max(due);
            for _ in 0..std::mem::take(&mut end.stalled) {
                self.push_event(due, Event::Net(NetEvent::Arrive(id, side)));
            }
        }
    }

    /// Resets every connection between two nodes, at both ends.
    pub(crate) fn net_reset_between(&self, a: NodeId, b: NodeId) {
        let net = &mut *self.net.borrow_mut();
        let wanted =
            |end: &End, peer: &End| (end.node == a && peer.node == b) || (end.node == b && peer.node == a);
        for (id, side) in sides_of(net, wanted) {
            let Some((end, peer)) = net.ends(id, side) else { continue };
            self.net_reset(end, peer);
            end.wake_all();
        }
    }
}

fn sides_of(net: &Net, wanted: impl Fn(&End, &End) -> bool) -> Vec<(ConnId, usize)> {
    let sides = |(&id, [a, b]): (&ConnId, &[End; 2])| {
        [(wanted(a, b), (id, 0)), (wanted(b, a), (id, 1))]
            .into_iter()
            .filter(|(yes, _)| *yes)
            .map(|(_, side)| side)
    };
    net.conns.iter().flat_map(sides).collect()
}
