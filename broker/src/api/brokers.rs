//! Where clients reach brokers.

use std::rc::Rc;

use protocol::types::Str;

use crate::metadata::image::Broker;
use crate::server::{RequestContext, ShardState};

/// A broker's address on the listener that a client came by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// Node id.
    pub(super) id: i32,
    /// Advertised host.
    pub(super) host: Str,
    /// Advertised port.
    pub(super) port: i32,
    /// Its rack.
    pub(super) rack: Option<Str>,
}

/// All brokers that clients may know, by id; this one always.
pub(super) fn all(shard: &Rc<ShardState>, context: &RequestContext) -> Vec<Address> {
    let own = own(shard, context);
    let own_id = own.id;
    let mut all = registered(shard, context, |broker| !broker.fenced && broker.id != own_id);
    all.push(own);
    all.sort_by_key(|broker| broker.id);
    all
}

/// The brokers that clients aren't told of: shut out by the controller.
pub(super) fn fenced(shard: &Rc<ShardState>, context: &RequestContext) -> Vec<Address> {
    let own = shard.node.config.node_id;
    registered(shard, context, |broker| broker.fenced && broker.id != own)
}

fn registered(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    wanted: impl Fn(&Broker) -> bool,
) -> Vec<Address> {
    let listener = shard.node.config.listeners.get(context.listener).map_or("", |listener| &listener.name);
    let image = shard.image.borrow();
    let found = image.brokers.values().filter(|broker| wanted(broker)).filter_map(|broker| {
        let endpoint = broker.endpoint(listener)?;
        let (host, port) = (endpoint.host.clone(), i32::from(endpoint.port));
        Some(Address { id: broker.id, host, port, rack: broker.rack.clone() })
    });
    found.collect()
}

/// This node.
pub(super) fn own(shard: &Rc<ShardState>, context: &RequestContext) -> Address {
    let node = &shard.node;
    let (host, port) = node.advertised.get(context.listener).cloned().unwrap_or_default();
    Address {
        id: node.config.node_id,
        host: Str::from(host),
        port: i32::from(port),
        rack: node.config.rack.as_ref().map(Str::from),
    }
}
