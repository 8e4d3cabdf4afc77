//! Binding the address, and the thread.

use std::net::{SocketAddr, ToSocketAddrs};

use super::routes::Routes;
use super::server;
use super::shards::Shards;
use crate::config::listener::Listener;
use crate::metrics::NodeFacts;

/// Why there is no endpoint.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The address is taken, or isn't one of this machine.
    #[error("ringlog.admin.listen: can't listen on {address}: {error}")]
    Bind {
        /// As configured.
        address: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// No thread.
    #[error("the thread of ringlog.admin.listen: {0}")]
    Thread(std::io::Error),
}

/// Binds the address and starts the thread, which serves until the process ends. Blocks: for the main thread, before the shards; a thread started on a shard
/// would share its core. Gives the address bound.
///
/// # Errors
/// See [`AdminError`].
#[allow(clippy::disallowed_types, reason = "for a plain thread")]
pub fn start(listen: &Listener, node: NodeFacts, shards: Shards) -> Result<SocketAddr, AdminError> {
    let host = if listen.host.is_empty() { "0.0.0.0" } else { &listen.host };
    let bind = || {
        let addresses: Vec<SocketAddr> = (host, listen.port).to_socket_addrs()?.collect();
        let listener = std::net::TcpListener::bind(&*addresses)?;
        Ok((listener.local_addr()?, listener))
    };
    let failed = |error| AdminError::Bind { address: format!("{host}:{}", listen.port), error };
    let (address, listener) = bind().map_err(failed)?;
    let body = move || {
        if let Err(error) = server::run(listener, Routes::new(node, shards)) {
            tracing::error!(%error, "the admin endpoint ended");
        }
    };
    std::thread::Builder::new().name("admin".into()).spawn(body).map_err(AdminError::Thread)?;
    Ok(address)
}
