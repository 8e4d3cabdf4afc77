//! Assignments.

use protocol::error::ErrorCode;

use super::world::{REBALANCE_MS, TestJoin, World, sync_request};
use crate::group::classic::GroupState;
use crate::group::request::GroupRequest;

#[test]
fn sync_answers_only_after_the_groups_record_is_committed() {
    let mut world = World::new();
    let waiter = world.join(TestJoin::new("").version(3));
    let id = world.joined(waiter).member_id;
    world.log.hold_commits(true);
    let sync = world.sync(&id, 1, &[(&id, "all")]);
    assert_eq!(world.state(), GroupState::Stable);
    assert!(world.answer(sync).is_none(), "the record is appended, not committed");
    world.log.commit();
    world.collect();
    let response = world.synced(sync);
    assert_eq!((response.error_code, &response.assignment[..]), (0, &b"all"[..]));
    assert_eq!(response.protocol_name.as_deref(), Some("range"));
}

#[test]
fn every_reply_waits_for_the_state_it_speaks_of() {
    let mut world = World::new();
    let (ids, generation) = world.stable(1);
    world.log.hold_commits(true);
    let commit = super::world::commit_request(&ids[0], generation, 9);
    let commit = world.ask(GroupRequest::Commit(Box::new(commit), Vec::new(), 9));
    let read = world.ask(GroupRequest::Describe("g".into(), 6));
    assert!(world.answer(commit).is_none() && world.answer(read).is_none());
    world.log.commit();
    world.collect();
    assert!(world.answer(commit).is_some() && world.answer(read).is_some());
}

#[test]
fn a_refused_record_changes_nothing_and_starts_another_round() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id))).collect();
    joins.into_iter().for_each(|join| assert_eq!(world.joined(join).error_code, 0));
    let follower = world.sync(&ids[1], generation + 1, &[]);
    world.log.refuse(Some(ErrorCode::NOT_ENOUGH_REPLICAS));
    let leader = world.sync(&ids[0], generation + 1, &[]);
    assert_eq!(world.failure(leader), Some(ErrorCode::COORDINATOR_NOT_AVAILABLE));
    assert_eq!(world.synced(follower).error_code, ErrorCode::REBALANCE_IN_PROGRESS.code());
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    world.log.refuse(None);
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id))).collect();
    joins.into_iter().for_each(|join| assert_eq!(world.joined(join).generation_id, generation + 2));
    world.sync_all(&ids, generation + 2);
}

#[test]
fn sync_checks() {
    let mut world = World::new();
    let nobody = "nobody".into();
    let waiter = world.sync(&nobody, 1, &[]);
    assert_eq!(world.synced(waiter).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
    let (ids, generation) = world.stable(2);
    let waiter = world.sync(&nobody, generation, &[]);
    assert_eq!(world.synced(waiter).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
    let waiter = world.sync(&ids[0], generation + 1, &[]);
    assert_eq!(world.synced(waiter).error_code, ErrorCode::ILLEGAL_GENERATION.code());
    let mut request = sync_request(&ids[0], generation, &[]);
    request.protocol_type = Some("consumer".into());
    request.protocol_name = Some("sticky".into());
    let waiter = world.ask(GroupRequest::Sync(Box::new(request), 5));
    assert_eq!(world.synced(waiter).error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL.code());
    // A late one gets its assignment in a stable group, and is sent back to join in a rebalance.
    let waiter = world.sync(&ids[1], generation, &[]);
    assert_eq!(&world.synced(waiter).assignment[..], ids[1].as_bytes());
    world.join(TestJoin::new(&ids[0]));
    let waiter = world.sync(&ids[1], generation, &[]);
    assert_eq!(world.synced(waiter).error_code, ErrorCode::REBALANCE_IN_PROGRESS.code());
}

#[test]
fn a_join_between_cancels_the_syncs_that_wait() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id))).collect();
    joins.into_iter().for_each(|join| assert_eq!(world.joined(join).error_code, 0));
    let follower = world.sync(&ids[1], generation + 1, &[]);
    world.join(TestJoin::new("").version(3));
    assert_eq!(world.synced(follower).error_code, ErrorCode::REBALANCE_IN_PROGRESS.code());
    assert_eq!(world.heartbeat(&ids[0], generation + 1), ErrorCode::REBALANCE_IN_PROGRESS);
}

#[test]
fn who_never_syncs_is_out() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id))).collect();
    joins.into_iter().for_each(|join| assert_eq!(world.joined(join).error_code, 0));
    let leader = world.sync(&ids[0], generation + 1, &[(&ids[0], "a")]);
    assert_eq!(world.synced(leader).error_code, 0);
    // The second one's heartbeats keep its session, but it never asks for its assignment.
    for _ in 0..REBALANCE_MS / 5_000 {
        world.pass(5_000);
        world.heartbeat(&ids[0], generation + 1);
        world.heartbeat(&ids[1], generation + 1);
    }
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    assert!(!world.group().unwrap().members.contains_key(&ids[1]));
}
