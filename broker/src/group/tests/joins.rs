//! Joining and rebalancing.

use protocol::error::ErrorCode;

use super::world::{REBALANCE_MS, SESSION_MS, TestJoin, World};
use crate::group::classic::GroupState;
use crate::group::config::GroupConfig;

#[test]
fn first_join_of_v4_gets_an_id_and_v3_joins_at_once() {
    let mut world = World::new();
    let waiter = world.join(TestJoin::new("").version(3));
    let response = world.joined(waiter);
    assert_eq!((response.error_code, response.generation_id), (0, 1));
    assert_eq!(response.leader, response.member_id);
    assert!(response.member_id.starts_with("client-") && response.member_id.len() == "client-".len() + 36);
    assert_eq!(response.members.len(), 1);

    let mut world = World::new();
    let waiter = world.join(TestJoin::new(""));
    let response = world.joined(waiter);
    assert_eq!(response.error_code, ErrorCode::MEMBER_ID_REQUIRED.code());
    let waiter = world.join(TestJoin::new(&response.member_id));
    assert_eq!(world.joined(waiter).error_code, 0);
}

#[test]
fn an_id_never_given_out_is_unknown() {
    let mut world = World::new();
    let waiter = world.join(TestJoin::new("nobody"));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
    assert!(world.group().is_none());
    world.stable(1);
    let waiter = world.join(TestJoin::new("nobody"));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
}

#[test]
fn a_pending_id_expires_and_its_group_with_it() {
    let mut world = World::new();
    let waiter = world.join(TestJoin::new(""));
    let id = world.joined(waiter).member_id;
    world.pass(i64::from(SESSION_MS) - 1);
    assert!(world.group().is_some());
    world.pass(1);
    assert!(world.group().is_none(), "names alone must not stay in memory");
    let waiter = world.join(TestJoin::new(&id));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
}

#[test]
fn the_initial_delay_is_extended_by_joins_up_to_the_rebalance_timeout() {
    let mut world = World::with(GroupConfig { initial_rebalance_delay_ms: 3_000, ..GroupConfig::default() });
    let mut first = TestJoin::new("").version(3);
    first.request.rebalance_timeout_ms = 8_000;
    let first = world.join(first);
    world.pass(2_000);
    let second = world.join(TestJoin::new("").version(3));
    world.pass(2_000);
    assert!(world.maybe_joined(first).is_none(), "the second join extends the delay");
    world.pass(2_000);
    let response = world.joined(second);
    assert_eq!((response.error_code, response.generation_id), (0, 1));
    assert_eq!(world.group().unwrap().members.len(), 2);

    let mut world = World::with(GroupConfig { initial_rebalance_delay_ms: 3_000, ..GroupConfig::default() });
    let mut waiters = Vec::new();
    for _ in 0..8 {
        let mut join = TestJoin::new("").version(3);
        join.request.rebalance_timeout_ms = 8_000;
        waiters.push(world.join(join));
        world.pass(1_000);
    }
    world.pass(1);
    assert_eq!(world.state(), GroupState::CompletingRebalance, "joins extend it no further");
    let waiters: Vec<_> = waiters.into_iter().map(|waiter| world.joined(waiter)).collect();
    assert!(waiters.iter().all(|response| response.generation_id == 1));
}

#[test]
fn a_second_member_makes_the_first_rejoin() {
    let mut world = World::new();
    let (ids, generation) = world.stable(1);
    let waiter = world.join(TestJoin::new(""));
    let second = world.joined(waiter).member_id;
    assert_eq!(world.heartbeat(&ids[0], generation), ErrorCode::NONE, "an id given out disturbs nobody");
    let second_join = world.join(TestJoin::new(&second));
    assert_eq!(world.heartbeat(&ids[0], generation), ErrorCode::REBALANCE_IN_PROGRESS);
    let first_join = world.join(TestJoin::new(&ids[0]));
    let (first, second) = (world.joined(first_join), world.joined(second_join));
    assert_eq!((first.generation_id, second.generation_id), (generation + 1, generation + 1));
    assert_eq!(first.leader, ids[0]);
    assert_eq!((first.members.len(), second.members.len()), (2, 0), "only the leader sees the members");
}

/// Field reports B1: the rebalance timer is always armed, and a member that hangs mid-join is put out.
#[test]
fn a_member_that_never_rejoins_is_out_when_the_time_is_up() {
    let mut world = World::new();
    let (ids, generation) = world.stable(20);
    let mut waiters: Vec<_> = ids[..19].iter().map(|id| world.join(TestJoin::new(id).metadata(2))).collect();
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    // The hung one is alive by its heartbeats, but doesn't rejoin.
    for _ in 0..REBALANCE_MS / 5_000 {
        world.pass(5_000);
        if world.state() == GroupState::PreparingRebalance {
            world.heartbeat(&ids[19], generation);
        }
    }
    let response = world.joined(waiters.remove(0));
    assert_eq!((response.error_code, response.generation_id), (0, generation + 1));
    assert_eq!(response.members.len(), 19);
    assert_eq!(world.heartbeat(&ids[19], generation), ErrorCode::UNKNOWN_MEMBER_ID);
}

/// Field reports B3: the join phase ends with those present; who is late comes into the next generation.
#[test]
fn a_late_joiner_comes_into_the_next_generation() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    let leader = world.join(TestJoin::new(&ids[0]));
    world.pass(i64::from(SESSION_MS));
    let response = world.joined(leader);
    assert_eq!(
        (response.generation_id, response.members.len()),
        (generation + 1, 1),
        "the other's session ended"
    );
    world.sync_all(&ids[..1], generation + 1);
    let late = world.join(TestJoin::new(&ids[1]));
    assert_eq!(world.joined(late).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
    let late = world.join(TestJoin::new(""));
    let late = world.joined(late).member_id;
    let late = world.join(TestJoin::new(&late));
    let leader = world.join(TestJoin::new(&ids[0]));
    assert_eq!(world.joined(late).generation_id, generation + 2);
    assert_eq!(world.joined(leader).members.len(), 2);
}

#[test]
fn a_new_member_whose_first_join_lasts_too_long_is_told_to_retry() {
    let mut world = World::with(GroupConfig { initial_rebalance_delay_ms: 0, ..GroupConfig::default() });
    world.stable(1);
    let (id, generation) = (world.group().unwrap().leader.clone().unwrap(), 1);
    let mut join = TestJoin::new("").version(3);
    join.request.rebalance_timeout_ms = 1_000_000;
    let waiter = world.join(join);
    for _ in 0..61 {
        world.pass(5_000);
        world.heartbeat(&id, generation);
    }
    assert_eq!(world.joined(waiter).error_code, ErrorCode::UNKNOWN_MEMBER_ID.code());
}

#[test]
fn the_protocol_is_the_one_most_members_prefer_among_those_all_offer() {
    let mut world = World::with(GroupConfig { initial_rebalance_delay_ms: 100, ..GroupConfig::default() });
    let offers: [&[&str]; 3] = [&["sticky", "range"], &["range", "sticky"], &["own", "range", "sticky"]];
    let waiters: Vec<_> =
        offers.iter().map(|names| world.join(TestJoin::new("").version(3).protocols(names))).collect();
    world.pass(1_000);
    for waiter in waiters {
        assert_eq!(world.joined(waiter).protocol_name.as_deref(), Some("range"));
    }
    let waiter = world.join(TestJoin::new("").version(3).protocols(&["own"]));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL.code());
    let mut join = TestJoin::new("").version(3);
    join.request.protocol_type = "connect".into();
    let waiter = world.join(join);
    assert_eq!(world.joined(waiter).error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL.code());
    let mut world = World::new();
    let waiter = world.join(TestJoin::new("").version(3).protocols(&[]));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::INCONSISTENT_GROUP_PROTOCOL.code());
}

#[test]
fn a_full_group_takes_nobody_more() {
    let config = GroupConfig { initial_rebalance_delay_ms: 0, max_size: 2, ..GroupConfig::default() };
    let mut world = World::with(config);
    let (ids, _) = world.stable(2);
    let waiter = world.join(TestJoin::new(""));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::GROUP_MAX_SIZE_REACHED.code());
    let waiter = world.join(TestJoin::new(&ids[0]));
    assert!(world.maybe_joined(waiter).is_none(), "members may rejoin");
}

#[test]
fn a_follower_that_joins_again_without_news_stays_in_the_generation() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    let waiter = world.join(TestJoin::new(&ids[1]));
    let response = world.joined(waiter);
    assert_eq!((response.error_code, response.generation_id), (0, generation));
    assert_eq!(world.state(), GroupState::Stable);
    let waiter = world.join(TestJoin::new(&ids[1]).metadata(2));
    assert!(world.maybe_joined(waiter).is_none());
    assert_eq!(world.state(), GroupState::PreparingRebalance);
}

#[test]
fn a_repeated_join_answers_the_older_one() {
    let mut world = World::new();
    let (ids, _) = world.stable(2);
    let first = world.join(TestJoin::new(&ids[0]));
    let again = world.join(TestJoin::new(&ids[0]));
    assert_eq!(world.joined(first).error_code, ErrorCode::REBALANCE_IN_PROGRESS.code());
    let other = world.join(TestJoin::new(&ids[1]));
    assert_eq!((world.joined(again).error_code, world.joined(other).error_code), (0, 0));
}

/// Field reports B5, light: the work of a rebalance grows with the members, not with their square.
#[test]
fn two_thousand_members_stabilise() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2_000);
    assert_eq!(world.group().unwrap().members.len(), ids.len());
    for id in &ids {
        assert_eq!(world.heartbeat(id, generation), ErrorCode::NONE);
    }
    // One timer a member, the retention check, nothing left over.
    assert_eq!(world.runtime.timers().len(), ids.len() + 1);
}
