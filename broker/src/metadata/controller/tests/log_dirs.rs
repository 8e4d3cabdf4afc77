//! Which log directory replicas are in, and what happens when one is gone.

use protocol::messages::assign_replicas_to_dirs_request::{DirectoryData, PartitionData, TopicData};
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::{
    AssignReplicasToDirsRequest, BrokerHeartbeatRequest, CreatePartitionsRequest, CreateTopicsRequest,
};

use super::*;

const A: Uuid = Uuid([10; 16]);
const B: Uuid = Uuid([11; 16]);

fn register(world: &mut World, incarnation: u8, log_dirs: &[Uuid]) {
    let request = BrokerRegistrationRequest {
        broker_id: 1,
        cluster_id: Str::from("cluster"),
        incarnation_id: Uuid([incarnation; 16]),
        log_dirs: log_dirs.to_vec(),
        ..Default::default()
    };
    world.ask(ControllerRequest::RegisterBroker(request));
}

fn create(world: &mut World, name: &'static str, num_partitions: i32) {
    let topic =
        CreatableTopic { name: name.into(), num_partitions, replication_factor: 1, ..Default::default() };
    let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
    world.ask(ControllerRequest::CreateTopics(request));
}

/// A topic of four partitions on a broker with two directories.
fn world() -> World {
    let mut world = World::empty();
    register(&mut world, 1, &[A, B]);
    create(&mut world, "t", 4);
    world
}

/// Directory and leader of each partition.
fn partitions(world: &World, topic: &str) -> Vec<(Uuid, i32)> {
    let partitions = &world.image.topic(topic).unwrap().partitions;
    partitions.iter().map(|partition| (partition.directory_of(1), partition.leader)).collect()
}

fn lose(world: &mut World, dirs: &[Uuid]) -> i16 {
    let broker_epoch = world.image.brokers[&1].epoch;
    let request = BrokerHeartbeatRequest {
        broker_id: 1,
        broker_epoch,
        offline_log_dirs: dirs.to_vec(),
        ..Default::default()
    };
    match world.ask(ControllerRequest::BrokerHeartbeat(request)) {
        ControllerReply::BrokerHeartbeat(reply) => reply.error_code,
        other => panic!("{other:?}"),
    }
}

fn assign(world: &mut World, topic_id: Uuid, partition_index: i32, id: Uuid) -> i16 {
    assign_as_of(world, -1, topic_id, partition_index, id)
}

/// By a broker that knows its epoch.
fn assign_as_of(world: &mut World, broker_epoch: i64, topic_id: Uuid, partition_index: i32, id: Uuid) -> i16 {
    let partition = PartitionData { partition_index, ..Default::default() };
    let topic = TopicData { topic_id, partitions: vec![partition], ..Default::default() };
    let directory = DirectoryData { id, topics: vec![topic], ..Default::default() };
    let request = AssignReplicasToDirsRequest {
        broker_id: 1,
        broker_epoch,
        directories: vec![directory],
        ..Default::default()
    };
    match world.ask(ControllerRequest::AssignReplicasToDirs(request)) {
        ControllerReply::AssignReplicasToDirs(reply) => {
            reply.directories[0].topics[0].partitions[0].error_code
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn new_replicas_go_where_the_fewest_are() {
    let mut world = world();
    assert_eq!(partitions(&world, "t"), [(A, 1), (B, 1), (A, 1), (B, 1)]);
    let topic_id = world.image.topic("t").unwrap().id;
    assert_eq!(assign(&mut world, topic_id, 3, A), 0);
    create(&mut world, "u", 3);
    assert_eq!(partitions(&world, "u"), [(B, 1), (B, 1), (A, 1)]);
    let more = CreatePartitionsTopic { name: "u".into(), count: 5, assignments: None, ..Default::default() };
    let request = CreatePartitionsRequest { topics: vec![more], ..Default::default() };
    world.ask(ControllerRequest::CreatePartitions(request));
    assert_eq!(partitions(&world, "u")[3..], [(B, 1), (A, 1)]);
}

#[test]
fn a_broker_that_tells_no_directory_chooses_itself() {
    let mut world = World::new();
    create(&mut world, "t", 1);
    assert_eq!(partitions(&world, "t"), [(Uuid::ZERO, 1)]);
}

#[test]
fn what_was_in_a_lost_directory_has_no_leader_until_it_is_back() {
    let mut world = world();
    assert_eq!(lose(&mut world, &[B]), 0);
    assert_eq!(partitions(&world, "t"), [(A, 1), (B, -1), (A, 1), (B, -1)]);
    let offset = world.image.offset;
    assert_eq!((lose(&mut world, &[B]), world.image.offset), (0, offset), "told again it changes nothing");
    let alive = [1].into();
    let offline = |world: &World, at: usize| {
        world.image.offline_replicas(&world.image.topic("t").unwrap().partitions[at], &alive)
    };
    assert_eq!((offline(&world, 0), offline(&world, 1)), (vec![], vec![1]));
    create(&mut world, "u", 2);
    assert_eq!(partitions(&world, "u"), [(A, 1), (A, 1)]);
    // Still without it.
    register(&mut world, 2, &[A]);
    assert_eq!(partitions(&world, "t"), [(A, 1), (B, -1), (A, 1), (B, -1)]);
    register(&mut world, 3, &[B, A]);
    assert_eq!(partitions(&world, "t"), [(A, 1), (B, 1), (A, 1), (B, 1)]);
    assert_eq!(offline(&world, 1), [0; 0]);
    // A start without it takes the leader too.
    register(&mut world, 4, &[B]);
    assert_eq!(partitions(&world, "t"), [(A, -1), (B, 1), (A, -1), (B, 1)]);
}

#[test]
fn only_what_is_there_is_assigned() {
    let mut world = world();
    let topic_id = world.image.topic("t").unwrap().id;
    assert_eq!(assign(&mut world, Uuid([9; 16]), 0, A), 100);
    assert_eq!(assign(&mut world, topic_id, 4, A), 3);
    let offset = world.image.offset;
    assert_eq!((assign(&mut world, topic_id, 0, A), world.image.offset), (0, offset), "it is there already");
    assert_eq!(assign(&mut world, topic_id, 0, B), 0);
    assert_eq!(partitions(&world, "t")[0], (B, 1));
}

/// A move that had the metadata name a directory, which failed then: it goes on where it was, and had no leader until the next start.
#[test]
fn a_partition_that_is_back_in_a_directory_that_is_online_is_led_again() {
    let mut world = world();
    let (topic_id, epoch) = (world.image.topic("t").unwrap().id, world.image.brokers[&1].epoch);
    assert_eq!(lose(&mut world, &[B]), 0);
    let leader_epoch = world.image.topic("t").unwrap().partitions[1].leader_epoch;
    assert_eq!(assign_as_of(&mut world, epoch, topic_id, 1, A), 0);
    assert_eq!(partitions(&world, "t"), [(A, 1), (A, 1), (A, 1), (B, -1)]);
    assert!(world.image.topic("t").unwrap().partitions[1].leader_epoch > leader_epoch);
    // Not in one that isn't there, nor by a broker that is only about to register.
    assert_eq!(assign_as_of(&mut world, epoch, topic_id, 3, Uuid([12; 16])), 0);
    assert_eq!(partitions(&world, "t")[3], (Uuid([12; 16]), -1));
    assert_eq!(assign_as_of(&mut world, -1, topic_id, 3, A), 0);
    assert_eq!(partitions(&world, "t")[3], (A, -1));
}
