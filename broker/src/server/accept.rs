//! Accepting connections, on shard 0, and handing each to the shard where it lives.

use std::rc::Rc;

use rt::ShardId;
use rt::net::Listener;

use super::piece::Piece;
use super::state::ShardState;

/// Accepts, and hands each connection to a shard in turn.
pub(super) async fn accept(shard: Rc<ShardState>, listener: Listener, index: usize) {
    let mut next = 0;
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                let peer = ShardId(next);
                next = (next + 1) % shard.node.shards;
                shard.call(peer, Piece::Connection(accepted, index)).await;
            }
            Err(error) => tracing::warn!(%error, "accept failed"),
        }
    }
}
