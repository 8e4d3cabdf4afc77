//! AlterConfigs and IncrementalAlterConfigs.

use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use protocol::messages::{
    AlterConfigsRequest, CreateTopicsRequest, IncrementalAlterConfigsRequest, alter_configs_request,
};
use protocol::types::Str;

use super::*;

const TOPIC: i8 = 2;
const BROKER: i8 = 4;

fn world() -> World {
    let mut world = World::new();
    let topic =
        CreatableTopic { name: "t".into(), num_partitions: 1, replication_factor: 1, ..Default::default() };
    world.ask(ControllerRequest::CreateTopics(CreateTopicsRequest {
        topics: vec![topic],
        ..Default::default()
    }));
    world
}

fn op(config_operation: i8, name: &str, value: Option<&str>) -> AlterableConfig {
    AlterableConfig {
        name: Str::from(name),
        config_operation,
        value: value.map(Str::from),
        ..Default::default()
    }
}

fn alter(world: &mut World, kind: i8, name: &str, configs: Vec<AlterableConfig>) -> (i16, String) {
    let resource = AlterConfigsResource {
        resource_type: kind,
        resource_name: Str::from(name),
        configs,
        ..Default::default()
    };
    let request = IncrementalAlterConfigsRequest { resources: vec![resource], ..Default::default() };
    match world.ask(ControllerRequest::IncrementalAlterConfigs(request)) {
        ControllerReply::IncrementalAlterConfigs(response) => {
            let r = &response.responses[0];
            (r.error_code, r.error_message.as_ref().map(ToString::to_string).unwrap_or_default())
        }
        other => panic!("{other:?}"),
    }
}

fn value(world: &World, name: &str) -> Option<String> {
    world.image.topic("t").unwrap().configs.get(name).map(ToString::to_string)
}

#[test]
fn set_delete_append_subtract() {
    let mut world = world();
    let steps = [
        (op(0, "cleanup.policy", Some("compact")), Some("compact")),
        (op(2, "cleanup.policy", Some("delete,compact")), Some("compact,delete")),
        (op(3, "cleanup.policy", Some("compact")), Some("delete")),
        (op(1, "cleanup.policy", None), None),
        // Nothing is set: it starts from the default.
        (op(2, "cleanup.policy", Some("compact")), Some("delete,compact")),
    ];
    for (step, after) in steps {
        assert_eq!(alter(&mut world, TOPIC, "t", vec![step]).0, 0);
        assert_eq!(value(&world, "cleanup.policy").as_deref(), after);
    }
    let offset = world.image.offset;
    assert_eq!(alter(&mut world, TOPIC, "t", vec![op(0, "cleanup.policy", Some("delete,compact"))]).0, 0);
    assert_eq!(world.image.offset, offset, "what is so already makes no record");
}

#[test]
fn what_cannot_be_altered() {
    let mut world = world();
    let set = |name, text| op(0, name, Some(text));
    let cases = [
        (TOPIC, "gone", vec![set("retention.ms", "1")], 3),
        (TOPIC, "t", vec![set("no.such", "1")], 40),
        (TOPIC, "t", vec![op(1, "no.such", None)], 40),
        (TOPIC, "t", vec![set("retention.ms", "-2")], 40),
        (TOPIC, "t", vec![op(2, "retention.ms", Some("1"))], 40),
        (TOPIC, "t", vec![op(0, "retention.ms", None)], 42),
        (TOPIC, "t", vec![op(9, "retention.ms", Some("1"))], 42),
        (TOPIC, "t", vec![set("retention.ms", "1"), set("retention.ms", "2")], 42),
        (BROKER, "1", vec![set("node.id", "5")], 42),
        (BROKER, "x", vec![set("message.max.bytes", "5")], 42),
        (BROKER, "7", vec![set("message.max.bytes", "5")], 102),
        (BROKER, "1", vec![set("message.max.bytes", "-5")], 40),
        (99, "x", vec![set("a", "b")], 42),
    ];
    let before = world.image.clone();
    for (kind, name, ops, code) in cases {
        assert_eq!(alter(&mut world, kind, name, ops.clone()).0, code, "{ops:?}");
    }
    assert_eq!(world.image, before);
    let (code, text) = alter(&mut world, TOPIC, "t", vec![op(2, "retention.ms", Some("1"))]);
    assert_eq!((code, text.as_str()), (40, "Can't APPEND to key retention.ms because its type is not LIST."));
}

#[test]
fn brokers_one_and_all() {
    let mut world = world();
    assert_eq!(alter(&mut world, BROKER, "", vec![op(0, "message.max.bytes", Some("5"))]).0, 0);
    assert_eq!(alter(&mut world, BROKER, "1", vec![op(0, "message.max.bytes", Some("6"))]).0, 0);
    let (one, all) = world.image.dynamic_broker_configs(1);
    assert_eq!((one["message.max.bytes"].as_str(), all["message.max.bytes"].as_str()), ("6", "5"));
}

#[test]
fn the_old_form_replaces_everything() {
    let mut world = world();
    alter(&mut world, TOPIC, "t", vec![op(0, "retention.ms", Some("1")), op(0, "flush.ms", Some("2"))]);
    let config = alter_configs_request::AlterableConfig {
        name: "flush.ms".into(),
        value: Some("3".into()),
        ..Default::default()
    };
    let resource = alter_configs_request::AlterConfigsResource {
        resource_type: TOPIC,
        resource_name: "t".into(),
        configs: vec![config],
        ..Default::default()
    };
    let mut request =
        AlterConfigsRequest { resources: vec![resource.clone()], validate_only: true, ..Default::default() };
    world.ask(ControllerRequest::AlterConfigs(request.clone()));
    assert_eq!(value(&world, "retention.ms").as_deref(), Some("1"));
    request.validate_only = false;
    world.ask(ControllerRequest::AlterConfigs(request.clone()));
    assert_eq!((value(&world, "retention.ms"), value(&world, "flush.ms").as_deref()), (None, Some("3")));
    request.resources.push(resource);
    match world.ask(ControllerRequest::AlterConfigs(request)) {
        ControllerReply::AlterConfigs(response) => {
            assert!(response.responses.iter().all(|r| r.error_code == 42), "{response:?}");
        }
        other => panic!("{other:?}"),
    }
}
