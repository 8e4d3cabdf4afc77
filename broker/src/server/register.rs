//! The broker's registration with the controller.

use std::rc::Rc;

use protocol::messages::BrokerRegistrationRequest;
use protocol::messages::broker_registration_request::{Feature, Listener as RegisteredListener};
use protocol::types::{Str, Uuid};

use super::failure::Failure;
use super::first;
use super::state::ShardState;
use crate::metadata::limits::METADATA_VERSION;
use crate::metadata::{ControllerReply, ControllerRequest};

/// Registers as a new run of this broker: what it leads gets new leader epochs.
///
/// # Errors
/// The controller refused.
pub(super) async fn register(shard: &Rc<ShardState>) -> Result<(), Failure> {
    match first::control(shard, ControllerRequest::RegisterBroker(request(shard))).await {
        ControllerReply::RegisterBroker(reply) if reply.error_code == 0 => {
            if let Some(first) = &shard.first {
                first.broker_epoch.set(reply.broker_epoch);
            }
            Ok(())
        }
        reply => Err(Failure::fatal(format!("the broker can't register: {reply:?}"))),
    }
}

fn request(shard: &Rc<ShardState>) -> BrokerRegistrationRequest {
    let node = &shard.node;
    let listeners = node.config.advertised_listeners.iter().zip(&node.advertised);
    let listeners = listeners.map(|(listener, (host, port))| RegisteredListener {
        name: Str::from(listener.name.clone()),
        host: Str::from(host.clone()),
        port: *port,
        security_protocol: 0,
        ..Default::default()
    });
    let feature = Feature {
        name: Str::from_static("metadata.version"),
        min_supported_version: METADATA_VERSION,
        max_supported_version: METADATA_VERSION,
        ..Default::default()
    };
    BrokerRegistrationRequest {
        broker_id: node.config.node_id,
        cluster_id: Str::from(node.cluster_id.clone()),
        incarnation_id: Uuid::from_random(rt::random_bytes()),
        listeners: listeners.collect(),
        features: vec![feature],
        rack: node.config.rack.clone().map(Str::from),
        log_dirs: vec![shard.log_dir.directory_id()],
        ..Default::default()
    }
}
