//! What depends on the version of a request.

use protocol::error::ErrorCode;
use protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use protocol::messages::{JoinGroupRequest, OffsetFetchRequest, SyncGroupRequest};
use protocol::types::{Str, Uuid};

use super::world::{GROUP, World, commit_request};
use crate::group::api::{
    commit_topics, offset_fetch_names, offset_fetch_out, prejoin, presync_check, single_fetch,
    single_fetch_response,
};
use crate::group::config::GroupConfig;
use crate::group::request::{CommitTopic, GroupReply, GroupRequest};
use crate::group::topics::TopicLookup;

struct Topics;

impl TopicLookup for Topics {
    fn topic_id(&self, name: &str) -> Option<Uuid> {
        (name == "orders").then_some(Uuid([7; 16]))
    }

    fn topic_name(&self, id: Uuid) -> Option<Str> {
        (id == Uuid([7; 16])).then(|| "orders".into())
    }

    fn partitions(&self, _id: Uuid) -> i32 {
        3
    }
}

#[test]
fn joins_are_bounded_before_the_machine() {
    let config = GroupConfig::default();
    let join = |group: &str, session_timeout_ms| JoinGroupRequest {
        group_id: group.into(),
        session_timeout_ms,
        rebalance_timeout_ms: -1,
        ..Default::default()
    };
    assert_eq!(prejoin(&config, 9, &mut join("", 10_000)), Err(ErrorCode::INVALID_GROUP_ID));
    for bad in [5_999, 1_800_001, -1] {
        assert_eq!(prejoin(&config, 9, &mut join("g", bad)), Err(ErrorCode::INVALID_SESSION_TIMEOUT));
    }
    let mut old = join("g", 6_000);
    assert_eq!(prejoin(&config, 0, &mut old), Ok(()));
    assert_eq!(old.rebalance_timeout_ms, 6_000);
}

#[test]
fn an_empty_sync_fails_differently_from_v5_on() {
    let request = SyncGroupRequest::default();
    assert_eq!(presync_check(4, &request), Err(ErrorCode::INVALID_GROUP_ID));
    assert_eq!(presync_check(5, &request), Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL));
}

#[test]
fn commits_go_by_name_up_to_v9_and_by_id_from_v10_on() {
    let mut request = commit_request("", -1, 1);
    request.topics.push(request.topics[0].clone());
    request.topics[1].name = "gone".into();
    let codes = commit_topics(9, &mut request, &Topics);
    let known = CommitTopic { code: ErrorCode::NONE, partitions: 3 };
    let unknown = |code| CommitTopic { code, partitions: 0 };
    assert_eq!(codes, [known, unknown(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)]);
    request.topics[0].name = Str::default();
    request.topics[1].topic_id = Uuid([9; 16]);
    let codes = commit_topics(10, &mut request, &Topics);
    assert_eq!(codes, [known, unknown(ErrorCode::UNKNOWN_TOPIC_ID)]);
    assert_eq!(request.topics[0].name, "orders");
}

#[test]
fn fetches_by_id() {
    let mut world = World::new();
    world.commit("", -1, 11);
    let topic =
        |id| OffsetFetchRequestTopics { topic_id: id, partition_indexes: vec![0, 1], ..Default::default() };
    let mut request = OffsetFetchRequestGroup {
        group_id: GROUP.into(),
        topics: Some(vec![topic(Uuid([9; 16])), topic(Uuid([7; 16]))]),
        ..Default::default()
    };
    offset_fetch_names(10, &mut request, &Topics);
    let waiter = world.ask(GroupRequest::Fetch(request, 10));
    let Some(GroupReply::Fetch(response)) = world.answer(waiter) else { panic!() };
    let response = offset_fetch_out(10, response, &Topics);
    let answers: Vec<_> = response
        .topics
        .iter()
        .flat_map(|topic| &topic.partitions)
        .map(|partition| (partition.committed_offset, partition.error_code))
        .collect();
    let gone = (-1, ErrorCode::UNKNOWN_TOPIC_ID.code());
    assert_eq!(answers, [gone, gone, (11, 0), (-1, 0)]);

    let mut all = OffsetFetchRequestGroup { group_id: GROUP.into(), topics: None, ..Default::default() };
    offset_fetch_names(10, &mut all, &Topics);
    let waiter = world.ask(GroupRequest::Fetch(all, 10));
    let Some(GroupReply::Fetch(response)) = world.answer(waiter) else { panic!() };
    let response = offset_fetch_out(10, response, &Topics);
    assert_eq!(response.topics[0].topic_id, Uuid([7; 16]));
}

#[test]
fn the_single_form_of_old_fetches() {
    let mut world = World::new();
    let topic = OffsetFetchRequestTopic {
        name: "orders".into(),
        partition_indexes: vec![0, 5],
        ..Default::default()
    };
    let request =
        OffsetFetchRequest { group_id: GROUP.into(), topics: Some(vec![topic]), ..Default::default() };
    let waiter = world.ask(GroupRequest::Fetch(single_fetch(&request), 7));
    let Some(GroupReply::Fetch(group)) = world.answer(waiter) else { panic!() };
    let response = single_fetch_response(7, &request, group.clone());
    assert_eq!((response.error_code, response.topics[0].partitions.len()), (0, 2));
    assert_eq!(response.topics[0].partitions[0].committed_offset, -1, "an unknown group is no error");
    let mut failed = group;
    failed.error_code = ErrorCode::NOT_COORDINATOR.code();
    failed.topics.clear();
    assert_eq!(single_fetch_response(2, &request, failed.clone()).error_code, 16);
    let response = single_fetch_response(1, &request, failed);
    assert_eq!((response.error_code, response.topics[0].partitions[1].error_code), (0, 16));
}

#[test]
fn unknown_groups_are_dead_and_from_v6_on_an_error() {
    let mut world = World::new();
    for (version, code) in [(5, 0), (6, ErrorCode::GROUP_ID_NOT_FOUND.code())] {
        let waiter = world.ask(GroupRequest::Describe("no".into(), version));
        let Some(GroupReply::Describe(group)) = world.answer(waiter) else { panic!() };
        assert_eq!((group.error_code, group.group_state.as_str()), (code, "Dead"));
    }
}

#[test]
fn groups_are_listed_by_state_and_type() {
    let mut world = World::new();
    let (ids, _) = world.stable(1);
    let mut list = |states: &[&str], types: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let waiter = world.ask(GroupRequest::List { states: owned(states), types: owned(types) });
        let Some(GroupReply::List(groups)) = world.answer(waiter) else { panic!() };
        groups
    };
    let all = list(&[], &[]);
    assert_eq!((all[0].group_state.as_str(), all[0].group_type.as_str()), ("Stable", "Classic"));
    assert_eq!(all[0].protocol_type, "consumer");
    assert_eq!(list(&["stable", "Empty"], &["classic"]).len(), 1);
    assert_eq!(list(&["Empty"], &[]).len() + list(&[], &["consumer"]).len(), 0);

    let waiter = world.ask(GroupRequest::Describe(GROUP.into(), 6));
    let Some(GroupReply::Describe(group)) = world.answer(waiter) else { panic!() };
    assert_eq!((group.group_state.as_str(), group.protocol_data.as_str()), ("Stable", "range"));
    let member = &group.members[0];
    assert_eq!((&member.member_id, member.client_host.as_str()), (&ids[0], "/127.0.0.1"));
    assert!(!member.member_metadata.is_empty());
}
