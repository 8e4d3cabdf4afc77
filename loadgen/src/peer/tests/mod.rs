//! Tests of what is decided before a Kafka starts. That one starts, serves and is gone afterwards is a check of
//! the runner's (`tests/clients/compare.py`): it needs Java.

use crate::peer::config::parse_heap;
use crate::peer::jars::{holds_kafka, java_version};
use crate::peer::kafka::{cluster_id, is_empty_dir};
use crate::peer::{KAFKA_VERSION, KafkaConfig, default_heap_bytes};

#[test]
fn heaps() {
    assert_eq!(parse_heap("4g"), Ok(4 << 30));
    assert_eq!(parse_heap("512M"), Ok(512 << 20));
    assert_eq!(parse_heap("1048576k"), Ok(1 << 30));
    for bad in ["", "4", "g", "1.5g", "64m", "4gg", "99999999999999999999g", "-1g"] {
        assert!(parse_heap(bad).is_err(), "{bad:?}");
    }
    let heap = default_heap_bytes().unwrap();
    assert!((1 << 30..=6 << 30).contains(&heap) && heap.is_multiple_of(1 << 30), "{heap}");
}

#[test]
fn the_version_named_here_is_the_pom_s() {
    let pom = include_str!("../../../../tests/kafka/pom.xml");
    assert!(pom.contains(&format!("<kafka.version>{KAFKA_VERSION}</kafka.version>")));
    assert!(!holds_kafka(std::path::Path::new("/nowhere")));
}

#[test]
fn java_says_its_version_in_several_ways() {
    let new = "openjdk version \"17.0.9\" 2023-10-17\nOpenJDK Runtime Environment";
    assert_eq!((java_version(new), java_version("openjdk version \"21\" 2023-09-19")), (Some(17), Some(21)));
    assert_eq!((java_version("java version \"1.8.0_301\""), java_version("nothing")), (Some(1), None));
}

#[test]
fn cluster_ids_are_22_signs_and_never_the_same() {
    let ids: Vec<String> = (0..1000).map(|_| cluster_id()).collect();
    for id in &ids {
        assert_eq!(id.len(), 22);
        assert!(
            id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') && !id.starts_with('-')
        );
        // What is left of the last sign's six bits is zero, or Java's decoder refuses it.
        assert!("AQgw".contains(&id[21..]), "{id}");
    }
    let different: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!(different.len(), ids.len());
}

#[test]
fn settings_name_ports_directory_and_heap() {
    let config = KafkaConfig {
        dir: "/data/k".into(),
        host: "127.0.0.1".into(),
        port: 9_192,
        controller_port: 9_193,
        heap_bytes: 3 << 30,
        cores: None,
    };
    let text = config.properties();
    for line in [
        "listeners=PLAINTEXT://127.0.0.1:9192,CONTROLLER://127.0.0.1:9193",
        "log.dirs=/data/k/log",
        "controller.quorum.bootstrap.servers=127.0.0.1:9193",
        "socket.send.buffer.bytes=-1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    let options = config.java_options(std::path::Path::new("/data/k/log4j2.xml"));
    assert!(options.contains(&"-Xms3072m".to_owned()) && options.contains(&"-Xmx3072m".to_owned()));
    assert!(!is_empty_dir(std::path::Path::new("/proc")) && is_empty_dir(std::path::Path::new("/nowhere")));
}
