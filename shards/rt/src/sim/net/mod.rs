//! The simulated network: TCP as a process sees it, between nodes and within one.
//!
//! Bytes arrive in order, cut anywhere, after a seeded delay. Each direction holds a bounded number of bytes, then
//! `send` waits. A cut link loses nothing: what is under way waits for it to heal, until the sender gives up. When a
//! process is killed its peers see the end of the stream or a reset, with or without the last bytes it sent; when a
//! machine loses power they see a reset, up to ten seconds later. A listener's backlog is bounded.
//!
//! Not modelled: datagrams, lost or repeated bytes within a connection (TCP hides them), bandwidth.

mod conn;
mod control;
mod link;
mod listener;
mod pipe;
mod state;

pub(crate) use conn::{Conn, connect};
pub(crate) use listener::{Accepted, Listener};
pub(crate) use state::{Net, NetEvent};
