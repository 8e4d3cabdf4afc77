//! Heartbeats, sessions, leaving.

use protocol::error::ErrorCode;
use protocol::types::Str;

use super::world::{SESSION_MS, TestJoin, World};
use crate::group::classic::GroupState;

const NONE: i16 = 0;

#[test]
fn heartbeats_keep_a_member_and_silence_ends_it() {
    let mut world = World::new();
    let (ids, generation) = world.stable(1);
    for _ in 0..10 {
        world.pass(i64::from(SESSION_MS) - 1);
        assert_eq!(world.heartbeat(&ids[0], generation), ErrorCode::NONE);
    }
    assert_eq!(world.heartbeat(&ids[0], generation + 1), ErrorCode::ILLEGAL_GENERATION);
    assert_eq!(world.heartbeat(&"other".into(), generation), ErrorCode::UNKNOWN_MEMBER_ID);
    world.pass(i64::from(SESSION_MS));
    assert_eq!(world.state(), GroupState::Empty);
    assert_eq!(world.group().unwrap().generation, generation + 1);
    assert_eq!(world.heartbeat(&ids[0], generation), ErrorCode::UNKNOWN_MEMBER_ID);
}

#[test]
fn a_commit_is_a_sign_of_life() {
    let mut world = World::new();
    let (ids, generation) = world.stable(1);
    for offset in 0..5 {
        world.pass(i64::from(SESSION_MS) - 1);
        assert_eq!(world.commit(&ids[0], generation, offset), NONE);
    }
    assert_eq!(world.state(), GroupState::Stable);
}

#[test]
fn a_member_that_leaves_hands_over_at_once() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    assert_eq!(world.leave(&[(&ids[0], None)]), [NONE]);
    assert_eq!(world.heartbeat(&ids[1], generation), ErrorCode::REBALANCE_IN_PROGRESS);
    let waiter = world.join(TestJoin::new(&ids[1]));
    let response = world.joined(waiter);
    assert_eq!((response.generation_id, &response.leader), (generation + 1, &ids[1]));
}

#[test]
fn leaving_in_a_batch_has_a_code_for_each() {
    let mut world = World::new();
    assert_eq!(world.leave(&[("x", None)]), [ErrorCode::UNKNOWN_MEMBER_ID.code()]);
    let (ids, _) = world.stable(3);
    let waiter = world.join(TestJoin::new(""));
    let pending = world.joined(waiter).member_id;
    let unknown = ErrorCode::UNKNOWN_MEMBER_ID.code();
    let left: [(&str, Option<&str>); 5] =
        [(&ids[0], None), (&ids[0], None), ("x", None), (&pending, None), ("", Some("no-instance"))];
    assert_eq!(world.leave(&left), [NONE, unknown, unknown, NONE, unknown]);
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    assert_eq!(world.group().unwrap().members.len(), 2);
    let rest: Vec<(&str, Option<&str>)> = ids[1..].iter().map(|id| (Str::as_str(id), None)).collect();
    assert_eq!(world.leave(&rest), [NONE, NONE]);
    assert_eq!(world.state(), GroupState::Empty);
}

#[test]
fn a_pending_id_that_leaves_disturbs_nobody() {
    let mut world = World::new();
    let (ids, generation) = world.stable(1);
    let waiter = world.join(TestJoin::new(""));
    let pending = world.joined(waiter).member_id;
    assert_eq!(world.leave(&[(&pending, None)]), [NONE]);
    assert_eq!(world.heartbeat(&ids[0], generation), ErrorCode::NONE);
}

#[test]
fn a_pending_id_holds_up_a_rebalance_no_longer_than_its_session() {
    let mut world = World::new();
    let (ids, _) = world.stable(1);
    let waiter = world.join(TestJoin::new(""));
    world.joined(waiter);
    let waiter = world.join(TestJoin::new(&ids[0]));
    assert!(world.maybe_joined(waiter).is_none());
    world.pass(i64::from(SESSION_MS));
    assert_eq!(world.joined(waiter).error_code, NONE);
}

#[test]
fn waiting_for_us_is_no_silence() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    let waiter = world.join(TestJoin::new(&ids[0]));
    // The other is heard of, but rejoins late; the first waits beyond its session.
    for _ in 0..4 {
        world.pass(i64::from(SESSION_MS) / 2);
        assert_eq!(world.heartbeat(&ids[1], generation), ErrorCode::REBALANCE_IN_PROGRESS);
    }
    let other = world.join(TestJoin::new(&ids[1]));
    assert_eq!((world.joined(waiter).error_code, world.joined(other).error_code), (NONE, NONE));
    // Waiting for the leader's assignment neither; but the leader must be heard of.
    let follower = world.sync(&ids[1], generation + 1, &[]);
    world.pass(i64::from(SESSION_MS) + 1);
    assert_eq!(world.synced(follower).error_code, ErrorCode::REBALANCE_IN_PROGRESS.code());
    assert_eq!(world.group().unwrap().members.len(), 1);
}
