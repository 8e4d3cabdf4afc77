//! What is set on topics, and what holds for them.

use protocol::types::Str;

use crate::config::topic::{CompressionType, Overrides, check, check_all, check_stand_in, describe};
use crate::config::values::Layer;
use crate::config::{BrokerValues, Source, TopicConfig};

fn set(pairs: &[(&str, &str)]) -> Overrides {
    pairs.iter().map(|(name, text)| (Str::from(*name), Str::from(*text))).collect()
}

fn broker(pairs: &[(&str, &str)]) -> BrokerValues {
    BrokerValues::new(
        pairs.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect::<Layer>(),
    )
}

#[test]
fn the_topic_beats_the_broker_beats_the_default() {
    let values = broker(&[("log.segment.bytes", "2097152"), ("compression.type", "lz4")]);
    let config = TopicConfig::resolve(&set(&[("segment.bytes", "4194304")]), &values);
    assert_eq!((config.segment_bytes, config.compression), (4_194_304, CompressionType::Lz4));
    assert_eq!((config.max_message_bytes, config.segment_index_bytes), (1_048_588, 10_485_760));
    let none = TopicConfig::resolve(&set(&[]), &values);
    assert_eq!(none.segment_bytes, 2_097_152);
    let internal = TopicConfig::resolve(&set(&[("internal.segment.bytes", "100")]), &values);
    assert_eq!(internal.segment_bytes, 100);
}

#[test]
fn the_first_synonym_that_is_set_wins() {
    let hours = ("log.retention.hours", "2");
    let minutes = ("log.retention.minutes", "3");
    let ms = ("log.retention.ms", "4");
    let retention = |pairs: &[_]| TopicConfig::resolve(&set(&[]), &broker(pairs)).retention_ms;
    assert_eq!(retention(&[]), Some(604_800_000));
    assert_eq!(retention(&[hours]), Some(7_200_000));
    assert_eq!(retention(&[hours, minutes]), Some(180_000));
    assert_eq!(retention(&[hours, minutes, ms]), Some(4));
    assert_eq!(retention(&[("log.retention.hours", "-5")]), None);
    let flush = broker(&[("log.flush.scheduler.interval.ms", "9")]);
    assert_eq!(TopicConfig::resolve(&set(&[]), &flush).flush_ms, 9);
}

#[test]
fn stand_ins_follow_the_topics_rules() {
    let check = |name, text| check_stand_in(name, text).map_err(|error| error.to_string());
    let text = "Invalid value -1 for configuration log.flush.interval.ms: Value must be at least 0";
    assert_eq!(check("log.flush.interval.ms", "-1"), Err(text.into()));
    assert!(check("log.roll.hours", "-1").is_err());
    assert_eq!(check("log.retention.hours", "-7"), Ok(()), "for ever");
    assert_eq!(check("log.retention.ms", "-7"), Ok(()));
    assert_eq!(check("num.partitions", "-7"), Ok(()), "stands in for nothing");
}

#[test]
fn policies() {
    let policies = |text| {
        let config = TopicConfig::resolve(&set(&[("cleanup.policy", text)]), &broker(&[]));
        (config.compact, config.delete)
    };
    assert_eq!(policies("compact"), (true, false));
    assert_eq!(policies("delete,compact"), (true, true));
    assert_eq!(policies(""), (false, false));
}

#[test]
fn described_values_have_sources() {
    let values = broker(&[("log.roll.hours", "1")]);
    let all = describe(&set(&[("flush.ms", "5")]), &values);
    let of = |name| all.iter().find(|described| described.name == name).unwrap();
    assert_eq!((of("flush.ms").value.as_deref(), of("flush.ms").source), (Some("5"), Source::Topic));
    assert_eq!(
        (of("segment.ms").value.as_deref(), of("segment.ms").source),
        (Some("3600000"), Source::StaticBroker)
    );
    assert_eq!(
        (of("preallocate").value.as_deref(), of("preallocate").source),
        (Some("false"), Source::Default)
    );
    assert!(all.iter().all(|described| !described.name.starts_with("internal.")));
    assert!(all.windows(2).all(|pair| pair[0].name < pair[1].name), "sorted by name");
}

#[test]
fn what_may_not_be_set() {
    assert_eq!(check("no.such", "1").unwrap_err().to_string(), "Unknown topic config name: no.such");
    assert!(check("log.segment.bytes", "2097152").is_err(), "a broker's name isn't a topic's");
    let values = broker(&[]);
    let lags = set(&[("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "9")]);
    assert!(check_all(&lags, &values).unwrap_err().to_string().contains("min.compaction.lag.ms"));
    assert!(check_all(&set(&[("remote.storage.enable", "true")]), &values).is_err());
    assert_eq!(check_all(&set(&[("retention.ms", "-1"), ("cleanup.policy", "compact")]), &values), Ok(()));
}
