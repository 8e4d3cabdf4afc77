//! AllocateProducerIds: blocks of ids, none ever given out twice.

use protocol::error::ErrorCode;
use protocol::internal::ProducerIdsRecord;
use protocol::messages::{AllocateProducerIdsRequest, AllocateProducerIdsResponse};

use super::decider::{Decider, Decision};
use super::request::ControllerReply;
use crate::metadata::image::Image;
use crate::metadata::limits::PRODUCER_ID_BLOCK_LEN;

impl Decider {
    /// The broker gets the block only after its record is committed: a crash may waste a block, never repeat one.
    pub(super) fn allocate_producer_ids(
        &self,
        image: &Image,
        request: &AllocateProducerIdsRequest,
    ) -> Decision {
        let refuse = |code: ErrorCode| {
            let reply = AllocateProducerIdsResponse { error_code: code.code(), ..Default::default() };
            Decision::reply(ControllerReply::AllocateProducerIds(reply))
        };
        match image.brokers.get(&request.broker_id) {
            None => return refuse(ErrorCode::BROKER_ID_NOT_REGISTERED),
            Some(broker) if broker.epoch != request.broker_epoch => {
                return refuse(ErrorCode::STALE_BROKER_EPOCH);
            }
            Some(_) => {}
        }
        let start = image.next_producer_id;
        let Some(next) = start.checked_add(i64::from(PRODUCER_ID_BLOCK_LEN)) else {
            return refuse(ErrorCode::UNKNOWN_SERVER_ERROR);
        };
        let record = ProducerIdsRecord {
            broker_id: request.broker_id,
            broker_epoch: request.broker_epoch,
            next_producer_id: next,
            ..Default::default()
        };
        let reply = AllocateProducerIdsResponse {
            producer_id_start: start,
            producer_id_len: PRODUCER_ID_BLOCK_LEN,
            ..Default::default()
        };
        Decision::atomic(vec![record.into()], ControllerReply::AllocateProducerIds(reply))
    }
}
