//! InitProducerId, for idempotent producers (KIP-98, KIP-360).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{InitProducerIdRequest, InitProducerIdResponse};

use super::controller::FIRST_SHARD;
use crate::server::{Answer, Piece, RequestContext, ShardState};

/// Answers InitProducerId 0-5. A producer without transactions always gets a new id, as in Kafka, whichever it has; with them it gets
/// INVALID_REQUEST until there are transactions.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: InitProducerIdRequest,
) -> InitProducerIdResponse {
    let has_half = (request.producer_id == -1) != (request.producer_epoch == -1);
    if request.transactional_id.is_some() || has_half {
        return refused(ErrorCode::INVALID_REQUEST);
    }
    match shard.call(FIRST_SHARD, Piece::NextProducerId).await {
        Answer::ProducerId(Ok(producer_id)) => {
            InitProducerIdResponse { producer_id, producer_epoch: 0, ..InitProducerIdResponse::default() }
        }
        Answer::ProducerId(Err(code)) => refused(code),
        _ => refused(ErrorCode::COORDINATOR_NOT_AVAILABLE),
    }
}

fn refused(code: ErrorCode) -> InitProducerIdResponse {
    InitProducerIdResponse {
        error_code: code.code(),
        producer_id: -1,
        producer_epoch: -1,
        ..InitProducerIdResponse::default()
    }
}
