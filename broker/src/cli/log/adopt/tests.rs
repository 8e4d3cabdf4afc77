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

#[test]
fn an_adoption_that_was_cut_short_goes_on() {
    for moves in [false, true] {
        let kafka = Kafka::new();
        fs::create_dir_all(kafka.data("t-0.adopting")).unwrap();
        fs::write(kafka.data("t-0.adopting/00000000000000000000.log"), "half").unwrap();
        fs::write(kafka.data("ringlog-adopting"), "node.id=5\ncluster.id=other\n").unwrap();
        assert!(kafka.refusal(&kafka.args()).contains("adoption of another node"));
        fs::write(kafka.data("ringlog-adopting"), "node.id=5\ncluster.id=c\n").unwrap();
        if moves {
            fs::rename(kafka.path("t-1"), kafka.data("t-1")).unwrap();
        }
        adopt(&AdoptArgs { moves, ..kafka.args() }).unwrap();
        kafka.is_whole();
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
