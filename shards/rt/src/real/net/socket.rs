//! A descriptor and its readiness, by either engine.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures_lite::{AsyncRead, AsyncWrite};
use glommio::net::TcpStream;
use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, sockopt};

use crate::real::current;
use crate::real::relay::relay;
use crate::real::ring::{Interest, Reactor, Wait, ready};

/// A connected socket, which owns its descriptor.
pub(super) enum Socket {
    /// Borrowed within one poll only.
    Glommio(RefCell<TcpStream>),
    Ring(RingSocket),
}

pub(super) struct RingSocket {
    reactor: Rc<Reactor>,
    fd: Rc<OwnedFd>,
    readable: Wait,
    writable: Wait,
}

impl Socket {
    /// Takes a non-blocking descriptor over, on the shard it is called on.
    pub(super) fn new(fd: OwnedFd) -> Socket {
        match current::ring("rt::net") {
            Some(reactor) => Socket::Ring(RingSocket {
                reactor,
                fd: Rc::new(fd),
                readable: Wait::new(Interest::Readable),
                writable: Wait::new(Interest::Writable),
            }),
            // SAFETY: the descriptor is owned, and the stream owns it from here on.
            #[allow(unsafe_code, reason = "glommio takes only raw descriptors")]
            None => Socket::Glommio(RefCell::new(unsafe { TcpStream::from_raw_fd(fd.into_raw_fd()) })),
        }
    }

    /// Connects, with the system's own timeout.
    pub(super) async fn connect(to: SocketAddr) -> io::Result<Socket> {
        if current::is_glommio() {
            let stream: TcpStream = relay(TcpStream::connect(to)).await.map_err(io::Error::from)?;
            return Ok(Socket::Glommio(RefCell::new(stream)));
        }
        let family = if to.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags(), Some(ipproto::TCP))?;
        let begun = rustix::net::connect(&fd, &to);
        let socket = Socket::new(fd);
        match begun {
            Ok(()) => {}
            Err(Errno::INPROGRESS) => {
                poll_fn(|cx| socket.poll_writable(&[], cx)).await?;
                socket.with_fd(|fd| sockopt::socket_error(fd))??;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(socket)
    }

    pub(super) fn with_fd<T>(&self, call: impl FnOnce(BorrowedFd<'_>) -> T) -> T {
        match self {
            Socket::Glommio(stream) => {
                let stream = stream.borrow();
                // SAFETY: the stream owns the descriptor and outlives the call.
                #[allow(unsafe_code, reason = "glommio lends only raw descriptors")]
                call(unsafe { BorrowedFd::borrow_raw(stream.as_raw_fd()) })
            }
            Socket::Ring(socket) => call(socket.fd.as_fd()),
        }
    }

    /// Ready when there may be something to receive, or the end of it.
    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            // Reads nothing: with no bytes at hand it waits for them, else it says 0.
            Socket::Glommio(stream) => {
                Pin::new(&mut *stream.borrow_mut()).poll_read(cx, &mut []).map_ok(drop)
            }
            Socket::Ring(socket) => socket.readable.poll(&socket.reactor, &socket.fd, cx),
        }
    }

    /// Ready when there may be room to send. glommio tries `next` first, and tells how much of it is sent.
    pub(super) fn poll_writable(&self, next: &[u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match self {
            Socket::Glommio(stream) => Pin::new(&mut *stream.borrow_mut()).poll_write(cx, next),
            Socket::Ring(socket) => socket.writable.poll(&socket.reactor, &socket.fd, cx).map_ok(|()| 0),
        }
    }

    /// [`Self::poll_readable`], polled again while it is pending, goes on with the wait that it has begun.
    pub(super) fn keeps_waits(&self) -> bool {
        matches!(self, Socket::Ring(_))
    }
}

/// A new socket of the system, non-blocking.
pub(super) fn flags() -> SocketFlags {
    SocketFlags::CLOEXEC | SocketFlags::NONBLOCK
}

/// Readable when `listener` is, without keeping it open.
///
/// What a ring waits for is let go some time after its process has died: a broker that was killed would hold its port for the next one's
/// first moments. An epoll instance doesn't keep what it watches.
pub(super) fn watcher(listener: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let watcher = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&watcher, listener, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    Ok(watcher)
}

/// Waits until `fd` is readable.
///
/// glommio has no readiness of its own to offer. A stream asks its ring for it when it is made, and reads
/// nothing before that has fired: so a stream on a copy of the descriptor is a wait. The read of no bytes
/// that follows fails: it is no socket.
pub(super) async fn readable(fd: &Rc<OwnedFd>) -> io::Result<()> {
    if let Some(reactor) = current::ring("rt::net") {
        return ready(&reactor, Rc::clone(fd), Interest::Readable).await;
    }
    let copy = fd.try_clone()?;
    // SAFETY: the descriptor was just made for this stream, which owns it from here on.
    #[allow(unsafe_code, reason = "glommio takes only raw descriptors")]
    let mut stream = unsafe { TcpStream::from_raw_fd(copy.into_raw_fd()) };
    let _ = poll_fn(|cx| Pin::new(&mut stream).poll_read(cx, &mut [])).await;
    Ok(())
}
