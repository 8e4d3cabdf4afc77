//! Static members (KIP-345).

use protocol::error::ErrorCode;
use protocol::messages::HeartbeatRequest;
use protocol::types::Str;

use super::world::{GROUP, SESSION_MS, TestJoin, World};
use crate::group::classic::GroupState;
use crate::group::request::GroupRequest;

/// A stable group of static members; the leader first.
fn stable(world: &mut World, instances: &[&str]) -> (Vec<(Str, Str)>, i32) {
    let waiters: Vec<_> =
        instances.iter().map(|instance| world.join(TestJoin::new("").instance(instance))).collect();
    // The first one's generation may have ended the join phase before the others came.
    world.pass(0);
    let mut members = Vec::new();
    let mut open = Vec::new();
    for (instance, waiter) in instances.iter().zip(waiters) {
        match world.maybe_joined(waiter) {
            Some(response) => members.push((response.member_id, Str::from(*instance))),
            None => open.push((waiter, *instance)),
        }
    }
    let mut generation = world.group().unwrap().generation;
    if !open.is_empty() {
        let again: Vec<_> =
            members.iter().map(|(id, instance)| world.join(TestJoin::new(id).instance(instance))).collect();
        again.into_iter().for_each(|waiter| generation = world.joined(waiter).generation_id);
        for (waiter, instance) in open {
            members.push((world.joined(waiter).member_id, instance.into()));
        }
    }
    let leader = world.group().unwrap().leader.clone().unwrap();
    members.sort_by_key(|(id, _)| *id != leader);
    let ids: Vec<Str> = members.iter().map(|(id, _)| id.clone()).collect();
    world.sync_all(&ids, generation);
    (members, generation)
}

fn heartbeat(world: &mut World, member: &Str, instance: &Str, generation: i32) -> ErrorCode {
    let request = HeartbeatRequest {
        group_id: GROUP.into(),
        generation_id: generation,
        member_id: member.clone(),
        group_instance_id: Some(instance.clone()),
        ..Default::default()
    };
    let waiter = world.ask(GroupRequest::Heartbeat(request));
    world.code(waiter)
}

#[test]
fn a_static_member_joins_without_an_extra_round() {
    let mut world = World::new();
    let waiter = world.join(TestJoin::new("").instance("one"));
    let response = world.joined(waiter);
    assert_eq!(response.error_code, 0);
    assert!(response.member_id.starts_with("one-"));
}

#[test]
fn a_restarted_one_keeps_its_assignment_and_disturbs_nobody() {
    let mut world = World::new();
    let (members, generation) = stable(&mut world, &["one", "two"]);
    let (follower, instance) = &members[1];
    let waiter = world.join(TestJoin::new("").instance(instance));
    let response = world.joined(waiter);
    assert_eq!((response.error_code, response.generation_id), (0, generation));
    assert_ne!(&response.member_id, follower);
    assert!(!response.skip_assignment && response.members.is_empty());
    let sync = world.sync(&response.member_id, generation, &[]);
    assert_eq!(&world.synced(sync).assignment[..], follower.as_bytes(), "the assignment of its old id");
    assert_eq!(heartbeat(&mut world, &members[0].0, &members[0].1, generation), ErrorCode::NONE);
    assert_eq!(heartbeat(&mut world, follower, instance, generation), ErrorCode::FENCED_INSTANCE_ID);
    // The replacement is in the log.
    let mut world = world.restarted();
    assert_eq!(heartbeat(&mut world, &response.member_id, instance, generation), ErrorCode::NONE);
}

#[test]
fn a_restarted_leader_skips_the_assignment_from_v9_on() {
    let mut world = World::new();
    let (members, generation) = stable(&mut world, &["one", "two"]);
    let (leader, instance) = &members[0];
    let waiter = world.join(TestJoin::new("").instance(instance));
    let response = world.joined(waiter);
    assert!(response.skip_assignment);
    assert_eq!((&response.leader, response.members.len()), (&response.member_id, 2));
    assert_eq!(world.group().unwrap().leader.as_ref(), Some(&response.member_id));

    // Before, it is shown its old id as the leader, and so takes itself for a follower.
    let second = response.member_id;
    let waiter = world.join(TestJoin::new("").instance(instance).version(8));
    let response = world.joined(waiter);
    assert!(!response.skip_assignment && response.members.is_empty());
    assert_eq!((&response.leader, response.generation_id), (&second, generation));
    assert_ne!(&second, leader);
}

#[test]
fn one_that_changes_the_protocol_rebalances() {
    let mut world = World::new();
    let both = |names: &[&str]| TestJoin::new("").instance("one").protocols(names);
    let waiter = world.join(both(&["range", "sticky"]));
    let id = world.joined(waiter).member_id;
    world.sync_all(&[id], 1);
    let waiter = world.join(both(&["sticky", "range"]));
    // The group of one rejoins itself at once.
    let response = world.joined(waiter);
    assert_eq!((response.error_code, response.protocol_name.as_deref()), (0, Some("sticky")));
    assert_eq!(world.state(), GroupState::CompletingRebalance);
}

#[test]
fn a_duplicate_fences_the_one_that_waits() {
    let mut world = World::new();
    let (members, generation) = stable(&mut world, &["one", "two"]);
    let waits = world.join(TestJoin::new(&members[0].0).instance(&members[0].1));
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    let newer = world.join(TestJoin::new("").instance(&members[0].1));
    assert_eq!(world.joined(waits).error_code, ErrorCode::FENCED_INSTANCE_ID.code());
    let other = world.join(TestJoin::new(&members[1].0).instance(&members[1].1));
    assert_eq!(world.joined(newer).generation_id, generation + 1);
    assert_eq!(world.joined(other).generation_id, generation + 1);
    // In CompletingRebalance it also starts another round.
    let sync = world.sync(&members[1].0, generation + 1, &[]);
    world.join(TestJoin::new("").instance(&members[0].1));
    assert_eq!(world.synced(sync).error_code, ErrorCode::REBALANCE_IN_PROGRESS.code());
    let wrong = world.join(TestJoin::new(&members[0].0).instance(&members[0].1));
    assert_eq!(world.joined(wrong).error_code, ErrorCode::FENCED_INSTANCE_ID.code());
}

#[test]
fn it_stays_through_a_rebalance_it_misses_but_not_past_its_session() {
    let mut world = World::new();
    let (members, generation) = stable(&mut world, &["one", "two"]);
    let mut join = TestJoin::new(&members[0].0).instance(&members[0].1);
    join.request.rebalance_timeout_ms = 5_000;
    let mut other = TestJoin::new("").instance(&members[1].1);
    other.request.rebalance_timeout_ms = 5_000;
    let other = world.join(other);
    let other = world.joined(other).member_id;
    let waiter = world.join(join);
    world.pass(5_000);
    let response = world.joined(waiter);
    assert_eq!((response.generation_id, response.members.len()), (generation + 1, 2));
    world.pass(i64::from(SESSION_MS));
    assert!(!world.group().is_some_and(|group| group.members.contains_key(&other)));
}

/// With a rebalance timeout of 0 the wait for it was over at once, again and again, and the shard did nothing else.
#[test]
fn a_rebalance_timeout_of_0_doesnt_spin() {
    let mut world = World::new();
    let waiter = world.join(TestJoin::new(""));
    let dynamic = world.joined(waiter).member_id;
    let waiter = world.join(TestJoin::new(&dynamic));
    assert_eq!(world.joined(waiter).error_code, 0);
    let mut lasting = TestJoin::new("").instance("one");
    (lasting.request.rebalance_timeout_ms, lasting.request.session_timeout_ms) = (0, 1_800_000);
    let joins = [world.join(lasting), world.join(TestJoin::new(&dynamic))];
    let [lasting, again] = joins.map(|waiter| world.joined(waiter));
    let generation = lasting.generation_id;
    assert_eq!((again.generation_id, &again.member_id), (generation, &dynamic));
    let ids =
        if lasting.leader == dynamic { [dynamic, lasting.member_id] } else { [lasting.member_id, dynamic] };
    world.sync_all(&ids, generation);
    // The dynamic one falls silent: its static companion is waited for.
    world.pass(i64::from(SESSION_MS));
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    let next_ms = world.runtime.next_deadline_ms().unwrap();
    assert!(next_ms > world.now_ms, "due at once for ever");
    // A coordinator that loads such a group from its log waits just so.
    let mut world = world.restarted();
    world.pass(60_000);
    let waiter = world.join(TestJoin::new("").instance("one"));
    assert_eq!(world.joined(waiter).error_code, 0);
}

#[test]
fn an_administrator_removes_it_by_instance_id() {
    let mut world = World::new();
    let (members, _) = stable(&mut world, &["one", "two"]);
    let fenced = ErrorCode::FENCED_INSTANCE_ID.code();
    assert_eq!(world.leave(&[("wrong", Some("one"))]), [fenced]);
    assert_eq!(world.leave(&[("", Some(&members[1].1))]), [0]);
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    assert_eq!(world.group().unwrap().statics.len(), 1);
}
