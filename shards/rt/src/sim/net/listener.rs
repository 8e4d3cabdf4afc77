//! Listening, and accepting on one shard what another shard will own.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::task::Poll;

use super::conn::Conn;
use super::state::ConnId;
use crate::sim::current::{Current, current, expect_current};

/// A bound port of the running task's node. Dropping it refuses further connections and resets those not accepted.
pub(crate) struct Listener {
    place: Current,
    addr: SocketAddr,
}

impl Listener {
    /// Binds; port 0 picks a free one.
    ///
    /// # Errors
    /// AddrInUse, or AddrNotAvailable for an address of another node.
    pub(crate) fn bind(addr: SocketAddr) -> io::Result<Listener> {
        let place = expect_current();
        let addr = place.world.net.borrow_mut().bind(place.node, place.incarnation, addr)?;
        Ok(Listener { place, addr })
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// The next connection.
    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        poll_fn(|cx| {
            if !self.place.is_alive() {
                return Poll::Pending;
            }
            let mut net = self.place.world.net.borrow_mut();
            let Some(id) = net.accept(self.place.node, self.addr.port(), cx.waker()) else {
                return Poll::Pending;
            };
            let peer = net.ends(id, 1).map(|(_, peer)| peer.addr);
            Poll::Ready(Ok(Accepted { id: Some(id), peer: peer.unwrap_or(self.addr) }))
        })
        .await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.place.is_alive() {
            let world = &self.place.world;
            let mut net = world.net.borrow_mut();
            for id in net.unbind(self.place.node, self.addr.port()) {
                world.net_close(&mut net, id, 1);
            }
        }
    }
}

/// An accepted connection on its way to the shard that will own it: just its number, so that it may cross threads by
/// its type, as the real one does.
#[derive(Debug)]
pub(crate) struct Accepted {
    id: Option<ConnId>,
    peer: SocketAddr,
}

impl Accepted {
    pub(crate) fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn into_conn(mut self) -> io::Result<Conn> {
        let id = self.id.take().ok_or(io::ErrorKind::NotConnected)?;
        Conn::adopt(expect_current(), id, 1)
    }
}

impl Drop for Accepted {
    fn drop(&mut self) {
        // Outside of a task the whole simulation is being dropped, and there is nothing to close.
        if let (Some(id), Some(place)) = (self.id, current())
            && place.is_alive()
        {
            place.world.net_close(&mut place.world.net.borrow_mut(), id, 1);
        }
    }
}
