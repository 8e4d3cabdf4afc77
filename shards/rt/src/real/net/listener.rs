//! Listening and accepting.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, ipproto, sockopt};

use super::conn::Conn;
use super::socket;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Pauses when the process or the system is out of descriptors or memory: the connection stays in the
/// backlog, and accepting it again at once would only spin.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// See [`crate::net::Listener`].
pub(crate) struct Listener {
    fd: OwnedFd,
    addr: SocketAddr,
    /// What the engine waits for. Made with the listener: later there may be no descriptor left for it.
    watcher: Rc<OwnedFd>,
}

impl Listener {
    /// Without SO_REUSEPORT: a second broker on the port must fail. SO_REUSEADDR only passes over connections
    /// in TIME_WAIT, so a restart can bind.
    pub(crate) fn bind(addr: SocketAddr) -> io::Result<Listener> {
        let family = if addr.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = socket::flags();
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_socket_reuseaddr(&fd, true)?;
        rustix::net::bind(&fd, &addr)?;
        rustix::net::listen(&fd, BACKLOG)?;
        let addr = rustix::net::getsockname(&fd)?.try_into()?;
        let watcher = Rc::new(socket::watcher(fd.as_fd())?);
        Ok(Listener { fd, addr, watcher })
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) async fn accept(&self) -> io::Result<Accepted> {
        let mut pause = PAUSE_MIN;
        loop {
            match rustix::net::acceptfrom_with(&self.fd, socket::flags()) {
                Ok((fd, Some(peer))) => return Ok(Accepted { fd, peer: peer.try_into()? }),
                // A peer without an address is gone already.
                Ok((_, None)) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::WOULDBLOCK) => socket::readable(&self.watcher).await?,
                Err(error) if is_exhausted(error) => {
                    tracing::warn!(addr = %self.addr, ?pause, %error, "can't accept connections now");
                    crate::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_exhausted(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
}

/// See [`crate::net::Accepted`]: an owned descriptor, so it may cross shards, and is closed if it gets lost.
#[derive(Debug)]
pub(crate) struct Accepted {
    fd: OwnedFd,
    peer: SocketAddr,
}

impl Accepted {
    pub(crate) fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn into_conn(self) -> io::Result<Conn> {
        Conn::new(self.fd, self.peer)
    }
}
