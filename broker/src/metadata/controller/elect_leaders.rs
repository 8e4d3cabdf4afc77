//! ElectLeaders: preferred replicas lead again, or any replica where none in sync is left (KIP-183, KIP-460).

use protocol::error::ErrorCode;
use protocol::internal::{MetadataRecord, PartitionChangeRecord};
use protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};

use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::request::ControllerReply;
use crate::metadata::image::{Image, Partition, Topic};
use crate::metadata::limits::{ELECTIONS_PER_REQUEST_MAX, RECORDS_PER_OPERATION_MAX, TOPIC_NAME_LEN_MAX};

/// What is elected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Election {
    /// The first replica.
    Preferred,
    /// Any replica that is there, if there is no leader: what others had and it hasn't is lost.
    Unclean,
}

impl Decider {
    /// Without partitions all are meant, and only those that changed are told.
    pub(super) fn elect_leaders(&self, image: &Image, request: ElectLeadersRequest) -> Decision {
        // A partition takes four bytes of the request and may get a text of hundreds, with its topic's name.
        let named = request.topic_partitions.iter().flatten();
        if named.map(|asked| asked.partitions.len()).sum::<usize>() > ELECTIONS_PER_REQUEST_MAX {
            let code = ErrorCode::INVALID_REQUEST.code();
            let reply = ElectLeadersResponse { error_code: code, ..Default::default() };
            return Decision::reply(ControllerReply::ElectLeaders(reply));
        }
        let election = match request.election_type {
            0 => Election::Preferred,
            1 => Election::Unclean,
            other => return refused(request, format!("Unknown election type {other}")),
        };
        let mut records = Vec::new();
        let results = match request.topic_partitions {
            Some(asked) => {
                let topics = asked.into_iter().map(|asked| {
                    let found = image.topic(&asked.topic);
                    let each = asked.partitions.iter().map(|index| {
                        let elected = elect(image, &asked.topic, found, *index, election, &mut records);
                        result(*index, elected.err())
                    });
                    let partition_result = each.collect();
                    ReplicaElectionResult { topic: asked.topic, partition_result, ..Default::default() }
                });
                topics.collect()
            }
            None => image.topics().map(|topic| elect_in(image, topic, election, &mut records)).collect(),
        };
        let reply = ElectLeadersResponse { replica_election_results: results, ..Default::default() };
        Decision { records, atomic: false, reply: ControllerReply::ElectLeaders(reply) }
    }
}

fn elect_in(
    image: &Image,
    topic: &Topic,
    election: Election,
    records: &mut Vec<MetadataRecord>,
) -> ReplicaElectionResult {
    let mut changed = Vec::new();
    for index in (0..).take(topic.partitions.len()) {
        match elect(image, &topic.name, Some(topic), index, election, records) {
            Err(fault) if fault.code == ErrorCode::ELECTION_NOT_NEEDED => {}
            elected => changed.push(result(index, elected.err())),
        }
    }
    ReplicaElectionResult { topic: topic.name.clone(), partition_result: changed, ..Default::default() }
}

fn elect(
    image: &Image,
    name: &str,
    topic: Option<&Topic>,
    index: i32,
    election: Election,
    records: &mut Vec<MetadataRecord>,
) -> Result<(), Fault> {
    let unknown = |text: String| Fault::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text);
    let topic = topic.ok_or_else(|| match name.len() {
        ..=TOPIC_NAME_LEN_MAX => unknown(format!("No such topic as {name}")),
        _ => unknown("No such topic".to_string()),
    })?;
    let partition =
        topic.partition(index).ok_or_else(|| unknown(format!("No such partition as {name}-{index}")))?;
    let change = match election {
        Election::Preferred => preferred(image, partition)?,
        Election::Unclean => unclean(image, partition)?,
    };
    if records.len() == RECORDS_PER_OPERATION_MAX {
        return Err(Fault::too_many());
    }
    records.push(PartitionChangeRecord { partition_id: index, topic_id: topic.id, ..change }.into());
    Ok(())
}

fn not_needed() -> Fault {
    Fault::new(ErrorCode::ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
}

fn preferred(image: &Image, partition: &Partition) -> Result<PartitionChangeRecord, Fault> {
    let first = partition.replicas.first().copied().unwrap_or(-1);
    if partition.leader == first {
        return Err(not_needed());
    }
    if !partition.isr.contains(&first) || !is_active(image, first) {
        return Err(Fault::plain(ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE));
    }
    Ok(PartitionChangeRecord { leader: first, ..Default::default() })
}

fn unclean(image: &Image, partition: &Partition) -> Result<PartitionChangeRecord, Fault> {
    if partition.leader >= 0 {
        return Err(not_needed());
    }
    let mut active = partition.replicas.iter().copied().filter(|id| is_active(image, *id));
    let in_sync = active.clone().find(|id| partition.isr.contains(id));
    let elected = in_sync.or_else(|| active.next());
    let leader = elected.ok_or_else(|| Fault::plain(ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE))?;
    let isr = in_sync.is_none().then(|| vec![leader]);
    Ok(PartitionChangeRecord { leader, isr, ..Default::default() })
}

fn is_active(image: &Image, id: i32) -> bool {
    image.brokers.get(&id).is_some_and(|broker| broker.is_active())
}

fn result(partition_id: i32, fault: Option<Fault>) -> PartitionResult {
    PartitionResult {
        partition_id,
        error_code: fault.as_ref().map_or(ErrorCode::NONE, |fault| fault.code).code(),
        error_message: fault.and_then(|fault| fault.text()),
        ..Default::default()
    }
}

fn refused(request: ElectLeadersRequest, text: String) -> Decision {
    let fault = Fault::new(ErrorCode::INVALID_REQUEST, text);
    let topics = request.topic_partitions.unwrap_or_default().into_iter().map(|asked| {
        let each = asked.partitions.iter().map(|index| result(*index, Some(fault.clone())));
        ReplicaElectionResult { topic: asked.topic, partition_result: each.collect(), ..Default::default() }
    });
    let reply = ElectLeadersResponse {
        error_code: fault.code.code(),
        replica_election_results: topics.collect::<Vec<_>>(),
        ..Default::default()
    };
    Decision::reply(ControllerReply::ElectLeaders(reply))
}
