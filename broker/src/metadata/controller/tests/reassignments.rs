//! AlterPartitionReassignments.

use protocol::error::ErrorCode;
use protocol::messages::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, CreateTopicsRequest,
};

use super::*;
use crate::metadata::limits::REASSIGNMENTS_PER_REQUEST_MAX;

/// Brokers 1 and 2, topic t with two partitions on broker 1.
fn world() -> World {
    let mut world = World::new();
    let topic =
        CreatableTopic { name: "t".into(), num_partitions: 2, replication_factor: 1, ..Default::default() };
    let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
    world.ask(ControllerRequest::CreateTopics(request));
    world.register(2, 2);
    world
}

fn target(partition_index: i32, replicas: Option<&[i32]>) -> ReassignablePartition {
    ReassignablePartition { partition_index, replicas: replicas.map(<[i32]>::to_vec), ..Default::default() }
}

fn ask(
    world: &mut World,
    topic: &str,
    partitions: Vec<ReassignablePartition>,
    may_change_factor: bool,
) -> AlterPartitionReassignmentsResponse {
    let topic = ReassignableTopic { name: topic.into(), partitions, ..Default::default() };
    let request = AlterPartitionReassignmentsRequest {
        topics: vec![topic],
        allow_replication_factor_change: may_change_factor,
        ..Default::default()
    };
    let before = world.image.offset;
    let reply = world.ask(ControllerRequest::AlterPartitionReassignments(request));
    assert_eq!(world.image.offset, before, "nothing is written");
    let ControllerReply::AlterPartitionReassignments(response) = reply else { panic!("{reply:?}") };
    response
}

fn outcome(topic: &str, replicas: Option<&[i32]>, may_change_factor: bool) -> (ErrorCode, String) {
    let response = ask(&mut world(), topic, vec![target(1, replicas)], may_change_factor);
    let result = &response.responses[0].partitions[0];
    let text = result.error_message.as_deref().unwrap_or_default().to_owned();
    (ErrorCode::from_code(result.error_code), text)
}

#[test]
fn replicas_that_are_there_already_are_accepted() {
    assert_eq!(outcome("t", Some(&[1]), true), (ErrorCode::NONE, String::new()));
    assert_eq!(outcome("t", Some(&[1]), false), (ErrorCode::NONE, String::new()));
}

#[test]
fn there_is_none_to_be_cancelled() {
    assert_eq!(outcome("t", None, true).0, ErrorCode::NO_REASSIGNMENT_IN_PROGRESS);
}

#[test]
fn what_can_not_be_is_refused_in_kafkas_words() {
    let refused = |replicas: &[i32]| outcome("t", Some(replicas), true);
    let code = ErrorCode::INVALID_REPLICA_ASSIGNMENT;
    let empty = "The manual partition assignment includes an empty replica list.";
    assert_eq!(refused(&[]), (code, empty.into()));
    let missing = "The manual partition assignment includes broker 7, but no such broker is registered.";
    assert_eq!(refused(&[7]), (code, missing.into()));
    assert_eq!(refused(&[2]), (code, "Replicas can't be moved between brokers yet.".into()));
    assert_eq!(refused(&[1, 2]).0, code);
    let factor = "The replication factor is changed from 1 to 2";
    assert_eq!(outcome("t", Some(&[1, 2]), false), (ErrorCode::INVALID_REPLICATION_FACTOR, factor.into()));
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    assert_eq!(outcome("x", Some(&[1]), true), (unknown, "Unable to find a topic named x.".into()));
    let response = ask(&mut world(), "t", vec![target(5, Some(&[1])), target(0, Some(&[1]))], true);
    let codes: Vec<i16> = response.responses[0].partitions.iter().map(|p| p.error_code).collect();
    assert_eq!(codes, [unknown.code(), 0]);
}

#[test]
fn more_partitions_than_an_answer_may_have_are_refused_together() {
    let partitions = vec![target(0, None); REASSIGNMENTS_PER_REQUEST_MAX + 1];
    let response = ask(&mut world(), "t", partitions, true);
    assert_eq!((response.error_code, response.responses.len()), (ErrorCode::INVALID_REQUEST.code(), 0));
}
