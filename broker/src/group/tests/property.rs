//! Random lives of a group.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use protocol::error::ErrorCode;
use protocol::types::Str;

use super::world::{GROUP, REBALANCE_MS, SESSION_MS, TestJoin, World, loaded};
use crate::group::classic::{ClassicGroup, GroupState};
use crate::group::coordinator::WaiterId;
use crate::group::decider::GroupTimer;
use crate::group::request::GroupReply;

/// What one of the clients does next.
#[derive(Debug, Clone)]
enum Act {
    /// Who, with what preference, and whether with a rebalance timeout of 0.
    Join(usize, bool, bool),
    Sync(usize),
    Heartbeat(usize),
    Commit(usize, i64),
    Leave(usize),
    Forget(usize),
    Pass(i64),
    Refuse(bool),
    Restart,
}

const CLIENTS: usize = 5;

fn act() -> impl Strategy<Value = Act> {
    let client = 0..CLIENTS;
    prop_oneof![
        6 => (client.clone(), any::<bool>(), prop::bool::weighted(0.1))
            .prop_map(|(client, news, at_once)| Act::Join(client, news, at_once)),
        6 => client.clone().prop_map(Act::Sync),
        4 => client.clone().prop_map(Act::Heartbeat),
        3 => (client.clone(), 0..1_000i64).prop_map(|(client, offset)| Act::Commit(client, offset)),
        1 => client.clone().prop_map(Act::Leave),
        1 => client.prop_map(Act::Forget),
        4 => prop_oneof![1..500i64, 1..20_000i64, Just(i64::from(REBALANCE_MS))].prop_map(Act::Pass),
        1 => prop_oneof![1 => Just(true), 3 => Just(false)].prop_map(Act::Refuse),
        1 => Just(Act::Restart),
    ]
}

/// A client as it sees itself: two of them are static.
#[derive(Debug, Default, Clone)]
struct Client {
    id: Str,
    generation: i32,
    members: Vec<Str>,
    join: Option<WaiterId>,
    sync: Option<WaiterId>,
}

/// The clients, and what they were given.
struct Clients {
    clients: Vec<Client>,
    /// Per generation: who was given which partition.
    owners: BTreeMap<i32, BTreeMap<String, Str>>,
    protocols: BTreeMap<i32, BTreeSet<String>>,
}

impl Clients {
    fn new() -> Self {
        Self {
            clients: vec![Client::default(); CLIENTS],
            owners: BTreeMap::new(),
            protocols: BTreeMap::new(),
        }
    }

    fn act(&mut self, world: &mut World, act: &Act) {
        match *act {
            Act::Join(client, news, at_once) => self.join(world, client, news, at_once),
            Act::Sync(client) => self.sync(world, client),
            Act::Heartbeat(client) => {
                let client = &self.clients[client];
                world.heartbeat(&client.id, client.generation);
            }
            Act::Commit(client, offset) => {
                let client = &self.clients[client];
                world.commit(&client.id, client.generation, offset);
            }
            Act::Leave(client) => {
                let id = std::mem::take(&mut self.clients[client].id);
                world.leave(&[(&id, None)]);
            }
            Act::Forget(client) => self.clients[client].id = Str::default(),
            Act::Pass(ms) => world.pass(ms),
            Act::Refuse(refuse) => {
                world.is_refusing = true;
                world.log.refuse(refuse.then_some(ErrorCode::NOT_ENOUGH_REPLICAS));
            }
            Act::Restart => {}
        }
        self.collect(world);
    }

    fn join(&mut self, world: &mut World, index: usize, news: bool, at_once: bool) {
        let names: &[&str] = if news { &["sticky", "range"] } else { &["range", "sticky"] };
        let mut join = TestJoin::new(&self.clients[index].id).protocols(names);
        if index < 2 {
            join = join.instance(&format!("static-{index}"));
        }
        if at_once {
            join.request.rebalance_timeout_ms = 0;
        }
        self.clients[index].join = Some(world.join(join));
    }

    fn sync(&mut self, world: &mut World, index: usize) {
        let client = &self.clients[index];
        let partitions: Vec<String> =
            (0..client.members.len()).map(|partition| format!("p{partition}")).collect();
        let assignments: Vec<(&Str, &str)> =
            client.members.iter().zip(&partitions).map(|(id, partition)| (id, partition.as_str())).collect();
        let waiter = world.sync(&client.id, client.generation, &assignments);
        self.clients[index].sync = Some(waiter);
    }

    fn collect(&mut self, world: &mut World) {
        for client in &mut self.clients {
            if let Some(response) = client.join.and_then(|waiter| world.maybe_joined(waiter)) {
                client.join = None;
                let gives_id = response.error_code == 0 || response.error_code == 79;
                client.id = if gives_id { response.member_id.clone() } else { Str::default() };
                if response.error_code == 0 {
                    client.generation = response.generation_id;
                    client.members = response.members.into_iter().map(|member| member.member_id).collect();
                    let protocols = self.protocols.entry(response.generation_id).or_default();
                    protocols.insert(response.protocol_name.unwrap_or_default().to_string());
                }
            }
            let Some(reply) = client.sync.and_then(|waiter| world.answer(waiter)) else { continue };
            client.sync = None;
            if let GroupReply::Sync(response) = reply {
                let partition = String::from_utf8(response.assignment.to_vec()).unwrap();
                if response.error_code == 0 && !partition.is_empty() {
                    let owners = self.owners.entry(client.generation).or_default();
                    let owner = owners.entry(partition).or_insert_with(|| client.id.clone());
                    // A static member's successor takes over from its old id.
                    let same = *owner == client.id || owner.starts_with("static-");
                    assert!(same, "two owners in generation {}", client.generation);
                }
            }
        }
        for (generation, protocols) in &self.protocols {
            assert!(protocols.len() == 1, "protocols {protocols:?} in generation {generation}");
        }
    }
}

fn check_state(group: &ClassicGroup) {
    let awaiting = group.members.values().filter(|member| member.join.is_some()).count();
    assert_eq!(group.awaiting_join, awaiting);
    let mut supported: BTreeMap<Str, usize> = BTreeMap::new();
    for (name, _) in group.members.values().flat_map(|member| &member.protocols) {
        *supported.entry(name.clone()).or_default() += 1;
    }
    assert_eq!(group.supported, supported);
    let statics: BTreeMap<Str, Str> = group
        .members
        .iter()
        .filter_map(|(id, member)| member.instance_id.clone().map(|instance| (instance, id.clone())))
        .collect();
    assert_eq!(group.statics, statics);
    match &group.leader {
        Some(leader) => assert!(group.members.contains_key(leader)),
        None => assert!(group.members.is_empty()),
    }
    if group.state == GroupState::Empty {
        assert!(group.members.is_empty());
    }
}

/// Nothing may hang: each phase has its timer, each member its session unless it waits for us.
fn check_timers(world: &World, group: &ClassicGroup) {
    let timers = world.runtime.timers();
    let armed = |timer: GroupTimer| timers.deadline_ms(&timer).is_some();
    let id = Str::from(GROUP);
    if group.state == GroupState::PreparingRebalance {
        assert!(armed(GroupTimer::Join(id.clone())), "a rebalance without a timer");
    }
    if !group.pending_sync.is_empty() {
        assert!(armed(GroupTimer::Sync(id.clone())), "syncs without a timer");
    }
    for (member_id, member) in &group.members {
        let session = armed(GroupTimer::Session(id.clone(), member_id.clone()));
        assert!(session || member.is_heard(), "a member without a session");
    }
    for member_id in &group.pending {
        assert!(armed(GroupTimer::Session(id.clone(), member_id.clone())), "an id without a session");
    }
    assert!(armed(GroupTimer::Retention));
}

/// What a coordinator loaded from the log now would know, against what this one knows.
fn check_replay(world: &World) {
    let fresh = loaded(&world.log, &world.config);
    let offsets = |group: &crate::group::decider::Group| group.offsets.clone();
    let (live, replayed) = (world.runtime.decider().group(GROUP), fresh.group(GROUP));
    assert_eq!(live.map(offsets).unwrap_or_default(), replayed.map(offsets).unwrap_or_default());
    let Some(live) = live.map(|group| &group.classic) else {
        assert!(replayed.is_none());
        return;
    };
    if !live.logged || !matches!(live.state, GroupState::Stable | GroupState::Empty) {
        return;
    }
    let replayed = &replayed.expect("logged").classic;
    let view = |group: &ClassicGroup| {
        let protocol = group.protocol_name.clone().unwrap_or_default();
        let members: Vec<_> = group
            .members
            .iter()
            .map(|(id, member)| {
                let said =
                    (member.metadata(&protocol), member.session_timeout_ms, member.rebalance_timeout_ms);
                (id.clone(), member.instance_id.clone(), member.assignment.clone(), said)
            })
            .collect();
        let heads =
            (group.generation, group.leader.clone(), group.protocol_type.clone(), group.state_since_ms);
        (group.state, protocol, heads, members, group.subscribed.clone())
    };
    assert_eq!(view(live), view(replayed));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_group_keeps_its_invariants(acts in prop::collection::vec(act(), 1..120)) {
        let mut world = World::new();
        let mut clients = Clients::new();
        for act in &acts {
            if matches!(act, Act::Restart) {
                world = world.restarted();
                clients.clients.iter_mut().for_each(|client| (client.join, client.sync) = (None, None));
                // A generation that wasn't logged may be given again, to others.
                let generation = world.group().map_or(0, |group| group.generation);
                clients.owners.retain(|given, _| *given <= generation);
                clients.protocols.retain(|given, _| *given <= generation);
            }
            clients.act(&mut world, act);
            if let Some(group) = world.group() {
                check_state(group);
                check_timers(&world, group);
            }
            if world.group().is_none() {
                // Its generations begin anew.
                clients.owners.clear();
                clients.protocols.clear();
            }
            check_replay(&world);
        }
        world.log.refuse(None);
        // Left alone, every group ends empty and every waiter is answered.
        for _ in 0..4 {
            world.pass(i64::from(REBALANCE_MS + SESSION_MS) + 300_000);
            clients.collect(&mut world);
        }
        prop_assert_eq!(world.state(), GroupState::Empty);
        prop_assert!(clients.clients.iter().all(|client| client.join.is_none() && client.sync.is_none()));
    }
}
