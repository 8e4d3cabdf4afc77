//! Brokers come back; producer ids.

use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::{AllocateProducerIdsRequest, CreateTopicsRequest};

use super::*;

fn epoch(reply: &ControllerReply) -> (i16, i64) {
    match reply {
        ControllerReply::RegisterBroker(response) => (response.error_code, response.broker_epoch),
        other => panic!("{other:?}"),
    }
}

fn block(world: &mut World, broker_id: i32, broker_epoch: i64) -> (i16, i64, i32) {
    let request = AllocateProducerIdsRequest { broker_id, broker_epoch, ..Default::default() };
    match world.ask(ControllerRequest::AllocateProducerIds(request)) {
        ControllerReply::AllocateProducerIds(r) => (r.error_code, r.producer_id_start, r.producer_id_len),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_start_raises_leader_epochs_once() {
    let mut world = World::new();
    let topic =
        CreatableTopic { name: "t".into(), num_partitions: 3, replication_factor: 1, ..Default::default() };
    world.ask(ControllerRequest::CreateTopics(CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    }));
    let offset = world.image.offset;
    assert_eq!(epoch(&world.register(1, 2)), (0, offset + 1));
    // Asked again, the same run changes nothing.
    assert_eq!(epoch(&world.register(1, 2)), (0, offset + 1));
    let epochs: Vec<_> = world.image.topic("t").unwrap().partitions.iter().map(|p| p.leader_epoch).collect();
    assert_eq!(epochs, [1, 1, 1]);
    assert_eq!((world.image.offset, world.image.brokers[&1].epoch), (offset + 4, offset + 1));
}

#[test]
fn a_broker_of_another_cluster_is_refused() {
    let mut world = World::empty();
    world.image.cluster_id = "other".into();
    assert_eq!(epoch(&world.register(1, 1)), (104, -1));
}

#[test]
fn blocks_of_producer_ids_follow_each_other() {
    let mut world = World::new();
    assert_eq!(block(&mut world, 1, 0), (0, 0, 1000));
    assert_eq!(block(&mut world, 1, 0), (0, 1000, 1000));
    assert_eq!(block(&mut world, 2, 0).0, 102);
    assert_eq!(block(&mut world, 1, 7).0, 77);
    world.image.next_producer_id = i64::MAX - 999;
    assert_eq!(block(&mut world, 1, 0).0, -1);
}
