//! A coordinator over a real log on a simulated disk.

use std::rc::Rc;

use futures_util::future::join_all;
use protocol::messages::OffsetCommitRequest;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::types::{Str, Uuid};
use rt::sim::Sim;
use shards::{Partition, PartitionKey};
use storage::{DirHome, HomeConfig, LeaderEpoch, LogConfig, LogDir, LogDirConfig, TopicPartition};

use super::clock::ShardClock;
use super::log::PartitionLog;
use crate::group::coordinator::Phase;
use crate::group::{GroupConfig, GroupCoordinator, GroupReply, GroupRequest, TopicLookup};

const TOPIC_ID: Uuid = Uuid([3; 16]);
/// Commits at the same moment; together more than a file's first space, so that it grows under them.
const COMMITS: i32 = 1000;

struct Orders;

impl TopicLookup for Orders {
    fn topic_id(&self, _name: &str) -> Option<Uuid> {
        Some(TOPIC_ID)
    }

    fn topic_name(&self, _id: Uuid) -> Option<Str> {
        Some(Str::from_static("orders"))
    }

    fn partitions(&self, _id: Uuid) -> i32 {
        COMMITS
    }
}

async fn open_partition(exists: bool) -> (LogDir, Rc<Partition>) {
    let home = HomeConfig { node_id: 1, cluster_id: None };
    let (_home, facts) = DirHome::open("/data", home).await.unwrap();
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
    let name = TopicPartition::new("__consumer_offsets", 0);
    let log = match exists {
        true => dir.open_log(name, LogConfig::default()).await.unwrap(),
        false => dir.create_log(name, TOPIC_ID, LogConfig::default()).await.unwrap(),
    };
    let key = PartitionKey { topic_id: TOPIC_ID, partition: 0 };
    (dir, Rc::new(Partition::lead(key, log, LeaderEpoch(1), Rc::default())))
}

type TestCoordinator = GroupCoordinator<PartitionLog, ShardClock>;

/// The task lasts as long as what is given back.
async fn start(partition: Rc<Partition>) -> (TestCoordinator, rt::Task<()>) {
    let log = PartitionLog::new(partition);
    let coordinator = GroupCoordinator::new(log, ShardClock, Rc::new(GroupConfig::default()));
    let running = coordinator.clone();
    let run = rt::spawn(async move { running.run(()).await.unwrap() });
    while coordinator.phase() == Phase::Loading {
        rt::sleep(std::time::Duration::from_millis(1)).await;
    }
    (coordinator, run)
}

async fn commit(coordinator: &TestCoordinator, at: i32) -> i16 {
    commit_all(coordinator, at..at + 1).await[0]
}

/// In one request, and so in one batch.
async fn commit_all(coordinator: &TestCoordinator, partitions: std::ops::Range<i32>) -> Vec<i16> {
    let partitions = partitions.map(|at| OffsetCommitRequestPartition {
        partition_index: at,
        committed_offset: i64::from(at) * 10,
        ..OffsetCommitRequestPartition::default()
    });
    let topic = OffsetCommitRequestTopic {
        name: Str::from_static("orders"),
        partitions: partitions.collect(),
        ..OffsetCommitRequestTopic::default()
    };
    let request = OffsetCommitRequest {
        group_id: Str::from_static("lone"),
        topics: vec![topic],
        ..OffsetCommitRequest::default()
    };
    let reply = coordinator.answer(GroupRequest::Commit(Box::new(request), Vec::new(), 9), &Orders).await;
    let GroupReply::Commit(response) = reply else { panic!("{reply:?}") };
    response.topics[0].partitions.iter().map(|partition| partition.error_code).collect()
}

async fn committed(coordinator: &TestCoordinator) -> Vec<i64> {
    let topic = OffsetFetchRequestTopics {
        name: Str::from_static("orders"),
        partition_indexes: (0..COMMITS).collect(),
        ..OffsetFetchRequestTopics::default()
    };
    let request = OffsetFetchRequestGroup {
        group_id: Str::from_static("lone"),
        topics: Some(vec![topic]),
        ..OffsetFetchRequestGroup::default()
    };
    let reply = coordinator.answer(GroupRequest::Fetch(request, 9), &Orders).await;
    let GroupReply::Fetch(fetched) = reply else { panic!("{reply:?}") };
    fetched.topics[0].partitions.iter().map(|partition| partition.committed_offset).collect()
}

#[test]
fn a_burst_of_commits_is_taken_and_survives_a_power_cut() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let (_dir, partition) = open_partition(false).await;
        let (coordinator, _run) = start(partition).await;
        let codes = join_all((0..COMMITS).map(|at| commit(&coordinator, at))).await;
        assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
    });
    node.crash(rt::sim::Crash::PowerCut);
    sim.block_on(&node, async {
        let (_dir, partition) = open_partition(true).await;
        let (coordinator, _run) = start(partition).await;
        assert_eq!(
            committed(&coordinator).await,
            (0..i64::from(COMMITS)).map(|at| at * 10).collect::<Vec<_>>()
        );
    });
}

/// A batch larger than what a new log's file has at first, and another that finds the rest of it too small.
#[test]
fn large_batches_are_taken_by_a_fresh_log() {
    let (sim, node) = Sim::with_node(2);
    sim.block_on(&node, async {
        let (_dir, partition) = open_partition(false).await;
        let (coordinator, _run) = start(partition).await;
        for _ in 0..3 {
            let codes = commit_all(&coordinator, 0..COMMITS).await;
            assert!(codes.iter().all(|code| *code == 0), "{:?}", codes.first());
        }
        assert_eq!(
            committed(&coordinator).await,
            (0..i64::from(COMMITS)).map(|at| at * 10).collect::<Vec<_>>()
        );
    });
}
