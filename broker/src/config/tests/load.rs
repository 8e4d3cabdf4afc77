//! Precedence, warnings, refusals, typed values.

use std::path::PathBuf;

use crate::config::listener::Listener;
use crate::config::{BrokerConfig, ConfigErrors, Inputs, Loaded, Source, Warning, load};

fn inputs(file: &str) -> Inputs {
    Inputs {
        file: Some(("server.properties".into(), file.into())),
        host_name: "box".into(),
        ..Inputs::default()
    }
}

fn loaded(file: &str) -> Loaded {
    load(inputs(file)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn refused(file: &str) -> String {
    load(inputs(file)).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn defaults_serve_a_lone_broker() {
    let config = BrokerConfig::default();
    assert_eq!((config.node_id, config.listeners[0].to_string()), (1, "PLAINTEXT://127.0.0.1:9092".into()));
    assert_eq!(config.advertised_listeners, config.listeners);
    assert_eq!(
        (config.log_dirs, config.metadata_log_dir),
        (vec![PathBuf::from("data")], PathBuf::from("data"))
    );
    assert!(config.topics.auto_create && config.ringlog.direct_io && config.topic_defaults.acks_all_sync);
    assert_eq!((config.ringlog.shards, config.ringlog.memory_max_bytes), (None, None));
    assert_eq!(config.ringlog.cache_max_bytes, None);
    assert_eq!(config.offsets_topic.replication_factor, None);
    assert_eq!(config.network.request_max_bytes, 104_857_600);
    assert_eq!(config.groups.offsets_retention_ms, 604_800_000);
}

#[test]
fn flags_beat_overrides_beat_the_file() {
    let mut inputs = inputs("num.partitions=2\nlog.dirs=file\nlog.segment.bytes=2097152\nnum.partitions=3");
    inputs.overrides =
        vec![("log.dirs".into(), "override".into()), ("log.segment.bytes".into(), "3145728".into())];
    let config = load(inputs.with_data_dir("flag".as_ref())).unwrap().config;
    assert_eq!(config.topics.num_partitions, 3);
    assert_eq!(config.topic_defaults.segment_bytes, 3_145_728);
    assert_eq!(config.log_dirs, [PathBuf::from("flag")]);
    assert_eq!(config.values.get("log.dirs"), Some(("flag", Source::StaticBroker)));
    assert_eq!(config.values.get("log.dir"), Some(("data", Source::Default)));
    assert_eq!(config.values.get("broker.rack"), None);
}

#[test]
fn listen_replaces_what_the_file_advertises() {
    let file = "listeners=PLAINTEXT://:9092\nadvertised.listeners=PLAINTEXT://old:9092";
    let config = load(inputs(file).with_listen("127.0.0.1:0")).unwrap().config;
    assert_eq!(config.advertised_listeners[0].to_string(), "PLAINTEXT://127.0.0.1:0");
    assert_eq!(loaded(file).config.advertised_listeners[0].to_string(), "PLAINTEXT://old:9092");
}

#[test]
fn dynamic_values_beat_static_ones() {
    let mut values = loaded("message.max.bytes=1000").config.values;
    let layer = |text: &str| [("message.max.bytes".to_string(), text.to_string())].into();
    assert_eq!(values.get("message.max.bytes"), Some(("1000", Source::StaticBroker)));
    values.set_dynamic(Default::default(), layer("2000"));
    assert_eq!(values.get("message.max.bytes"), Some(("2000", Source::DynamicDefaultBroker)));
    values.set_dynamic(layer("3000"), layer("2000"));
    assert_eq!(values.get("message.max.bytes"), Some(("3000", Source::DynamicBroker)));
}

#[test]
fn what_does_nothing_is_warned_of() {
    let file = "num.io.threads=8\nno.such.name=1\nlistener.name.x.ssl.key.password=p\n\
                leader.replication.throttled.rate=1\nnum.partitions=1";
    let warnings: Vec<_> = loaded(file).warnings;
    let texts: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "config leader.replication.throttled.rate has no effect: it can only be set on a running broker",
            "config listener.name.x.ssl.key.password has no effect: listeners have no configs of their own yet",
            "unknown config no.such.name is ignored",
            "config num.io.threads has no effect: one thread per core does all work, there are no thread pools to size",
        ]
    );
    assert!(warnings.contains(&Warning::Unknown("no.such.name".into())));
}

#[test]
fn all_bad_values_are_told_at_once() {
    let text = refused("num.partitions=0\nlog.cleanup.policy=shred\nssl.key.password=ok");
    assert_eq!(
        text,
        "Invalid value shred for configuration log.cleanup.policy: String must be one of: compact, delete\n\
                      Invalid value 0 for configuration num.partitions: Value must be at least 1"
    );
    let text =
        refused("log.dirs=a,,b\nlisteners=x\ngroup.min.session.timeout.ms=2\ngroup.max.session.timeout.ms=1");
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn syntax_errors_name_file_and_line() {
    assert!(refused("a=1\nb=\\uxxxx").starts_with("server.properties, line 2: "));
    let missing = Inputs::default().with_file("/nonexistent/x".as_ref()).unwrap_err().to_string();
    assert!(missing.starts_with("/nonexistent/x: "), "{missing}");
}

#[test]
fn listeners_of_a_kraft_sample_file() {
    let config = loaded(
        "process.roles=broker,controller\nnode.id=7\ncontroller.quorum.voters=7@localhost:9093\n\
         listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n\
         advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n\
         listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL\n\
         log.dirs=/a, /b\n",
    )
    .config;
    assert_eq!(config.node_id, 7);
    assert_eq!(config.listeners, [Listener { name: "PLAINTEXT".into(), host: String::new(), port: 9092 }]);
    assert_eq!(config.advertised_listeners[0].to_string(), "PLAINTEXT://localhost:9092");
    assert_eq!(config.log_dirs, [PathBuf::from("/a"), PathBuf::from("/b")]);
}

#[test]
fn all_log_directories_are_used() {
    let loaded = loaded("log.dirs=/a, /b");
    assert_eq!((loaded.config.log_dirs.len(), loaded.warnings.len()), (2, 0));
}

/// These started, with a warning: an open broker where an authorizer was asked for, clusters of one node each instead of one.
#[test]
fn what_would_be_another_broker_than_was_asked_for_doesnt_start() {
    for (bad, why) in [
        ("authorizer.class.name=org.x.A\nsuper.users=User:admin", "every client could do everything"),
        ("process.roles=broker", "cluster of its own"),
        ("process.roles=controller", "cluster of its own"),
        ("node.id=2\ncontroller.quorum.voters=1@a:9093,2@b:9093,3@c:9093", "without node 1"),
        ("controller.quorum.voters=a:9093", "a:9093 is no ID@HOST:PORT"),
        ("controller.quorum.bootstrap.servers=a:9093,b:9093", "cluster of its own"),
    ] {
        let text = refused(bad);
        assert!(text.contains(why), "{bad}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    loaded("super.users=User:admin");
    loaded("process.roles=controller,broker\ncontroller.quorum.bootstrap.servers=localhost:9093");
    loaded("node.id=7\ncontroller.quorum.voters=7@localhost:9093");
}

/// It was taken, and refused when the first group came, for ever.
#[test]
fn an_offsets_topic_that_cant_be_created_is_told_of_at_start() {
    let text = refused("offsets.topic.segment.bytes=1000");
    assert_eq!(
        text,
        "Invalid value 1000 for configuration offsets.topic.segment.bytes: Value must be at least 1048576"
    );
    assert!(refused("offsets.topic.num.partitions=10000").contains("no more than 9000"));
    assert!(refused("log.flush.interval.ms=-1").contains("at least 0"));
}

#[test]
fn listeners_that_make_no_sense() {
    for bad in [
        "listeners=",
        "listeners=PLAINTEXT:9092",
        "listeners=PLAINTEXT://h:65536",
        "listeners=PLAINTEXT://h:-1",
        "listeners=PLAINTEXT://h h:1",
        "listeners=PLAINTEXT://a:1,PLAINTEXT://b:2",
        "listeners=PLAINTEXT://a:1,OTHER://a:1\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT",
        "listeners=OTHER://a:1",
        "listeners=SSL://a:1",
        "listeners=PLAINTEXT://0.0.0.0:9092",
        "listeners=PLAINTEXT://[::]:9092",
        "advertised.listeners=OTHER://a:1",
        "listeners=C://a:1\ncontroller.listener.names=C",
        "node.id=1\nbroker.id=2",
        "broker.id=-1",
        "log.dirs=a,a",
        "log.dirs=",
    ] {
        assert!(load(inputs(bad)).is_err(), "{bad}");
    }
    let text = refused("listeners=SSL://a:1");
    assert_eq!(
        text,
        "Invalid value SSL://a:1 for configuration listeners: only PLAINTEXT is served so far, SSL is SSL"
    );
}

#[test]
fn hosts_of_listeners() {
    let config = loaded("listeners=PLAINTEXT://:1,v6://[::1]:2\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,V6:PLAINTEXT").config;
    assert_eq!(config.advertised_listeners[0].to_string(), "PLAINTEXT://box:1");
    assert_eq!(config.advertised_listeners[1].host, "::1");
    assert_eq!(config.listeners[1].to_string(), "V6://[::1]:2");
}

#[test]
fn an_old_broker_id_is_taken() {
    assert_eq!(loaded("broker.id=4").config.node_id, 4);
    assert_eq!(loaded("broker.id=4\nnode.id=4").config.node_id, 4);
}

#[test]
fn values_that_act_are_typed() {
    let config = loaded(
        "ringlog.shards=2\nringlog.direct.io=false\nringlog.produce.validation=header\nringlog.memory.max.bytes=4096\n\
         offsets.topic.replication.factor=3\nconnections.max.idle.ms=-1\nbroker.rack= r1\n\
         metadata.log.dir=/m\nlog.retention.minutes=2\nlog.roll.hours=3\nringlog.acks.all.sync=false",
    )
    .config;
    let ringlog = &config.ringlog;
    assert_eq!(ringlog.engine, rt::Engine::Ring);
    assert_eq!((ringlog.shards, ringlog.direct_io, ringlog.memory_max_bytes), (Some(2), false, Some(4096)));
    assert_eq!(config.offsets_topic.replication_factor, Some(3));
    assert_eq!(config.network.connections_max_idle, None);
    assert_eq!((config.rack.as_deref(), config.metadata_log_dir), (Some("r1"), "/m".into()));
    let defaults = &config.topic_defaults;
    assert_eq!((defaults.retention_ms, defaults.segment_ms), (Some(120_000), 10_800_000));
    assert!(!defaults.acks_all_sync);
    let config = loaded(
        "ringlog.io.engine=glommio\nringlog.journal.bytes=1000000\nringlog.journal.direct.bytes=8192\nringlog.journal.max.age.ms=250",
    );
    let ringlog = config.config.ringlog;
    assert_eq!(ringlog.engine, rt::Engine::Glommio);
    assert_eq!((ringlog.journal_bytes, ringlog.journal_direct_bytes), (1_000_000, 8_192));
    assert_eq!(ringlog.journal_age_max, std::time::Duration::from_millis(250));
}

#[test]
fn no_fault_no_text() {
    assert_eq!(ConfigErrors::default().to_string(), "");
}

#[test]
fn the_admin_endpoint_is_off_unless_it_has_an_address() {
    assert_eq!(BrokerConfig::default().ringlog.admin_listen, None);
    assert_eq!(loaded("ringlog.admin.listen=  ").config.ringlog.admin_listen, None);
    for (text, host, port) in
        [("127.0.0.1:9644", "127.0.0.1", 9644), ("[::1]:0", "::1", 0), (":9644", "", 9644)]
    {
        let listen = loaded(&format!("ringlog.admin.listen={text}")).config.ringlog.admin_listen.unwrap();
        assert_eq!((listen.host.as_str(), listen.port), (host, port), "{text}");
    }
    for text in ["9644", "localhost", "localhost:", "localhost:70000", "a b:1", "http://localhost:9644/"] {
        let refusal = refused(&format!("ringlog.admin.listen={text}"));
        let wanted =
            format!("Invalid value {text} for configuration ringlog.admin.listen: must be HOST:PORT");
        assert!(refusal.starts_with(&wanted), "{refusal}");
    }
}
