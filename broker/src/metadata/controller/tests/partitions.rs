//! CreatePartitions.

use protocol::messages::create_partitions_request::{CreatePartitionsAssignment, CreatePartitionsTopic};
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::{CreatePartitionsRequest, CreateTopicsRequest};
use protocol::types::Str;

use super::*;

fn world() -> World {
    let mut world = World::new();
    let topic =
        CreatableTopic { name: "t".into(), num_partitions: 2, replication_factor: 1, ..Default::default() };
    world.ask(ControllerRequest::CreateTopics(CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    }));
    world
}

fn grow(world: &mut World, name: &str, count: i32, assignments: Option<Vec<Vec<i32>>>) -> (i16, String) {
    let assignments = assignments.map(|all| {
        all.into_iter()
            .map(|broker_ids| CreatePartitionsAssignment { broker_ids, ..Default::default() })
            .collect()
    });
    let topic = CreatePartitionsTopic { name: Str::from(name), count, assignments, ..Default::default() };
    let request = CreatePartitionsRequest { topics: vec![topic], ..Default::default() };
    match world.ask(ControllerRequest::CreatePartitions(request)) {
        ControllerReply::CreatePartitions(response) => {
            let result = &response.results[0];
            (result.error_code, result.error_message.as_ref().map(ToString::to_string).unwrap_or_default())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_topic_grows() {
    let mut world = world();
    assert_eq!(grow(&mut world, "t", 4, None).0, 0);
    assert_eq!(grow(&mut world, "t", 5, Some(vec![vec![1]])).0, 0);
    assert_eq!(world.image.topic("t").unwrap().partitions.len(), 5);
}

#[test]
fn a_topic_never_shrinks() {
    let mut world = world();
    for (count, text) in [
        (2, "Topic already has 2 partition(s)."),
        (1, "The topic t currently has 2 partition(s); 1 would not be an increase."),
        (-1, "The topic t currently has 2 partition(s); -1 would not be an increase."),
    ] {
        assert_eq!(grow(&mut world, "t", count, None), (37, text.into()));
    }
    assert_eq!(grow(&mut world, "gone", 3, None).0, 3);
    assert_eq!(grow(&mut world, "t", 20_000, None).0, 44);
    assert_eq!(grow(&mut world, "t", 4, Some(vec![vec![1]])).0, 39);
    assert_eq!(grow(&mut world, "t", 3, Some(vec![vec![2]])).0, 39);
    assert_eq!(grow(&mut world, "t", 3, Some(vec![])).0, 39, "no assignments aren't automatic ones");
    assert_eq!(world.image.partition_count(), 2);
}
