//! Real sockets.
//!
//! Data moves by our own system calls on the descriptor, glommio waits for readiness: its vectored write
//! sends the first slice only, and its listener sets SO_REUSEPORT, spins on EMFILE and hands out descriptors
//! nobody owns.

mod conn;
mod listener;
mod socket;

pub(crate) use conn::{Conn, connect};
pub(crate) use listener::{Accepted, Listener};
