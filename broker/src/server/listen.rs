//! The node's listeners: bound, advertised, announced.

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};

use rt::net::Listener;

use super::failure::Failure;
use crate::config::BrokerConfig;
use crate::config::listener::Listener as ListenerConfig;

/// Binds all of them, none if one can't be.
///
/// # Errors
/// The one that can't be bound.
pub(super) fn bind(config: &BrokerConfig) -> Result<Vec<Listener>, Failure> {
    config.listeners.iter().map(|listener| bind_one(listener).map_err(Failure::fatal)).collect()
}

fn bind_one(listener: &ListenerConfig) -> Result<Listener, String> {
    let host = if listener.host.is_empty() { "0.0.0.0" } else { &listener.host };
    let shown = format!("{host}:{}", listener.port);
    let mut addresses = (host, listener.port)
        .to_socket_addrs()
        .map_err(|error| format!("can't listen on {shown}: {error}"))?;
    let address = addresses.next().ok_or_else(|| format!("can't listen on {shown}: no such host"))?;
    Listener::bind(address).map_err(|error| format!("can't listen on {shown}: {error}"))
}

/// Where clients reach each listener: host and port. A port of 0 stands for the one that the listener got.
pub(super) fn advertised(config: &BrokerConfig, listeners: &[Listener]) -> Vec<(String, u16)> {
    let advertised = config.advertised_listeners.iter().zip(listeners).map(|(advertised, listener)| {
        let port = if advertised.port == 0 { listener.local_addr().port() } else { advertised.port };
        (advertised.host.clone(), port)
    });
    advertised.collect()
}

/// The line that says that clients may come. Scripts wait for it.
pub(super) fn announce(addresses: &[SocketAddr]) {
    let mut out = std::io::stdout().lock();
    for address in addresses {
        // Nobody listening to it is no reason not to serve.
        let _ = writeln!(out, "listening {address}");
    }
    let _ = out.flush();
}
