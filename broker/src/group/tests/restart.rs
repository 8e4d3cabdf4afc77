//! What survives a restart.

use protocol::error::ErrorCode;

use super::world::{SESSION_MS, TestJoin, World, loaded};
use crate::group::classic::GroupState;
use crate::group::config::GroupConfig;

/// Field reports B9: members keep their generation through a restart of the coordinator, without a rebalance.
#[test]
fn members_go_on_after_a_kill() {
    let mut world = World::new();
    let (ids, generation) = world.stable(3);
    assert_eq!(world.commit(&ids[1], generation, 77), 0);
    let mut world = world.restarted();
    assert_eq!(world.state(), GroupState::Stable);
    for id in &ids {
        assert_eq!(world.heartbeat(id, generation), ErrorCode::NONE);
    }
    let waiter = world.sync(&ids[2], generation, &[]);
    assert_eq!(&world.synced(waiter).assignment[..], ids[2].as_bytes());
    assert_eq!(world.commit(&ids[1], generation, 78), 0);
    assert_eq!(world.committed(), 78);
    // Sessions run from the load on.
    world.pass(i64::from(SESSION_MS));
    assert_eq!(world.state(), GroupState::Empty);
}

#[test]
fn a_rebalance_under_way_is_forgotten_and_done_anew() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    world.join(TestJoin::new(&ids[0]));
    let mut world = world.restarted();
    assert_eq!(world.heartbeat(&ids[1], generation), ErrorCode::NONE);
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id).metadata(2))).collect();
    joins.into_iter().for_each(|join| assert_eq!(world.joined(join).generation_id, generation + 1));
    world.sync_all(&ids, generation + 1);
}

#[test]
fn a_group_above_a_lowered_limit_shrinks() {
    let mut world = World::new();
    let (ids, _) = world.stable(3);
    let config = GroupConfig { max_size: 2, initial_rebalance_delay_ms: 0, ..GroupConfig::default() };
    let mut world = World::over(world.log.next_leadership(), config, world.now_ms);
    assert_eq!(world.state(), GroupState::PreparingRebalance);
    let joins: Vec<_> = ids.iter().map(|id| world.join(TestJoin::new(id))).collect();
    let codes: Vec<_> = joins.into_iter().map(|join| world.joined(join).error_code).collect();
    assert_eq!(codes, [0, 0, ErrorCode::GROUP_MAX_SIZE_REACHED.code()]);
}

#[test]
fn the_live_state_is_what_its_log_says() {
    let mut world = World::new();
    let (ids, generation) = world.stable(2);
    world.commit(&ids[0], generation, 3);
    let replayed = loaded(&world.log, &world.config);
    let (live, replayed) = (world.group().unwrap(), &replayed.group("g").unwrap().classic);
    assert_eq!(replayed.subscribed, live.subscribed);
    assert_eq!((replayed.generation, &replayed.leader), (live.generation, &live.leader));
}
