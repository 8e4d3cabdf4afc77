//! CreatePartitions.

use protocol::error::ErrorCode;
use protocol::internal::MetadataRecord;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};
use protocol::types::Str;

use super::assignment::Assignment;
use super::decider::{Decider, Decision, Facts};
use super::dir_loads::DirLoads;
use super::fault::Fault;
use super::once::given_twice;
use super::request::ControllerReply;
use crate::metadata::image::Image;
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

impl Decider {
    pub(super) fn create_partitions(
        &self,
        image: &Image,
        request: CreatePartitionsRequest,
        facts: &mut Facts<'_>,
    ) -> Decision {
        let twice = given_twice(request.topics.iter().map(|topic| &topic.name));
        let duplicate = Fault::duplicate_topic();
        let mut results: Vec<_> = twice.iter().map(|name| result(name, Some(&duplicate))).collect();
        let (mut records, mut dirs) = (Vec::new(), DirLoads::new(image));
        for wanted in request.topics.iter().filter(|wanted| !twice.contains(&wanted.name)) {
            let room = RECORDS_PER_OPERATION_MAX - records.len();
            let added = added_partitions(image, wanted, room, &mut dirs, facts);
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
    dirs: &mut DirLoads<'_>,
    facts: &mut Facts<'_>,
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
    let indexes = i32::try_from(have).unwrap_or(i32::MAX)..;
    let assignments: Vec<Assignment> = match given {
        Some(given) => indexes
            .clone()
            .zip(given)
            .map(|(index, given)| Assignment::manual(image, index, &given.broker_ids, Some(factor)))
            .collect::<Result<_, _>>()?,
        None => Assignment::automatic(image, more, factor, (facts.start)())?,
    };
    Ok(indexes.zip(assignments).map(|(index, to)| to.record(topic.id, index, dirs).into()).collect())
}

fn result(name: &Str, fault: Option<&Fault>) -> CreatePartitionsTopicResult {
    CreatePartitionsTopicResult {
        name: name.clone(),
        error_code: fault.map_or(ErrorCode::NONE, |fault| fault.code).code(),
        error_message: fault.and_then(Fault::text),
        ..Default::default()
    }
}
