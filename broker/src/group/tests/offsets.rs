//! Committed offsets and their end.

use std::collections::BTreeSet;

use protocol::error::ErrorCode;
use protocol::messages::OffsetDeleteRequest;
use protocol::messages::offset_commit_response::OffsetCommitResponseTopic;
use protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use protocol::types::Uuid;

use super::world::{GROUP, TOPIC, TestJoin, World, commit_request};
use crate::group::classic::GroupState;
use crate::group::config::GroupConfig;
use crate::group::decider::GroupTimer;
use crate::group::limits::RETENTION_OFFSETS_PER_STEP;
use crate::group::offsets::OffsetPlace;
use crate::group::request::{CommitTopic, GroupReply, GroupRequest};

const MINUTE_MS: i64 = 60_000;

fn short_retention() -> GroupConfig {
    GroupConfig {
        initial_rebalance_delay_ms: 0,
        offsets_retention_ms: 10 * MINUTE_MS,
        offsets_retention_check_interval_ms: 60_000,
        ..GroupConfig::default()
    }
}

#[test]
fn a_simple_consumer_commits_without_a_group() {
    let mut world = World::new();
    assert_eq!(world.committed(), -1);
    assert_eq!(world.commit("", -1, 42), 0);
    assert_eq!(world.committed(), 42);
    assert_eq!(world.commit("", -1, 41), 0, "back is allowed");
    assert_eq!(world.committed(), 41);
    let mut world = world.restarted();
    assert_eq!(world.committed(), 41);
}

#[test]
fn commits_are_checked_against_the_group() {
    let mut world = World::new();
    assert_eq!(world.commit_request(commit_request("x", 3, 1), 9), ErrorCode::GROUP_ID_NOT_FOUND.code());
    assert_eq!(world.commit_request(commit_request("x", 3, 1), 8), ErrorCode::ILLEGAL_GENERATION.code());
    let (ids, generation) = world.stable(2);
    assert_eq!(world.commit(&ids[0], generation, 1), 0);
    assert_eq!(world.commit(&ids[0], generation - 1, 2), ErrorCode::ILLEGAL_GENERATION.code());
    assert_eq!(world.commit("x", generation, 2), ErrorCode::UNKNOWN_MEMBER_ID.code());
    assert_eq!(world.commit("", -1, 2), ErrorCode::UNKNOWN_MEMBER_ID.code(), "admin on a live group");
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id).metadata(2))).collect();
    joins.into_iter().for_each(|join| assert_eq!(world.joined(join).error_code, 0));
    assert_eq!(world.state(), GroupState::CompletingRebalance);
    assert_eq!(world.commit(&ids[0], generation + 1, 2), ErrorCode::REBALANCE_IN_PROGRESS.code());
    assert_eq!(world.committed(), 1);
}

#[test]
fn a_member_may_still_commit_while_others_join() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    world.join(TestJoin::new(&ids[0]));
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    assert_eq!(world.commit(&ids[1], generation, 5), 0);
}

#[test]
fn metadata_has_a_limit_in_utf16_units() {
    let mut world = World::new();
    let mut request = commit_request("", -1, 1);
    request.topics[0].partitions[0].committed_metadata = Some("é".repeat(4_096).into());
    assert_eq!(world.commit_request(request.clone(), 9), 0);
    request.topics[0].partitions[0].committed_metadata = Some("x".repeat(4_097).into());
    assert_eq!(world.commit_request(request, 9), ErrorCode::OFFSET_METADATA_TOO_LARGE.code());
}

#[test]
fn a_topic_in_error_is_answered_and_the_others_committed() {
    let mut world = World::new();
    let mut request = commit_request("", -1, 7);
    request.topics.insert(0, request.topics[0].clone());
    request.topics[0].name = "gone".into();
    let mut beyond = request.topics[1].partitions[0].clone();
    beyond.partition_index = 3;
    request.topics[1].partitions.push(beyond);
    let unknown = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    let known = vec![
        CommitTopic { code: unknown, partitions: 0 },
        CommitTopic { code: ErrorCode::NONE, partitions: 3 },
    ];
    let codes = |reply: Option<GroupReply>| {
        let Some(GroupReply::Commit(response)) = reply else { panic!("{reply:?}") };
        let codes = |topic: &OffsetCommitResponseTopic| {
            topic.partitions.iter().map(|partition| partition.error_code).collect::<Vec<_>>()
        };
        response.topics.iter().map(|topic| (topic.name.to_string(), codes(topic))).collect::<Vec<_>>()
    };
    let waiter = world.ask(GroupRequest::Commit(Box::new(request.clone()), known.clone(), 9));
    let answered = codes(world.answer(waiter));
    assert_eq!(answered, [("gone".into(), vec![unknown.code()]), (TOPIC.into(), vec![0, unknown.code()])]);
    assert_eq!(world.committed(), 7);
    // Also where the group refuses the rest.
    request.generation_id_or_member_epoch = 5;
    let waiter = world.ask(GroupRequest::Commit(Box::new(request), known, 9));
    let refused = ErrorCode::UNKNOWN_MEMBER_ID.code();
    let answered = codes(world.answer(waiter));
    assert_eq!(
        answered,
        [("gone".into(), vec![unknown.code()]), (TOPIC.into(), vec![refused, unknown.code()])]
    );
}

/// Field reports B7: an append that failed is not visible.
#[test]
fn a_refused_commit_is_not_there() {
    let mut world = World::new();
    assert_eq!(world.commit("", -1, 1), 0);
    world.log.refuse(Some(ErrorCode::NOT_ENOUGH_REPLICAS));
    let request = commit_request("", -1, 2);
    let waiter = world.ask(GroupRequest::Commit(Box::new(request), Vec::new(), 9));
    assert_eq!(world.failure(waiter), Some(ErrorCode::COORDINATOR_NOT_AVAILABLE));
    assert_eq!(world.committed(), 1);
    let mut world = world.restarted();
    assert_eq!(world.committed(), 1);
}

#[test]
fn offsets_of_an_empty_group_expire_after_it_became_empty() {
    let mut world = World::with(short_retention());
    let (ids, generation) = world.stable(1);
    assert_eq!(world.commit(&ids[0], generation, 5), 0);
    for _ in 0..200 {
        world.pass(5_000);
        world.heartbeat(&ids[0], generation);
    }
    assert_eq!(world.committed(), 5, "a live group's read topics never expire");
    world.leave(&[(&ids[0], None)]);
    world.pass(9 * MINUTE_MS);
    let mut world = world.restarted();
    world.pass(MINUTE_MS / 2);
    assert_eq!(world.committed(), 5);
    world.pass(2 * MINUTE_MS);
    assert_eq!(world.committed(), -1);
    assert!(world.group().is_none(), "and the group with them");
    assert!(world.restarted().group().is_none());
}

#[test]
fn a_simple_groups_offsets_expire_by_their_commits_or_their_own_time() {
    let mut world = World::with(short_retention());
    assert_eq!(world.commit("", -1, 5), 0);
    let mut request = commit_request("", -1, 6);
    request.retention_time_ms = 2 * MINUTE_MS;
    request.topics[0].name = "own-time".into();
    assert_eq!(world.commit_request(request, 2), 0);
    let mut world = world.restarted();
    world.pass(4 * MINUTE_MS);
    assert_eq!(world.runtime.decider().group(GROUP).unwrap().offsets.all().count(), 1);
    world.pass(8 * MINUTE_MS);
    assert_eq!(world.committed(), -1);
}

#[test]
fn deleting_a_group_leaves_a_tombstone_on_every_key() {
    let mut world = World::new();
    let (ids, generation) = world.stable(1);
    assert_eq!(world.commit(&ids[0], generation, 5), 0);
    let waiter = world.ask(GroupRequest::Delete(GROUP.into()));
    assert_eq!(world.code(waiter), ErrorCode::NON_EMPTY_GROUP);
    world.leave(&[(&ids[0], None)]);
    let waiter = world.ask(GroupRequest::Delete(GROUP.into()));
    assert_eq!(world.code(waiter), ErrorCode::NONE);
    let waiter = world.ask(GroupRequest::Delete(GROUP.into()));
    assert_eq!(world.code(waiter), ErrorCode::GROUP_ID_NOT_FOUND);
    let mut last = std::collections::BTreeMap::new();
    for (key, value) in world.log.records() {
        last.insert(key, value);
    }
    assert_eq!(last.len(), 2);
    assert!(last.values().all(Option::is_none));
}

#[test]
fn deleting_offsets_spares_topics_that_are_read() {
    let delete = |world: &mut World, topic: &str| {
        let partition = OffsetDeleteRequestPartition { partition_index: 0 };
        let topic = OffsetDeleteRequestTopic { name: topic.into(), partitions: vec![partition] };
        let request = OffsetDeleteRequest { group_id: GROUP.into(), topics: vec![topic] };
        let waiter = world.ask(GroupRequest::OffsetDelete(request));
        match world.answer(waiter) {
            Some(GroupReply::OffsetDelete(response)) if response.error_code != 0 => response.error_code,
            Some(GroupReply::OffsetDelete(response)) => response.topics[0].partitions[0].error_code,
            other => panic!("{other:?}"),
        }
    };
    let mut world = World::new();
    assert_eq!(delete(&mut world, TOPIC), ErrorCode::GROUP_ID_NOT_FOUND.code());
    let (ids, generation) = world.stable(1);
    assert_eq!(world.commit(&ids[0], generation, 5), 0);
    assert_eq!(delete(&mut world, TOPIC), ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC.code());
    assert_eq!(delete(&mut world, "other"), 0);
    world.leave(&[(&ids[0], None)]);
    assert_eq!(delete(&mut world, TOPIC), 0);
    assert_eq!(world.committed(), -1);
}

#[test]
fn a_deleted_topics_offsets_go_in_bounded_steps() {
    let mut world = World::new();
    let mut request = commit_request("", -1, 1);
    let partition = request.topics[0].partitions[0].clone();
    request.topics[0].partitions = (0..20_000)
        .map(|partition_index| {
            let mut partition = partition.clone();
            partition.partition_index = partition_index;
            partition
        })
        .collect();
    assert_eq!(world.commit_request(request, 9), 0);
    let before = world.log.records().len();
    let other = world.ask(GroupRequest::TopicsDeleted(vec![(TOPIC.into(), Uuid([8; 16]))]));
    assert_eq!(world.code(other), ErrorCode::NONE);
    assert_eq!(world.log.records().len(), before, "a topic of another id");
    let waiter = world.ask(GroupRequest::TopicsDeleted(vec![(TOPIC.into(), Uuid([7; 16]))]));
    assert_eq!(world.code(waiter), ErrorCode::NONE);
    assert!(world.log.records().len() < before + 20_000);
    world.pass(1_000);
    assert_eq!(world.log.records().len(), before + 20_000);
    assert!(world.group().is_none());
}

/// The bound was looked at between groups only: a large one held the shard up in one step.
#[test]
fn deleted_topics_are_looked_for_in_bounded_steps_within_a_group() {
    const TOPICS: usize = 3;
    let mut world = World::new();
    for topic in 0..TOPICS {
        let mut request = commit_request("", -1, 1);
        let partition = request.topics[0].partitions[0].clone();
        request.topics[0].name = format!("t{topic}").into();
        request.topics[0].topic_id = Uuid([topic as u8 + 1; 16]);
        request.topics[0].partitions = (0..RETENTION_OFFSETS_PER_STEP as i32)
            .map(|partition_index| {
                let mut partition = partition.clone();
                partition.partition_index = partition_index;
                partition
            })
            .collect();
        assert_eq!(world.commit_request(request, 9), 0);
    }
    let (mut all, mut steps, mut from) = (BTreeSet::new(), 0, Some(OffsetPlace::default()));
    while let Some(place) = from {
        let (topics, next) = world.runtime.decider().topics_with_offsets(place);
        assert!(topics.len() < TOPICS, "one step isn't all");
        all.extend(topics);
        (steps, from) = (steps + 1, next);
    }
    let expected = (0..TOPICS).map(|topic| (format!("t{topic}").into(), Uuid([topic as u8 + 1; 16])));
    assert_eq!(all, expected.collect());
    assert!((TOPICS..=TOPICS + 1).contains(&steps), "{steps}");
    // None of these is gone, and so no record bounds a step: the last offset is reached in the third.
    let before = world.log.records().len();
    let last = RETENTION_OFFSETS_PER_STEP as i32 - 1;
    let mut others: Vec<_> = (0..TOPICS).map(|topic| (format!("t{topic}").into(), Uuid([9; 16]))).collect();
    others.push(("t2".into(), Uuid([3; 16])));
    let waiter = world.ask(GroupRequest::TopicsDeleted(others));
    assert_eq!(world.code(waiter), ErrorCode::NONE);
    assert_eq!(world.log.records().len(), before, "the first step doesn't come that far");
    world.pass(1_000);
    assert_eq!(world.log.records().len(), before + RETENTION_OFFSETS_PER_STEP);
    let group = world.runtime.decider().group(GROUP).expect("it has offsets of other topics");
    assert!(group.offsets.get("t2", last).is_none() && group.offsets.get("t1", last).is_some());
}

/// Offsets of a deleted topic were given up on the first refusal: a topic made anew got the old ones.
#[test]
fn a_deleted_topics_offsets_go_once_the_log_takes_it() {
    let mut world = World::new();
    assert_eq!(world.commit("", -1, 5), 0);
    world.log.refuse(Some(ErrorCode::NOT_ENOUGH_REPLICAS));
    let waiter = world.ask(GroupRequest::TopicsDeleted(vec![(TOPIC.into(), Uuid([7; 16]))]));
    assert_eq!(world.code(waiter), ErrorCode::NONE);
    world.pass(10_000);
    assert_eq!(world.committed(), 5);
    world.log.refuse(None);
    // No room at once is no reason either.
    world.log.limit_room(0);
    world.pass(2_000);
    assert_eq!(world.committed(), 5);
    world.log.limit_room(1_000);
    world.pass(100);
    assert_eq!(world.committed(), -1);
}

/// Each step began at the first group again, and looked at all of them.
#[test]
fn deleted_topics_are_looked_for_in_bounded_steps_over_many_groups() {
    const GROUPS: usize = RETENTION_OFFSETS_PER_STEP;
    let mut world = World::new();
    for group in 0..GROUPS {
        let mut request = commit_request("", -1, 1);
        request.group_id = format!("g{group:05}").into();
        let deleted = group + 1 == GROUPS;
        request.topics[0].name = if deleted { "late" } else { TOPIC }.into();
        assert_eq!(world.commit_request(request, 9), 0);
    }
    let late = |world: &World| world.runtime.decider().group(&format!("g{:05}", GROUPS - 1)).is_some();
    let waiter = world.ask(GroupRequest::TopicsDeleted(vec![("late".into(), Uuid([7; 16]))]));
    assert_eq!(world.code(waiter), ErrorCode::NONE);
    assert!(late(&world), "one step isn't all");
    // One that comes in the middle of a pass has one of its own.
    let waiter = world.ask(GroupRequest::TopicsDeleted(vec![(TOPIC.into(), Uuid([7; 16]))]));
    assert_eq!(world.code(waiter), ErrorCode::NONE);
    world.pass(20);
    assert!(!late(&world));
    world.pass(10_000);
    assert_eq!(world.runtime.decider().groups().count(), 0);
    let timers = world.runtime.timers();
    assert!(timers.deadline_ms(&GroupTimer::DeletedTopics).is_none(), "and that was all");
}

#[test]
fn the_retention_check_goes_through_many_groups_in_steps() {
    let mut world = World::with(short_retention());
    for group in 0..25 {
        let mut request = commit_request("", -1, 1);
        request.group_id = format!("g{group:02}").into();
        let partition = request.topics[0].partitions[0].clone();
        request.topics[0].partitions = vec![partition; 1_000];
        for (index, partition) in request.topics[0].partitions.iter_mut().enumerate() {
            partition.partition_index = index as i32;
        }
        assert_eq!(world.commit_request(request, 9), 0);
    }
    world.pass(10 * MINUTE_MS);
    assert!(world.runtime.decider().groups().count() > 1, "one step isn't all");
    world.pass(MINUTE_MS);
    assert_eq!(world.runtime.decider().groups().count(), 0);
}
