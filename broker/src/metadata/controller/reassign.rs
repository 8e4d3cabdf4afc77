//! AlterPartitionReassignments: other replicas for partitions (KIP-455, KIP-860). Between brokers nothing is copied yet, so that only what is
//! there already can be asked for.

use protocol::error::ErrorCode;
use protocol::messages::alter_partition_reassignments_request::ReassignablePartition;
use protocol::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};

use super::assignment::Assignment;
use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::request::ControllerReply;
use crate::metadata::image::{Image, Topic};
use crate::metadata::limits::{REASSIGNMENTS_PER_REQUEST_MAX, TOPIC_NAME_LEN_MAX};

impl Decider {
    /// Each partition gets an answer of its own.
    pub(super) fn alter_partition_reassignments(
        &self,
        image: &Image,
        request: AlterPartitionReassignmentsRequest,
    ) -> Decision {
        let mut reply = AlterPartitionReassignmentsResponse {
            allow_replication_factor_change: request.allow_replication_factor_change,
            ..Default::default()
        };
        // A partition takes some bytes of the request and may get a text of hundreds.
        let asked: usize = request.topics.iter().map(|topic| topic.partitions.len()).sum();
        if asked > REASSIGNMENTS_PER_REQUEST_MAX {
            reply.error_code = ErrorCode::INVALID_REQUEST.code();
            return Decision::reply(ControllerReply::AlterPartitionReassignments(reply));
        }
        let may_change = request.allow_replication_factor_change;
        let topics = request.topics.into_iter().map(|asked| {
            let topic = image.topic(&asked.name);
            let each = asked.partitions.iter().map(|target| {
                let fault = reassign(image, &asked.name, topic, target, may_change).err();
                result(target.partition_index, fault)
            });
            let partitions = each.collect();
            ReassignableTopicResponse { name: asked.name, partitions, ..Default::default() }
        });
        reply.responses = topics.collect();
        Decision::reply(ControllerReply::AlterPartitionReassignments(reply))
    }
}

/// Whether the partition is as it is wanted.
fn reassign(
    image: &Image,
    name: &str,
    topic: Option<&Topic>,
    target: &ReassignablePartition,
    may_change_factor: bool,
) -> Result<(), Fault> {
    let unknown = |text: String| Fault::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text);
    let index = target.partition_index;
    let topic = topic.ok_or_else(|| match name.len() {
        ..=TOPIC_NAME_LEN_MAX => unknown(format!("Unable to find a topic named {name}.")),
        _ => unknown("Unable to find a topic of that name.".into()),
    })?;
    let partition =
        topic.partition(index).ok_or_else(|| unknown(format!("Unable to find partition {name}:{index}.")))?;
    let Some(wanted) = &target.replicas else {
        let text = "No partition reassignment is in progress.";
        return Err(Fault::new(ErrorCode::NO_REASSIGNMENT_IN_PROGRESS, text));
    };
    Assignment::manual(image, index, wanted, None)?;
    let (current, count) = (partition.replicas.len(), wanted.len());
    if !may_change_factor && count != current {
        return Err(Fault::new(
            ErrorCode::INVALID_REPLICATION_FACTOR,
            format!("The replication factor is changed from {current} to {count}"),
        ));
    }
    if *wanted != partition.replicas {
        return Err(Fault::new(
            ErrorCode::INVALID_REPLICA_ASSIGNMENT,
            "Replicas can't be moved between brokers yet.",
        ));
    }
    Ok(())
}

fn result(partition_index: i32, fault: Option<Fault>) -> ReassignablePartitionResponse {
    ReassignablePartitionResponse {
        partition_index,
        error_code: fault.as_ref().map_or(ErrorCode::NONE, |fault| fault.code).code(),
        error_message: fault.and_then(|fault| fault.text()),
        ..Default::default()
    }
}
