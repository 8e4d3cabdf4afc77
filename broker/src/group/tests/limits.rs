//! Each bound, reached.

use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;

use super::world::{SESSION_MS, TestJoin, World, at, commit_request};
use crate::group::config::GroupConfig;
use crate::group::limits::{PENDING_MEMBERS_MAX, PROTOCOLS_PER_MEMBER_MAX, TIMERS_PER_TURN_MAX};

#[test]
fn groups() {
    let mut world = World::with(GroupConfig { groups_max: 2, ..GroupConfig::default() });
    let mut commit = |group: &str| {
        let mut request = commit_request("", -1, 1);
        request.group_id = group.into();
        world.commit_request(request, 9)
    };
    assert_eq!([commit("a"), commit("b")], [0, 0]);
    assert_eq!(commit("c"), ErrorCode::COORDINATOR_NOT_AVAILABLE.code());
    assert_eq!(commit("b"), 0, "one that is there goes on");
    let waiter = world.join(TestJoin::new(""));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::COORDINATOR_NOT_AVAILABLE.code());
}

#[test]
fn ids_given_out() {
    let mut world = World::new();
    for _ in 0..PENDING_MEMBERS_MAX {
        let waiter = world.join(TestJoin::new(""));
        assert_eq!(world.joined(waiter).error_code, ErrorCode::MEMBER_ID_REQUIRED.code());
    }
    let waiter = world.join(TestJoin::new(""));
    assert_eq!(world.joined(waiter).error_code, ErrorCode::GROUP_MAX_SIZE_REACHED.code());
    // They all expire at once: in turns, so that others get theirs.
    world.now_ms += i64::from(SESSION_MS);
    world.runtime.run_due(at(world.now_ms), &world.log).unwrap();
    assert_eq!(world.group().unwrap().pending.len(), PENDING_MEMBERS_MAX - TIMERS_PER_TURN_MAX);
    world.pass(0);
    assert!(world.group().is_none());
}

#[test]
fn protocols_of_a_member() {
    let mut world = World::new();
    let mut join = TestJoin::new("").version(3);
    join.request.protocols = (0..=PROTOCOLS_PER_MEMBER_MAX)
        .map(|at| JoinGroupRequestProtocol { name: format!("p{at}").into(), ..Default::default() })
        .collect();
    let waiter = world.join(join);
    assert_eq!(world.joined(waiter).error_code, 0);
    let group = world.group().unwrap();
    assert_eq!(group.members.values().next().unwrap().protocols.len(), PROTOCOLS_PER_MEMBER_MAX);
}
