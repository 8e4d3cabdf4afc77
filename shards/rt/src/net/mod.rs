//! TCP.

mod conn;
mod listener;

pub use conn::{Conn, connect};
pub use listener::{Accepted, Listener};
