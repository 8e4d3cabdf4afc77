//! Connections.

use std::io;
use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};

/// An established connection of the running task's shard. Dropping it closes it.
pub struct Conn(pub(super) Inner);

pub(super) enum Inner {
    Real(crate::real::net::Conn),
    #[cfg(feature = "sim")]
    Sim(crate::sim::net::Conn),
}

/// Connects to `to`.
///
/// # Errors
/// ConnectionRefused, TimedOut and the like.
pub async fn connect(to: SocketAddr) -> io::Result<Conn> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return Ok(Conn(Inner::Sim(crate::sim::net::connect(to).await?)));
    }
    Ok(Conn(Inner::Real(crate::real::net::connect(to).await?)))
}

impl Conn {
    /// Appends what arrives to the spare capacity of `buf`, which must not be 0; at least one byte. 0 is the
    /// end of the stream, an error never is. The buffer comes back in any case.
    ///
    /// # Errors
    /// ConnectionReset, TimedOut and the like.
    pub async fn recv(&self, buf: BytesMut) -> (io::Result<usize>, BytesMut) {
        match &self.0 {
            Inner::Real(conn) => conn.recv(buf).await,
            #[cfg(feature = "sim")]
            Inner::Sim(conn) => conn.recv(buf).await,
        }
    }

    /// Sends all of `bufs`, in order; one sender at a time. It says nothing of their arrival.
    ///
    /// # Errors
    /// ConnectionReset, BrokenPipe, TimedOut and the like: any part may have been sent.
    pub async fn send(&self, bufs: Vec<Bytes>) -> io::Result<()> {
        match &self.0 {
            Inner::Real(conn) => conn.send(bufs).await,
            #[cfg(feature = "sim")]
            Inner::Sim(conn) => conn.send(bufs).await,
        }
    }

    /// The other end's address.
    pub fn peer_addr(&self) -> SocketAddr {
        match &self.0 {
            Inner::Real(conn) => conn.peer_addr(),
            #[cfg(feature = "sim")]
            Inner::Sim(conn) => conn.peer_addr(),
        }
    }

    /// This end's address.
    pub fn local_addr(&self) -> SocketAddr {
        match &self.0 {
            Inner::Real(conn) => conn.local_addr(),
            #[cfg(feature = "sim")]
            Inner::Sim(conn) => conn.local_addr(),
        }
    }

    /// Ends the sending direction: the peer reads what was sent, then the end of the stream.
    pub fn shutdown(&self) {
        match &self.0 {
            Inner::Real(conn) => conn.shutdown(),
            #[cfg(feature = "sim")]
            Inner::Sim(conn) => conn.shutdown(),
        }
    }

    /// Ends the sending direction, throws away for at most 200 ms what the peer still sends, so that it gets
    /// the end of what was sent to it, then closes both directions; whoever still waits on this end is woken.
    pub async fn close(&self) {
        match &self.0 {
            Inner::Real(conn) => conn.close().await,
            #[cfg(feature = "sim")]
            Inner::Sim(conn) => conn.close().await,
        }
    }
}

impl std::fmt::Debug for Conn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conn").field("peer", &self.peer_addr()).finish_non_exhaustive()
    }
}
