//! ElectLeaders.

use protocol::internal::{FenceBrokerRecord, PartitionChangeRecord};
use protocol::messages::create_topics_request::{CreatableReplicaAssignment, CreatableTopic};
use protocol::messages::elect_leaders_request::TopicPartitions;
use protocol::messages::{CreateTopicsRequest, ElectLeadersRequest, ElectLeadersResponse};

use super::*;
use crate::metadata::limits::ELECTIONS_PER_REQUEST_MAX;

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

/// Topic t: partition 0 on brokers 1 and 2, partition 1 on 2 and 1, each led by the first.
fn world() -> World {
    let mut world = World::new();
    world.register(2, 2);
    let assignment = |partition_index, broker_ids: &[i32]| CreatableReplicaAssignment {
        partition_index,
        broker_ids: broker_ids.to_vec(),
        ..Default::default()
    };
    let topic = CreatableTopic {
        name: "t".into(),
        num_partitions: -1,
        replication_factor: -1,
        assignments: vec![assignment(0, &[1, 2]), assignment(1, &[2, 1])],
        ..Default::default()
    };
    world.ask(ControllerRequest::CreateTopics(CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    }));
    world
}

fn change(world: &mut World, partition_id: i32, leader: i32, isr: &[i32]) {
    let topic_id = world.image.topic("t").unwrap().id;
    let record = PartitionChangeRecord {
        partition_id,
        topic_id,
        leader,
        isr: Some(isr.to_vec()),
        ..Default::default()
    };
    world.image.apply(&record.into()).unwrap();
}

fn fence(world: &mut World, id: i32) {
    let epoch = world.image.brokers[&id].epoch;
    world.image.apply(&FenceBrokerRecord { id, epoch, ..Default::default() }.into()).unwrap();
}

fn elect(world: &mut World, election_type: i8, partitions: Option<&[(&str, i32)]>) -> ElectLeadersResponse {
    let topic_partitions = partitions.map(|all| {
        let one = |(topic, index): &(&str, i32)| TopicPartitions {
            topic: Str::from(*topic),
            partitions: vec![*index],
            ..Default::default()
        };
        all.iter().map(one).collect()
    });
    let request = ElectLeadersRequest { election_type, topic_partitions, ..Default::default() };
    match world.ask(ControllerRequest::ElectLeaders(request)) {
        ControllerReply::ElectLeaders(response) => response,
        other => panic!("{other:?}"),
    }
}

fn codes(response: &ElectLeadersResponse) -> Vec<(i32, i16)> {
    let all = response.replica_election_results.iter().flat_map(|topic| &topic.partition_result);
    all.map(|result| (result.partition_id, result.error_code)).collect()
}

#[test]
fn the_preferred_replica_leads_again() {
    let mut world = world();
    change(&mut world, 0, 2, &[2, 1]);
    let epoch = world.image.topic("t").unwrap().partitions[0].leader_epoch;
    let response = elect(&mut world, PREFERRED, Some(&[("t", 0), ("t", 1), ("t", 2), ("gone", 0)]));
    assert_eq!(codes(&response), [(0, 0), (1, 84), (2, 3), (0, 3)]);
    let partition = &world.image.topic("t").unwrap().partitions[0];
    assert_eq!((partition.leader, partition.leader_epoch), (1, epoch + 1));
    assert_eq!(codes(&elect(&mut world, PREFERRED, None)), [], "of all, those that stay aren't told");
    change(&mut world, 0, 2, &[2]);
    assert_eq!(codes(&elect(&mut world, PREFERRED, None)), [(0, 80)], "it isn't in sync");
    change(&mut world, 0, 2, &[2, 1]);
    fence(&mut world, 1);
    assert_eq!(codes(&elect(&mut world, PREFERRED, Some(&[("t", 0)]))), [(0, 80)], "it isn't there");
}

#[test]
fn an_unclean_election_needs_a_partition_without_leader() {
    let mut world = world();
    assert_eq!(codes(&elect(&mut world, UNCLEAN, Some(&[("t", 0)]))), [(0, 84)]);
    change(&mut world, 0, -1, &[1]);
    fence(&mut world, 1);
    assert_eq!(codes(&elect(&mut world, UNCLEAN, None)), [(0, 0)]);
    let partition = &world.image.topic("t").unwrap().partitions[0];
    assert_eq!((partition.leader, &partition.isr[..]), (2, &[2][..]), "what only 1 had is lost");
    change(&mut world, 0, -1, &[1]);
    fence(&mut world, 2);
    assert_eq!(codes(&elect(&mut world, UNCLEAN, None)), [(0, 83)]);
}

#[test]
fn an_unknown_election_type() {
    let mut world = world();
    let response = elect(&mut world, 5, Some(&[("t", 0)]));
    assert_eq!((response.error_code, codes(&response)), (42, vec![(0, 42)]));
    let message = &response.replica_election_results[0].partition_result[0].error_message;
    assert_eq!(message.as_deref(), Some("Unknown election type 5"));
}

/// A partition costs a request four bytes; its answer used to repeat a topic's name of any length.
#[test]
fn an_election_is_not_answered_with_far_more_than_it_asks() {
    let mut world = world();
    let mut ask = |topic: &str, count: usize| {
        let partitions = vec![0; count];
        let asked = TopicPartitions { topic: Str::from(topic), partitions, ..Default::default() };
        let request = ElectLeadersRequest { topic_partitions: Some(vec![asked]), ..Default::default() };
        match world.ask(ControllerRequest::ElectLeaders(request)) {
            ControllerReply::ElectLeaders(response) => response,
            other => panic!("{other:?}"),
        }
    };
    let too_many = ask("t", ELECTIONS_PER_REQUEST_MAX + 1);
    assert_eq!((too_many.error_code, codes(&too_many)), (42, vec![]));
    let long = ask(&"x".repeat(30_000), 10);
    let texts: Vec<&str> = long.replica_election_results[0]
        .partition_result
        .iter()
        .map(|result| result.error_message.as_deref().unwrap())
        .collect();
    assert_eq!(texts, ["No such topic"; 10]);
    assert_eq!(
        ask("t", ELECTIONS_PER_REQUEST_MAX).replica_election_results[0].partition_result.len(),
        100_000
    );
}
