//! What shard 0 alone holds: the controller, and the block of producer ids being given out.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use protocol::messages::AllocateProducerIdsRequest;
use rt::ShardId;
use rt::sync::Budget;

use super::piece::Piece;
use super::state::ShardState;
use crate::metadata::{Controller, ControllerReply, ControllerRequest};

/// Shard 0's own.
#[derive(Debug)]
pub struct FirstShard {
    /// The metadata quorum and its decisions.
    pub controller: Controller,
    /// Epoch of this broker's registration, -1 before it.
    pub broker_epoch: Cell<i64>,
    /// Producer ids of the current block that nobody has yet. A block is committed before its first id is given out, so that no crash
    /// gives one out twice.
    producer_ids: RefCell<Range<i64>>,
    /// Who fetches the next block, one at a time.
    turn: Budget,
    /// Partitions on their way to another core, one at a time.
    pub(super) core_moves: Budget,
    /// Who writes down where the partitions are.
    pub(super) placement_writes: Budget,
}

impl FirstShard {
    /// Over a started controller.
    pub fn new(controller: Controller) -> FirstShard {
        FirstShard {
            controller,
            broker_epoch: Cell::new(-1),
            producer_ids: RefCell::new(0..0),
            turn: Budget::new(1),
            core_moves: Budget::new(1),
            placement_writes: Budget::new(1),
        }
    }
}

/// Has the controller decide, and answers when every shard serves what was decided.
pub async fn control(shard: &Rc<ShardState>, request: ControllerRequest) -> ControllerReply {
    let Some(first) = &shard.first else {
        return ControllerReply::Failed(ErrorCode::NOT_CONTROLLER);
    };
    let handled = first.controller.handle(request).await;
    await_everywhere(shard, handled.offset).await;
    handled.reply
}

/// Waits until every shard serves the metadata up to `offset`.
pub async fn await_everywhere(shard: &Rc<ShardState>, offset: i64) {
    let shards = (0..shard.node.shards).map(ShardId);
    let waits = shards.map(|peer| shard.call(peer, Piece::AwaitMetadata(offset)));
    join_all(waits.collect::<Vec<_>>()).await;
}

/// A producer id that nobody else ever gets.
///
/// # Errors
/// The controller's code, if it gave no new block.
pub async fn next_producer_id(shard: &Rc<ShardState>) -> Result<i64, ErrorCode> {
    let Some(first) = &shard.first else { return Err(ErrorCode::NOT_CONTROLLER) };
    let _turn = first.turn.take(1).await;
    if let Some(id) = first.producer_ids.borrow_mut().next() {
        return Ok(id);
    }
    let request = AllocateProducerIdsRequest {
        broker_id: shard.node.config.node_id,
        broker_epoch: first.broker_epoch.get(),
        ..Default::default()
    };
    match first.controller.handle(ControllerRequest::AllocateProducerIds(request)).await.reply {
        ControllerReply::AllocateProducerIds(block) if block.error_code == 0 => {
            let start = block.producer_id_start;
            let mut ids = first.producer_ids.borrow_mut();
            *ids = start..start + i64::from(block.producer_id_len);
            ids.next().ok_or(ErrorCode::UNKNOWN_SERVER_ERROR)
        }
        ControllerReply::AllocateProducerIds(block) => Err(ErrorCode::from_code(block.error_code)),
        ControllerReply::Failed(code) => Err(code),
        _ => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
