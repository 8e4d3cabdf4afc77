//! What is told, against answers of Apache Kafka 4.4.

use protocol::types::Str;

use super::*;
use crate::config::topic::Overrides;
use crate::config::values::{BrokerValues, Layer, Source};

fn values(fixed: &[(&str, &str)], one: &[(&str, &str)], all: &[(&str, &str)]) -> BrokerValues {
    let layer = |set: &[(&str, &str)]| -> Layer {
        set.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
    };
    let mut values = BrokerValues::new(layer(fixed));
    values.set_dynamic(layer(one), layer(all));
    values
}

fn set(pairs: &[(&str, &str)]) -> Overrides {
    pairs.iter().map(|(name, text)| (Str::from(*name), Str::from(*text))).collect()
}

/// Name, value and source.
type SynonymTold<'a> = (&'a str, &'a str, Source);

fn told<'a>(entries: &'a [Entry], name: &str) -> (Option<&'a str>, Source, Vec<SynonymTold<'a>>) {
    let entry = entries.iter().find(|entry| entry.name == *name).unwrap_or_else(|| panic!("no {name}"));
    let synonyms = entry.synonyms.iter();
    let synonyms =
        synonyms.map(|s| (s.name.as_str(), s.value.as_ref().map_or("", Str::as_str), s.source)).collect();
    (entry.value.as_deref(), entry.source, synonyms)
}

#[test]
fn a_topic_without_configs() {
    let all = describe_topic(&set(&[]), &values(&[], &[], &[]));
    assert_eq!(
        told(&all, "segment.bytes"),
        (Some("1073741824"), Source::Default, vec![("log.segment.bytes", "1073741824", Source::Default)])
    );
    // What stands in first has no default, so nothing is named.
    for (name, value) in
        [("retention.ms", "604800000"), ("flush.ms", "9223372036854775807"), ("segment.jitter.ms", "0")]
    {
        assert_eq!(told(&all, name), (Some(value), Source::Default, vec![]));
    }
    assert!(all.iter().all(|entry| !entry.name.starts_with("internal.") && !entry.read_only));
}

#[test]
fn a_topic_over_its_broker() {
    let broker = values(
        &[("log.retention.hours", "1")],
        &[("log.retention.ms", "9999")],
        &[("log.retention.ms", "8888")],
    );
    let all = describe_topic(
        &set(&[("cleanup.policy", " compact,compact"), ("internal.segment.bytes", "5000")]),
        &broker,
    );
    assert_eq!(
        told(&all, "retention.ms"),
        (
            Some("9999"),
            Source::DynamicBroker,
            vec![
                ("log.retention.ms", "9999", Source::DynamicBroker),
                ("log.retention.ms", "8888", Source::DynamicDefaultBroker),
                ("log.retention.hours", "1", Source::StaticBroker),
                ("log.retention.hours", "168", Source::Default),
            ]
        )
    );
    assert_eq!(told(&all, "cleanup.policy").0, Some("compact"));
    assert_eq!(told(&all, "internal.segment.bytes").1, Source::Topic);
}

#[test]
fn a_broker() {
    let all = describe_broker(&values(
        &[("num.partitions", "4"), ("ssl.keystore.password", "secret"), ("no.such", "x")],
        &[
            ("listener.name.plaintext.ssl.keystore.password", "secret"),
            ("log.cleaner.min.cleanable.ratio", "1"),
        ],
        &[("message.max.bytes", "5"), ("leader.replication.throttled.rate", "7")],
    ));
    let entry = |name: &str| all.iter().find(|entry| entry.name == *name).unwrap();
    assert_eq!(
        told(&all, "num.partitions"),
        (
            Some("4"),
            Source::StaticBroker,
            vec![("num.partitions", "4", Source::StaticBroker), ("num.partitions", "1", Source::Default)]
        )
    );
    assert!(entry("num.partitions").read_only && !entry("message.max.bytes").read_only);
    assert_eq!(told(&all, "log.cleaner.min.cleanable.ratio").0, Some("1.0"));
    assert_eq!(told(&all, "leader.replication.throttled.rate").0, Some("7"));
    assert!(
        all.iter().all(|entry| entry.name != *"unclean.leader.election.interval.ms"),
        "Kafka doesn't tell it"
    );
    for (name, kind) in
        [("ssl.keystore.password", 9), ("listener.name.plaintext.ssl.keystore.password", 9), ("no.such", 0)]
    {
        let entry = entry(name);
        assert!(entry.sensitive && entry.value.is_none() && entry.kind == kind, "{name}");
        assert!(entry.synonyms.iter().all(|synonym| synonym.value.is_none()), "{name}");
    }
}

#[test]
fn all_brokers() {
    let all =
        describe_all_brokers(&values(&[], &[("message.max.bytes", "6")], &[("message.max.bytes", "5")]));
    assert_eq!(all.len(), 1);
    assert_eq!(
        told(&all, "message.max.bytes"),
        (
            Some("5"),
            Source::DynamicDefaultBroker,
            vec![("message.max.bytes", "5", Source::DynamicDefaultBroker)]
        )
    );
}

#[test]
fn groups_and_client_metrics() {
    let broker = values(&[], &[], &[("group.consumer.assignment.interval.ms", "2000")]);
    let all = describe_group(&set(&[("consumer.session.timeout.ms", "50000")]), &broker);
    assert_eq!(
        told(&all, "consumer.session.timeout.ms"),
        (
            Some("50000"),
            Source::Group,
            vec![
                ("consumer.session.timeout.ms", "50000", Source::Group),
                ("group.consumer.session.timeout.ms", "45000", Source::Default),
            ]
        )
    );
    assert_eq!(told(&all, "consumer.assignment.interval.ms").1, Source::DynamicDefaultBroker);
    assert_eq!(
        told(&all, "share.isolation.level").2,
        [("share.isolation.level", "read_uncommitted", Source::Default)]
    );
    assert_eq!(all.len(), 21, "as many as Kafka tells");
    let all = describe_client_metrics(&set(&[("metrics", "a.b,c.d")]));
    assert_eq!(
        told(&all, "metrics"),
        (Some("a.b,c.d"), Source::ClientMetrics, vec![("metrics", "a.b,c.d", Source::ClientMetrics)])
    );
    assert_eq!(told(&all, "interval.ms"), (Some("300000"), Source::Default, vec![]));
}
