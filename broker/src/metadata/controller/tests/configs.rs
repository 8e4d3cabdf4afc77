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
const METRICS: i8 = 16;
const GROUP: i8 = 32;

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
        (TOPIC, "", vec![set("retention.ms", "1")], 42),
        (TOPIC, "bad name!", vec![set("retention.ms", "1")], 17),
        (TOPIC, "t", vec![set("min.compaction.lag.ms", "2"), set("max.compaction.lag.ms", "1")], 40),
        (TOPIC, "t", vec![set("retention.ms", "-2")], 40),
        (TOPIC, "t", vec![op(2, "retention.ms", Some("1"))], 40),
        (TOPIC, "t", vec![op(0, "retention.ms", None)], 42),
        (TOPIC, "t", vec![op(9, "retention.ms", Some("1"))], 42),
        (TOPIC, "t", vec![set("retention.ms", "1"), set("retention.ms", "2")], 42),
        (BROKER, "1", vec![set("node.id", "5")], 42),
        (BROKER, "01", vec![set("message.max.bytes", "5")], 42),
        (BROKER, "x", vec![set("message.max.bytes", "5")], 42),
        (BROKER, "7", vec![set("message.max.bytes", "5")], 102),
        (BROKER, "1", vec![set("message.max.bytes", "-5")], 42),
        (BROKER, "1", vec![op(2, "message.max.bytes", Some("5"))], 40),
        (BROKER, "1", vec![op(2, "no.such", Some("5"))], 40),
        // Only a broker itself has a rack, a keystore and the like.
        (BROKER, "", vec![set("sasl.jaas.config", "x")], 42),
        (BROKER, "", vec![set("listener.name.plaintext.ssl.keystore.location", "/x")], 42),
        (GROUP, "", vec![set("consumer.session.timeout.ms", "50000")], 42),
        (GROUP, "g", vec![set("no.such", "1")], 40),
        (GROUP, "g", vec![set("consumer.session.timeout.ms", "1")], 40),
        (GROUP, "g", vec![set("share.auto.offset.reset", "by_duration:1h")], 40),
        (GROUP, "g", vec![set("streams.num.standby.replicas", "3")], 40),
        (METRICS, "", vec![set("interval.ms", "1000")], 42),
        (METRICS, "m", vec![set("no.such", "1")], 42),
        (METRICS, "m", vec![set("interval.ms", "99")], 42),
        (METRICS, "m", vec![set("interval.ms", "soon")], 40),
        (METRICS, "m", vec![set("match", "colour=red")], 40),
        (METRICS, "m", vec![set("match", "client_id=(")], 40),
        (METRICS, "m", vec![op(2, "metrics", Some("a"))], 40),
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
fn what_may_be_done_to_unknown_and_unset_names() {
    let mut world = world();
    // Whatever isn't set may be unset, and brokers take names that only plug-ins know.
    for (kind, name, op) in [
        (TOPIC, "t", op(1, "no.such", None)),
        (BROKER, "1", op(1, "node.id", None)),
        (BROKER, "1", op(0, "no.such", Some("1"))),
        (BROKER, "1", op(0, "listener.name.plaintext.ssl.keystore.location", Some("/x"))),
        (TOPIC, "t", op(0, "cleanup.policy", Some(" compact , compact "))),
    ] {
        assert_eq!(alter(&mut world, kind, name, vec![op.clone()]), (0, String::new()), "{op:?}");
    }
}

#[test]
fn groups_and_client_metrics_keep_theirs() {
    let mut world = world();
    let set = |name, text| op(0, name, Some(text));
    assert_eq!(alter(&mut world, GROUP, "g", vec![set("consumer.session.timeout.ms", "50000")]).0, 0);
    assert_eq!(
        alter(&mut world, GROUP, "g", vec![set("share.auto.offset.reset", "by_duration:P1DT2H3.5S")]).0,
        0
    );
    assert_eq!(
        alter(&mut world, METRICS, "m", vec![set("match", "client_id=a.*,client_software_name=b[(]")]).0,
        0
    );
    assert_eq!(world.image.configs(GROUP, "g").map(std::collections::BTreeMap::len), Some(2));
    assert_eq!(world.image.configured(METRICS).map(Str::as_str).collect::<Vec<_>>(), ["m"]);
    // The bounds are the broker's, as they are now.
    assert_eq!(
        alter(&mut world, BROKER, "", vec![set("group.consumer.assignment.interval.ms", "2000")]).0,
        0
    );
    alter(&mut world, METRICS, "m", vec![op(1, "match", None)]);
    assert_eq!(world.image.configured(METRICS).count(), 0);
}

#[test]
fn a_topic_takes_what_was_set_on_its_broker() {
    let mut world = world();
    alter(&mut world, BROKER, "", vec![op(0, "log.cleanup.policy", Some("compact"))]);
    assert_eq!(alter(&mut world, TOPIC, "t", vec![op(2, "cleanup.policy", Some("delete"))]).0, 0);
    assert_eq!(value(&world, "cleanup.policy").as_deref(), Some("compact,delete"));
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
fn what_stands_in_for_topics_follows_their_rules() {
    let mut world = world();
    let (code, text) = alter(&mut world, BROKER, "", vec![op(0, "log.flush.interval.ms", Some("-1"))]);
    assert_eq!(code, 42);
    assert_eq!(text, "Invalid value -1 for configuration log.flush.interval.ms: Value must be at least 0");
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
