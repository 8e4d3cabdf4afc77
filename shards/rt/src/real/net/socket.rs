//! Waiting until a descriptor is ready.

use std::future::poll_fn;
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd};
use std::pin::Pin;

use futures_lite::AsyncRead;
use glommio::net::TcpStream;

/// Ready when there is something to accept.
///
/// glommio has no readiness of its own to offer. A stream asks its ring for it when it is made, and reads
/// nothing before that has fired: so a stream on a copy of the descriptor is a wait. The read of no bytes
/// that follows says ENOTCONN.
pub(super) async fn acceptable(listener: BorrowedFd<'_>) -> io::Result<()> {
    let copy = listener.try_clone_to_owned()?;
    // SAFETY: the descriptor was just made for this stream, which owns it from here on.
    #[allow(unsafe_code, reason = "glommio takes only raw descriptors")]
    let mut stream = unsafe { TcpStream::from_raw_fd(copy.into_raw_fd()) };
    let _ = poll_fn(|cx| Pin::new(&mut stream).poll_read(cx, &mut [])).await;
    Ok(())
}
