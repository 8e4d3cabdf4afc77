//! CreatePartitions.

use std::collections::BTreeSet;

use protocol::error::ErrorCode;
use protocol::internal::MetadataRecord;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};
use protocol::types::Str;

use super::assignment::Assignment;
use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::request::ControllerReply;
use crate::metadata::image::Image;
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

impl Decider {
    pub(super) fn create_partitions(&self, image: &Image, request: CreatePartitionsRequest) -> Decision {
        let mut seen = BTreeSet::new();
        let names = request.topics.iter().map(|topic| &topic.name);
        let twice: BTreeSet<Str> = names.filter(|name| !seen.insert(*name)).cloned().collect();
        let duplicate = Fault::new(ErrorCode::INVALID_REQUEST, "Duplicate topic name.");
        let mut results: Vec<_> = twice.iter().map(|name| result(name, Some(&duplicate))).collect();
        let mut records = Vec::new();
        for wanted in request.topics.iter().filter(|wanted| !twice.contains(&wanted.name)) {
            let added = added_partitions(image, wanted, RECORDS_PER_OPERATION_MAX - records.len());
            results.push(result(&wanted.name, added.as_ref().err()));
            records.extend(added.into_iter().flatten());
        }
        if request.validate_only {
            records.clear();
        }
        let reply = CreatePartitionsResponse { results, ..Default::default() };
        Decision::atomic(records, ControllerReply::CreatePartitions(reply))
    }
}

fn added_partitions(
    image: &Image,
    wanted: &CreatePartitionsTopic,
    room: usize,
) -> Result<Vec<MetadataRecord>, Fault> {
    let topic =
        image.topic(&wanted.name).ok_or_else(|| Fault::plain(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION))?;
    let (have, count) = (topic.partitions.len(), usize::try_from(wanted.count).unwrap_or_default());
    let refuse = |text: String| Err(Fault::new(ErrorCode::INVALID_PARTITIONS, text));
    if count == have {
        return refuse(format!("Topic already has {have} partition(s)."));
    }
    if count < have {
        let wanted = wanted.count;
        return refuse(format!(
            "The topic {} currently has {have} partition(s); {wanted} would not be an increase.",
            topic.name
        ));
    }
    let more = count - have;
    if more > room {
        let text = "Excessively large number of additional partitions per request.";
        return Err(Fault::new(ErrorCode::POLICY_VIOLATION, text));
    }
    let factor = topic.partitions.first().map_or(1, |first| first.replicas.len());
    let given = wanted.assignments.as_deref();
    if let Some(given) = given.filter(|given| given.len() != more) {
        let text = format!(
            "Attempted to add {more} additional partition(s), but only {} assignment(s) were specified.",
            given.len()
        );
        return Err(Fault::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text));
    }
    (have..count)
        .map(|index| {
            let partition = i32::try_from(index).unwrap_or(i32::MAX);
            let to = match given {
                Some(given) => {
                    Assignment::manual(image, partition, &given[index - have].broker_ids, Some(factor))?
                }
                None => Assignment::automatic(image, index, factor)?,
            };
            Ok(to.record(topic.id, partition).into())
        })
        .collect()
}

fn result(name: &Str, fault: Option<&Fault>) -> CreatePartitionsTopicResult {
    CreatePartitionsTopicResult {
        name: name.clone(),
        error_code: fault.map_or(ErrorCode::NONE, |fault| fault.code).code(),
        error_message: fault.and_then(Fault::text),
        ..Default::default()
    }
}
