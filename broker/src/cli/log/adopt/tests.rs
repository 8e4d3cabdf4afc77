//! Tests of what is taken over, and what is refused, with directories as Kafka leaves them.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests, on their own thread")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use protocol::internal::{
    ConfigRecord, FeatureLevelRecord, MetadataRecord, PartitionChangeRecord, PartitionRecord, TopicRecord,
};
use protocol::records::BatchBuilder;
use protocol::types::{Str, Uuid};
use rt::sim::Sim;
use tempfile::TempDir;

use super::super::tests::batch;
use super::super::verify::{Findings, check};
use super::found::Adoption;
use super::source::Source;
use super::target::Target;
use super::{AdoptArgs, adopt};
use crate::metadata::image::{Image, RESOURCE_TOPIC};
use crate::metadata::limits::METADATA_VERSION;
use crate::metadata::quorum::{Quorum, QuorumConfig};

const TOPIC: Uuid = Uuid([1; 16]);

/// A Kafka that was stopped: topic `t` with two partitions, the first of two segments; its metadata in a snapshot and a log.
struct Kafka {
    temp: TempDir,
}

fn metadata_batch(base: i64, records: &[MetadataRecord]) -> Vec<u8> {
    let mut builder = BatchBuilder::new().base_offset(base).leader_epoch(1);
    for record in records {
        builder.push(0, None, Some(&record.encode().unwrap()), &[]);
    }
    builder.build().unwrap().to_vec()
}

fn partition(partition_id: i32, replicas: Vec<i32>) -> MetadataRecord {
    let (topic_id, isr) = (TOPIC, replicas.clone());
    PartitionRecord {
        partition_id,
        topic_id,
        replicas,
        isr,
        leader: 5,
        leader_epoch: 3,
        ..Default::default()
    }
    .into()
}

impl Kafka {
    fn new() -> Self {
        let kafka = Self { temp: TempDir::new().unwrap() };
        kafka.write(
            "meta.properties",
            "#\nversion=1\nnode.id=5\ncluster.id=c\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAg\n",
        );
        kafka.write(".kafka_cleanshutdown", "{\"version\":0,\"brokerEpoch\":8}");
        kafka.write("recovery-point-offset-checkpoint", "0\n3\nt 0 8\nt 1 2\ngone 0 7\n");
        kafka.write("log-start-offset-checkpoint", "0\n1\nt 0 2\n");
        kafka.write("replication-offset-checkpoint", "0\n2\nt 0 8\nt 1 2\n");
        for dir in ["t-0", "t-1"] {
            kafka.write(&format!("{dir}/partition.metadata"), format!("version: 0\ntopic_id: {TOPIC}\n"));
            kafka.write(&format!("{dir}/leader-epoch-checkpoint"), "0\n1\n0 0\n");
        }
        kafka.write("t-0/00000000000000000000.log", [batch(0, 0), batch(2, 0), batch(4, 0)].concat());
        kafka.write("t-0/00000000000000000000.index", "");
        kafka.write("t-0/00000000000000000006.log", batch(6, 0));
        kafka.write("t-1/00000000000000000000.log", batch(0, 0));
        let version = FeatureLevelRecord {
            name: "metadata.version".into(),
            feature_level: METADATA_VERSION,
            ..Default::default()
        };
        let topic = TopicRecord { name: "t".into(), topic_id: TOPIC, ..Default::default() };
        let snapshot =
            metadata_batch(0, &[version.into(), topic.into(), partition(1, vec![5]), partition(0, vec![5])]);
        kafka.write("__cluster_metadata-0/00000000000000000009-0000000001.checkpoint", snapshot);
        let config = ConfigRecord {
            resource_type: RESOURCE_TOPIC,
            resource_name: "t".into(),
            name: "retention.ms".into(),
            value: Some("-1".into()),
            ..Default::default()
        };
        let change =
            PartitionChangeRecord { topic_id: TOPIC, partition_id: 0, leader: 5, ..Default::default() };
        // Offsets 7 and 8 are in the snapshot.
        let log =
            metadata_batch(7, &[change.clone().into(), change.clone().into(), change.into(), config.into()]);
        kafka.write("__cluster_metadata-0/00000000000000000000.log", log);
        kafka
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join("kafka").join(name)
    }

    fn data(&self, name: &str) -> PathBuf {
        self.temp.path().join("data").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn args(&self) -> AdoptArgs {
        AdoptArgs {
            dirs: vec![self.path("")],
            data_dir: self.data(""),
            metadata_dir: None,
            moves: false,
            link: false,
            without_acls: false,
            dry_run: false,
        }
    }

    fn refusal(&self, args: &AdoptArgs) -> String {
        adopt(args).unwrap_err().to_string()
    }

    /// The metadata that a broker starts with, read by the simulator from what lies in the data directory.
    fn image(&self) -> Image {
        let (sim, node) = Sim::with_node(1);
        for name in ["ringlog-raft.log", "ringlog-raft.snapshot"] {
            node.disk().put_file(format!("/data/{name}"), fs::read(self.data(name)).unwrap()).unwrap();
        }
        let config = QuorumConfig {
            dir: "/data".into(),
            node_id: 5,
            cluster_id: Str::from("c"),
            direct_io: true,
            snapshot_bytes: 1 << 20,
        };
        sim.block_on(&node, async move {
            let quorum = Quorum::open(&config, Vec::new()).await.unwrap();
            let image = quorum.image().clone();
            quorum.stop().await;
            image
        })
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.data(name)).unwrap()
    }

    fn is_whole(&self) {
        let mut findings = Findings::new(&self.data(""));
        check(&self.data(""), "data", &mut findings).unwrap();
        assert_eq!(findings.faults(), 0, "{findings:?}");
        for name in
            ["t-0/00000000000000000000.log", "t-0/00000000000000000006.log", "t-1/00000000000000000000.log"]
        {
            assert!(self.data(name).is_file(), "{name}");
        }
        assert!(!self.data("ringlog-adopting").exists());
        let image = self.image();
        let topic = image.topic("t").unwrap();
        assert_eq!((topic.id, topic.partitions.len()), (TOPIC, 2));
        assert_eq!(topic.configs.get("retention.ms").map(Str::as_str), Some("-1"));
        assert_eq!(topic.partitions[0].leader_epoch, 4, "one change behind the snapshot");
        assert_eq!(topic.partitions[1].leader_epoch, 3);
    }
}

fn inode(path: PathBuf) -> u64 {
    fs::metadata(path).unwrap().ino()
}

#[test]
fn kafkas_files_stay_and_are_copied() {
    let kafka = Kafka::new();
    let adoption = adopt(&kafka.args()).unwrap();
    assert_eq!((adoption.topics, adoption.partitions.len(), adoption.node_id), (1, 2, 5));
    kafka.is_whole();
    let (closed, active) = ("t-0/00000000000000000000.log", "t-0/00000000000000000006.log");
    for name in [closed, active] {
        assert_ne!(inode(kafka.path(name)), inode(kafka.data(name)));
        let modified = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(kafka.path(name)), modified(kafka.data(name)), "retention goes by it");
    }
    assert_eq!(kafka.text("log-start-offset-checkpoint"), "0\n1\nt 0 2\n");
    assert_eq!(kafka.text("recovery-point-offset-checkpoint"), "0\n2\nt 0 8\nt 1 2\n", "only what is here");
    let identity = kafka.text("meta.properties");
    assert!(identity.contains("node.id=5\ncluster.id=c\n") && !identity.contains("AAAAAg"), "{identity}");
    assert!(kafka.refusal(&kafka.args()).contains("isn't empty"), "not twice");
}

#[test]
fn partitions_are_linked_or_moved() {
    let kafka = Kafka::new();
    adopt(&AdoptArgs { link: true, ..kafka.args() }).unwrap();
    kafka.is_whole();
    let (closed, active) = ("t-0/00000000000000000000.log", "t-0/00000000000000000006.log");
    assert_eq!(inode(kafka.path(closed)), inode(kafka.data(closed)));
    assert_ne!(inode(kafka.path(active)), inode(kafka.data(active)), "what is written to is another file");
    let kafka = Kafka::new();
    adopt(&AdoptArgs { moves: true, ..kafka.args() }).unwrap();
    kafka.is_whole();
    assert!(!kafka.path("t-0").exists());
}

#[test]
fn partitions_of_several_directories() {
    let kafka = Kafka::new();
    let other = kafka.temp.path().join("other");
    fs::create_dir_all(&other).unwrap();
    for name in ["meta.properties", ".kafka_cleanshutdown"] {
        fs::copy(kafka.path(name), other.join(name)).unwrap();
    }
    fs::rename(kafka.path("t-1"), other.join("t-1")).unwrap();
    assert!(kafka.refusal(&kafka.args()).contains("t-1: its directory isn't here"));
    adopt(&AdoptArgs { dirs: vec![other, kafka.path("")], ..kafka.args() }).unwrap();
    kafka.is_whole();
}

/// An adoption that ends when it has brought `t-0`.
fn cut_short(kafka: &Kafka, args: &AdoptArgs) {
    let source = Source::open(args).unwrap();
    let mut target = Target::look(args, &source).unwrap();
    let adoption = Adoption::find(args, &source, &target).unwrap();
    target.begin(&source).unwrap();
    target.take(&adoption.partitions[0]).unwrap();
    assert!(kafka.data("t-0").is_dir() && !kafka.data("t-1").exists());
}

#[test]
fn an_adoption_that_was_cut_short_goes_on() {
    for moves in [false, true] {
        let kafka = Kafka::new();
        let args = AdoptArgs { moves, ..kafka.args() };
        cut_short(&kafka, &args);
        fs::create_dir_all(kafka.data("t-1.adopting")).unwrap();
        fs::write(kafka.data("t-1.adopting/00000000000000000000.log"), "half").unwrap();
        let other = kafka.refusal(&AdoptArgs { moves: !moves, ..kafka.args() });
        assert!(other.contains("go on with that"), "{other}");
        let mark = kafka.text("ringlog-adopting");
        fs::write(kafka.data("ringlog-adopting"), mark.replace("cluster.id=c", "cluster.id=other")).unwrap();
        assert!(kafka.refusal(&args).contains("adoption of another node"));
        fs::write(kafka.data("ringlog-adopting"), mark).unwrap();
        adopt(&args).unwrap();
        kafka.is_whole();
        assert_eq!(kafka.data("t-1.adopting").exists(), moves, "left alone where nothing is copied");
    }
}

/// What was copied before was taken for that of the later stop, and what was moved was to be removed.
#[test]
fn an_adoption_doesnt_go_on_when_kafka_ran_in_between() {
    for moves in [false, true] {
        let kafka = Kafka::new();
        let args = AdoptArgs { moves, ..kafka.args() };
        cut_short(&kafka, &args);
        // Kafka's mark says the same at each stop, but it is another.
        fs::remove_file(kafka.path(".kafka_cleanshutdown")).unwrap();
        kafka.write(".kafka_cleanshutdown", "{\"version\":0,\"brokerEpoch\":8}");
        let marker = fs::File::options().write(true).open(kafka.path(".kafka_cleanshutdown")).unwrap();
        marker.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(9)).unwrap();
        if moves {
            kafka.write("t-0/partition.metadata", format!("version: 0\ntopic_id: {TOPIC}\n"));
        }
        let why = kafka.refusal(&args);
        let advice = if moves { "move these back" } else { "remove " };
        assert!(why.contains("Kafka ran since") && why.contains(advice), "{why}");
        assert_eq!(why.contains("nowhere else"), moves, "{why}");
        assert!(kafka.data("t-0").is_dir(), "nothing was removed");
    }
}

#[test]
fn a_kafka_that_runs_meanwhile_is_noticed() {
    let kafka = Kafka::new();
    let source = Source::open(&kafka.args()).unwrap();
    assert!(source.is_still_stopped().unwrap());
    kafka.write("__cluster_metadata-0/00000000000000000000.log", "more than there was");
    assert!(!source.is_still_stopped().unwrap(), "the metadata log");
    let kafka = Kafka::new();
    let source = Source::open(&kafka.args()).unwrap();
    fs::remove_file(kafka.path(".kafka_cleanshutdown")).unwrap();
    assert!(!source.is_still_stopped().unwrap(), "the mark");
}

/// The first `__cluster_metadata-0` of all counted, whatever was named.
#[test]
fn the_metadata_log_is_the_one_that_was_named() {
    let kafka = Kafka::new();
    let (other, named) = (kafka.temp.path().join("other"), kafka.temp.path().join("metadata"));
    for dir in [&other, &named] {
        fs::create_dir_all(dir.join("__cluster_metadata-0")).unwrap();
        fs::copy(kafka.path("meta.properties"), dir.join("meta.properties")).unwrap();
    }
    fs::copy(kafka.path(".kafka_cleanshutdown"), other.join(".kafka_cleanshutdown")).unwrap();
    let dirs = vec![kafka.path(""), other.clone()];
    let args = AdoptArgs { dirs, ..kafka.args() };
    assert!(kafka.refusal(&args).contains("one of them is an old one"));
    // Kafka marks no stop in a directory that has the metadata alone.
    let with_named = AdoptArgs { metadata_dir: Some(named.clone()), ..args };
    assert!(kafka.refusal(&with_named).contains("no metadata"), "{}", kafka.refusal(&with_named));
    let log = "__cluster_metadata-0";
    fs::remove_dir(named.join(log)).unwrap();
    assert!(kafka.refusal(&with_named).contains("there is no __cluster_metadata-0 in it"));
    fs::rename(kafka.path(log), named.join(log)).unwrap();
    let below = AdoptArgs { data_dir: named.join("data"), ..with_named.clone() };
    assert!(kafka.refusal(&below).contains("lies in a directory of Kafka's"));
    let lock = fs::File::create(named.join(".lock")).unwrap();
    lock.lock().unwrap();
    assert!(kafka.refusal(&with_named).contains("running broker"));
    drop(lock);
    let text = fs::read_to_string(named.join("meta.properties")).unwrap();
    fs::write(named.join("meta.properties"), text.replace("cluster.id=c", "cluster.id=d")).unwrap();
    assert!(kafka.refusal(&with_named).contains("isn't of node 5 of cluster c"));
    fs::write(named.join("meta.properties"), text).unwrap();
    adopt(&with_named).unwrap();
    kafka.is_whole();
}

/// A directory that isn't there yet was taken as it was written.
#[test]
fn a_data_directory_lies_in_kafkas_also_by_another_name() {
    let kafka = Kafka::new();
    let link = kafka.temp.path().join("link");
    std::os::unix::fs::symlink(kafka.path(""), &link).unwrap();
    for data_dir in [link.join("new"), link.join("new/below"), kafka.data("no/../../kafka/new")] {
        let why = kafka.refusal(&AdoptArgs { data_dir: data_dir.clone(), ..kafka.args() });
        assert!(why.contains("lies in a directory of Kafka's"), "{}: {why}", data_dir.display());
    }
}

#[test]
fn nothing_is_made_of_what_isnt_a_stopped_kafkas() {
    let kafka = Kafka::new();
    let with = |change: &dyn Fn(&Kafka), what: &str| {
        let kafka = Kafka::new();
        change(&kafka);
        let why = kafka.refusal(&kafka.args());
        assert!(why.contains(what), "{what}: {why}");
        assert!(!kafka.data("").exists(), "{what}");
    };
    with(&|kafka| fs::remove_file(kafka.path(".kafka_cleanshutdown")).unwrap(), "wasn't stopped cleanly");
    with(&|kafka| kafka.write("ringlog-start", ""), "Ringlog's own");
    with(&|kafka| fs::remove_file(kafka.path("meta.properties")).unwrap(), "no log directory of Kafka's");
    with(&|kafka| kafka.write("meta.properties", "version=0\n"), "only Kafka 4's");
    with(&|kafka| fs::remove_dir_all(kafka.path("__cluster_metadata-0")).unwrap(), "--metadata-dir");
    with(&|kafka| fs::remove_dir_all(kafka.path("t-1")).unwrap(), "t-1: its directory isn't here");
    with(
        &|kafka| kafka.write("t-1/partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAg\n"),
        "is of topic",
    );
    with(
        &|kafka| {
            kafka.write(
                "t-1/00000000000000000000.log",
                [0; 16].iter().chain(&[1; 60]).copied().collect::<Vec<u8>>(),
            )
        },
        "format 1",
    );
    with(&|kafka| kafka.write("t-1/00000000000000000000.log.swap", ""), "a compaction isn't finished");
    let log = "__cluster_metadata-0/00000000000000000000.log";
    with(
        &|kafka| kafka.write(log, metadata_batch(10, &[partition(0, vec![4])])),
        "lies on other nodes ([4])",
    );
    let behind = PartitionRecord {
        topic_id: TOPIC,
        partition_id: 0,
        replicas: vec![4, 5],
        isr: vec![4],
        ..Default::default()
    };
    with(
        &|kafka| kafka.write(log, metadata_batch(10, &[behind.clone().into()])),
        "node 5 isn't in sync ([4] are)",
    );
    with(&|kafka| kafka.write(log, "damaged"), "damaged at 0");
    let begun = |kafka: &Kafka| {
        fs::rename(kafka.path(log), kafka.path("__cluster_metadata-0/00000000000000000011.log")).unwrap()
    };
    with(&begun, "begins behind offset 9");
    let lock = fs::File::create(kafka.path(".lock")).unwrap();
    lock.lock().unwrap();
    assert!(kafka.refusal(&kafka.args()).contains("running broker"));
    drop(lock);
    assert!(
        kafka
            .refusal(&AdoptArgs { data_dir: kafka.path("below"), ..kafka.args() })
            .contains("lies in a directory of Kafka's")
    );
    fs::create_dir_all(kafka.data("something")).unwrap();
    assert!(kafka.refusal(&kafka.args()).contains("isn't empty"));
}

#[test]
fn access_control_is_not_dropped_in_silence() {
    let kafka = Kafka::new();
    let acl =
        bytes::Bytes::from([&b"\x01\x12\0"[..], &[3; 16], b"\x02\x02t\x03\x02p\x02h\x03\x03\0"].concat());
    let mut builder = BatchBuilder::new().base_offset(9).leader_epoch(1);
    builder.push(0, None, Some(&acl), &[]);
    kafka.write("__cluster_metadata-0/00000000000000000000.log", builder.build().unwrap());
    assert!(kafka.refusal(&kafka.args()).contains("1 access control entries"));
    let adoption = adopt(&AdoptArgs { without_acls: true, ..kafka.args() }).unwrap();
    assert_eq!(adoption.untaken.acls.len(), 1);
}
