//! CreateTopics and DeleteTopics.

use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use protocol::messages::create_topics_response::CreatableTopicResult;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::{CreateTopicsRequest, DeleteTopicsRequest};
use protocol::types::{Str, Uuid};

use super::*;
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

fn wanted(name: &str, num_partitions: i32, replication_factor: i16) -> CreatableTopic {
    CreatableTopic { name: Str::from(name), num_partitions, replication_factor, ..Default::default() }
}

fn with_config(name: &str, value: Option<&str>) -> CreatableTopic {
    let config =
        CreatableTopicConfig { name: Str::from(name), value: value.map(Str::from), ..Default::default() };
    CreatableTopic { configs: vec![config], ..wanted("t", 1, 1) }
}

fn assigned(pairs: &[(i32, &[i32])]) -> CreatableTopic {
    let assignments = pairs.iter().map(|(partition_index, brokers)| CreatableReplicaAssignment {
        partition_index: *partition_index,
        broker_ids: brokers.to_vec(),
        ..Default::default()
    });
    CreatableTopic { assignments: assignments.collect(), ..wanted("t", -1, -1) }
}

fn create(world: &mut World, topics: Vec<CreatableTopic>) -> Vec<CreatableTopicResult> {
    create_request(world, CreateTopicsRequest { topics, ..Default::default() })
}

fn create_request(world: &mut World, request: CreateTopicsRequest) -> Vec<CreatableTopicResult> {
    match world.ask(ControllerRequest::CreateTopics(request)) {
        ControllerReply::CreateTopics(response) => response.topics,
        other => panic!("{other:?}"),
    }
}

fn outcome(result: &CreatableTopicResult) -> (i16, &str) {
    (result.error_code, result.error_message.as_deref().unwrap_or_default())
}

#[test]
fn a_topic_is_created_whole() {
    let mut world = World::new();
    let results = create(&mut world, vec![wanted("orders", 3, 1)]);
    assert_eq!(outcome(&results[0]), (0, ""));
    assert_eq!((results[0].num_partitions, results[0].replication_factor), (3, 1));
    let topic = world.image.topic("orders").unwrap();
    assert_eq!(topic.id, results[0].topic_id);
    for partition in &topic.partitions {
        assert_eq!((partition.leader, partition.leader_epoch, &partition.isr[..]), (1, 0, &[1][..]));
    }
    let configs = results[0].configs.as_ref().unwrap();
    let retention = configs.iter().find(|config| config.name == "retention.ms").unwrap();
    assert_eq!((retention.value.as_deref(), retention.config_source), (Some("604800000"), 5));
}

#[test]
fn minus_one_takes_the_brokers_defaults() {
    let mut world = World::new();
    world.decider.topics.num_partitions = 7;
    let results = create(&mut world, vec![wanted("t", -1, -1)]);
    assert_eq!((results[0].num_partitions, results[0].replication_factor), (7, 1));
    world.decider.topics.default_replication_factor = 3;
    assert_eq!(create(&mut world, vec![wanted("u", -1, -1)])[0].error_code, 38);
}

#[test]
fn what_cannot_be_created() {
    let mut world = World::new();
    create(&mut world, vec![wanted("taken", 1, 1), wanted("a.b", 1, 1)]);
    let long = "x".repeat(250);
    let cases = [
        (wanted("", 1, 1), 17, "Topic name is invalid: the empty string is not allowed"),
        (wanted(".", 1, 1), 17, "Topic name is invalid: '.' is not allowed"),
        (wanted("..", 1, 1), 17, "Topic name is invalid: '..' is not allowed"),
        (
            wanted("a b", 1, 1),
            17,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
        ),
        (wanted("taken", 1, 1), 36, "Topic 'taken' already exists."),
        (wanted("a_b", 1, 1), 17, "Topic 'a_b' collides with existing topic: a.b"),
        (
            wanted("__cluster_metadata", 1, 1),
            42,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (wanted("t", 0, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (wanted("t", -2, 1), 37, "Number of partitions was set to an invalid non-positive value."),
        (wanted("t", 1, 0), 38, "Replication factor must be larger than 0, or -1 to use the default value."),
        (
            wanted("t", 1, 2),
            38,
            "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be reached \
             because only 1 broker(s) are registered or some brokers have all their log directories cordoned.",
        ),
        (wanted("t", i32::MAX, 1), 44, "Excessively large number of partitions per request."),
        (with_config("no.such", Some("1")), 40, "Unknown topic config name: no.such"),
        (
            with_config("retention.ms", Some("-2")),
            40,
            "Invalid value -2 for configuration retention.ms: Value must be at least -1",
        ),
        (with_config("retention.ms", None), 40, "Null value not supported for topic configs: retention.ms"),
        (
            CreatableTopic { replication_factor: 1, ..assigned(&[(0, &[1])]) },
            42,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            CreatableTopic { num_partitions: 1, ..assigned(&[(0, &[1])]) },
            42,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (assigned(&[(0, &[])]), 39, "The manual partition assignment includes an empty replica list."),
        (
            assigned(&[(0, &[1, 1])]),
            39,
            "The manual partition assignment includes the broker 1 more than once.",
        ),
        (
            assigned(&[(0, &[5])]),
            39,
            "The manual partition assignment includes broker 5, but no such broker is registered.",
        ),
        (
            assigned(&[(0, &[1]), (0, &[1])]),
            39,
            "Found multiple manual partition assignments for partition 0",
        ),
        (
            assigned(&[(0, &[1]), (2, &[1])]),
            39,
            "partitions should be a consecutive 0-based integer sequence",
        ),
    ];
    for (topic, code, text) in cases {
        let results = create(&mut world, vec![topic.clone()]);
        assert_eq!(outcome(&results[0]), (code, text), "{topic:?}");
        assert_eq!(results[0].configs, None);
    }
    assert_eq!(create(&mut world, vec![wanted(&long, 1, 1)])[0].error_code, 17);
    assert_eq!(create(&mut world, vec![wanted(&long[1..], 1, 1)])[0].error_code, 0);
}

#[test]
fn topics_of_one_request_see_each_other() {
    let mut world = World::new();
    let topics = ["twice", "x.y", "x_y", "twice", "ok"].map(|name| wanted(name, 1, 1)).to_vec();
    let results = create(&mut world, topics);
    let codes: Vec<_> = results.iter().map(|result| (result.name.as_str(), result.error_code)).collect();
    assert_eq!(codes, [("twice", 42), ("x.y", 0), ("x_y", 17), ("ok", 0)]);
    assert_eq!(outcome(&results[0]).1, "Duplicate topic name.");
    assert_eq!(world.image.topic_count(), 2);
}

#[test]
fn validation_only_creates_nothing() {
    let mut world = World::new();
    let request =
        CreateTopicsRequest { topics: vec![wanted("t", 2, 1)], validate_only: true, ..Default::default() };
    let results = create_request(&mut world, request);
    assert_eq!((results[0].error_code, results[0].num_partitions, results[0].topic_id), (0, 2, Uuid::ZERO));
    assert_eq!(world.image.topic_count(), 0);
}

#[test]
fn a_request_makes_so_many_records_and_no_more() {
    let mut world = World::new();
    let most = RECORDS_PER_OPERATION_MAX as i32 - 1;
    assert_eq!(create(&mut world, vec![wanted("over", most + 1, 1)])[0].error_code, 44);
    let results = create(&mut world, vec![wanted("full", most, 1), wanted("more", 1, 1)]);
    assert_eq!((results[0].error_code, results[1].error_code), (0, 44));
    assert_eq!(world.image.partition_count(), most as usize);
}

#[test]
fn no_broker_no_topic() {
    let mut world = World::empty();
    assert_eq!(create(&mut world, vec![wanted("t", 1, 1)])[0].error_code, 38);
}

#[test]
fn leaders_go_round() {
    let mut world = World::new();
    world.register(2, 2);
    create(&mut world, vec![wanted("t", 4, 2)]);
    let leaders: Vec<_> = world.image.topic("t").unwrap().partitions.iter().map(|p| p.leader).collect();
    assert_eq!(leaders, [1, 2, 1, 2]);
    // Topics of one partition had their leaders all on the broker with the lowest id.
    world.start = 7;
    create(&mut world, vec![wanted("u", 1, 1)]);
    assert_eq!(world.image.topic("u").unwrap().partitions[0].leader, 2);
}

fn delete(world: &mut World, request: DeleteTopicsRequest) -> Vec<(i16, Option<String>, Option<String>)> {
    match world.ask(ControllerRequest::DeleteTopics(request)) {
        ControllerReply::DeleteTopics(response) => {
            let text = |text: Option<Str>| text.map(|text| text.to_string());
            response
                .responses
                .into_iter()
                .map(|r| (r.error_code, text(r.name), text(r.error_message)))
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

/// The first of the two was deleted.
#[test]
fn a_topic_named_twice_isnt_deleted() {
    let mut world = World::new();
    let created = create(&mut world, ["a", "b", "c"].map(|name| wanted(name, 1, 1)).to_vec());
    let ids: Vec<_> = created.iter().map(|result| result.topic_id).collect();
    let topics = vec![by_name("a"), by_id(ids[1]), by_name("b"), by_name("a"), by_name("c")];
    let both = "The provided topic name maps to an ID that was already supplied.".to_string();
    assert_eq!(
        delete(&mut world, DeleteTopicsRequest { topics, ..Default::default() }),
        [
            (42, Some("a".into()), Some("Duplicate topic name.".into())),
            (42, Some("b".into()), Some(both)),
            (0, Some("c".into()), None)
        ]
    );
    let topics = vec![by_id(ids[0]), by_id(ids[0])];
    let twice = (42, None, Some("Duplicate topic id.".into()));
    assert_eq!(delete(&mut world, DeleteTopicsRequest { topics, ..Default::default() }), [twice]);
    let topic_names = vec!["b".into(), "b".into()];
    let twice = (42, Some("b".into()), Some("Duplicate topic name.".into()));
    assert_eq!(delete(&mut world, DeleteTopicsRequest { topic_names, ..Default::default() }), [twice]);
    assert_eq!(world.image.topic_count(), 2);
}

fn by_name(name: &str) -> DeleteTopicState {
    DeleteTopicState { name: Some(Str::from(name)), ..Default::default() }
}

fn by_id(topic_id: Uuid) -> DeleteTopicState {
    DeleteTopicState { topic_id, ..Default::default() }
}

#[test]
fn topics_are_deleted_by_name_and_by_id() {
    let mut world = World::new();
    let created = create(&mut world, ["a", "b", "c", "d"].map(|name| wanted(name, 1, 1)).to_vec());
    let ids: Vec<_> = created.iter().map(|result| result.topic_id).collect();
    let request = DeleteTopicsRequest { topics: vec![by_name("a"), by_id(ids[1])], ..Default::default() };
    assert_eq!(delete(&mut world, request), [(0, Some("a".into()), None), (0, Some("b".into()), None)]);
    let old = DeleteTopicsRequest { topic_names: vec!["c".into()], ..Default::default() };
    assert_eq!(delete(&mut world, old), [(0, Some("c".into()), None)]);
    assert_eq!(world.image.topic_count(), 1);
}

#[test]
fn what_cannot_be_deleted() {
    let mut world = World::new();
    let id = create(&mut world, vec![wanted("a", 1, 1)])[0].topic_id;
    let topics = vec![
        by_name("gone"),
        by_id(Uuid([9; 16])),
        by_id(Uuid::ZERO),
        DeleteTopicState { topic_id: id, ..by_name("a") },
        by_name("gone"),
    ];
    let results = delete(&mut world, DeleteTopicsRequest { topics, ..Default::default() });
    let codes: Vec<_> = results.iter().map(|result| result.0).collect();
    assert_eq!(codes, [42, 42, 42, 100]);
    assert_eq!(world.image.topic_count(), 1);
    world.decider.topics.delete_enable = false;
    let request = DeleteTopicsRequest { topics: vec![by_name("a")], ..Default::default() };
    assert_eq!(delete(&mut world, request)[0].0, 73);
}
