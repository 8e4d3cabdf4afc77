//! Configs of a broker are altered by asking that broker.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::types::Str;

use crate::metadata::image::RESOURCE_BROKER;
use crate::server::ShardState;

/// The refusal, if the resource is another broker than this one.
pub(super) fn refused(shard: &Rc<ShardState>, resource_type: i8, name: &str) -> Option<(ErrorCode, Str)> {
    let own = shard.node.config.node_id;
    match name.parse::<i32>() {
        Ok(id) if resource_type == RESOURCE_BROKER && id != own => {
            let text = format!("Unexpected broker id, expected {own}, but received {id}");
            Some((ErrorCode::INVALID_REQUEST, Str::from(text)))
        }
        _ => None,
    }
}
