//! Listening.

use std::io;
use std::net::SocketAddr;

use super::conn::{Conn, Inner as ConnInner};

/// A bound port. A second one on the same port fails, of any process.
pub struct Listener(Inner);

enum Inner {
    Real(crate::real::net::Listener),
    #[cfg(feature = "sim")]
    Sim(crate::sim::net::Listener),
}

impl Listener {
    /// Binds and listens; port 0 picks a free one.
    ///
    /// # Errors
    /// AddrInUse, AddrNotAvailable and the like.
    pub fn bind(addr: SocketAddr) -> io::Result<Listener> {
        #[cfg(feature = "sim")]
        if crate::sim::facade::is_simulated() {
            return Ok(Listener(Inner::Sim(crate::sim::net::Listener::bind(addr)?)));
        }
        Ok(Listener(Inner::Real(crate::real::net::Listener::bind(addr)?)))
    }

    /// The bound address.
    pub fn local_addr(&self) -> SocketAddr {
        match &self.0 {
            Inner::Real(listener) => listener.local_addr(),
            #[cfg(feature = "sim")]
            Inner::Sim(listener) => listener.local_addr(),
        }
    }

    /// The next connection.
    ///
    /// # Errors
    /// What the system says of that one connection; the listener goes on.
    pub async fn accept(&self) -> io::Result<Accepted> {
        match &self.0 {
            Inner::Real(listener) => Ok(Accepted(AcceptedInner::Real(listener.accept().await?))),
            #[cfg(feature = "sim")]
            Inner::Sim(listener) => Ok(Accepted(AcceptedInner::Sim(listener.accept().await?))),
        }
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").field("addr", &self.local_addr()).finish()
    }
}

/// An accepted connection on its way to the shard that will own it. Dropping it closes it.
#[derive(Debug)]
pub struct Accepted(AcceptedInner);

#[derive(Debug)]
enum AcceptedInner {
    Real(crate::real::net::Accepted),
    #[cfg(feature = "sim")]
    Sim(crate::sim::net::Accepted),
}

impl Accepted {
    /// The client's address.
    pub fn peer_addr(&self) -> SocketAddr {
        match &self.0 {
            AcceptedInner::Real(accepted) => accepted.peer_addr(),
            #[cfg(feature = "sim")]
            AcceptedInner::Sim(accepted) => accepted.peer_addr(),
        }
    }

    /// Makes the running task's shard its owner.
    ///
    /// # Errors
    /// The connection is gone already.
    pub fn into_conn(self) -> io::Result<Conn> {
        match self.0 {
            AcceptedInner::Real(accepted) => Ok(Conn(ConnInner::Real(accepted.into_conn()?))),
            #[cfg(feature = "sim")]
            AcceptedInner::Sim(accepted) => Ok(Conn(ConnInner::Sim(accepted.into_conn()?))),
        }
    }
}
