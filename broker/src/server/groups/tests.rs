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
use crate::group::{GroupConfig, GroupCoordinator, RequestContext, TopicLookup};

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
}

fn context() -> RequestContext {
    let (client_id, client_host) = (Str::from_static("test"), Str::from_static("/127.0.0.1"));
    RequestContext { client_id, client_host, api_version: 9 }
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

/// The tasks last as long as what is given back.
async fn start(partition: Rc<Partition>) -> (TestCoordinator, PartitionLog, [rt::Task<()>; 2]) {
    let log = PartitionLog::new(partition);
    let coordinator = GroupCoordinator::new(log.clone(), ShardClock, Rc::new(GroupConfig::default()));
    let running = coordinator.clone();
    let run = rt::spawn(async move { running.run().await.unwrap() });
    let top_up = rt::spawn(log.clone().top_up());
    while coordinator.phase() == Phase::Loading {
        rt::sleep(std::time::Duration::from_millis(1)).await;
    }
    (coordinator, log, [run, top_up])
}

async fn commit(coordinator: &TestCoordinator, log: &PartitionLog, at: i32) -> i16 {
    log.room().await;
    let partition = OffsetCommitRequestPartition {
        partition_index: at,
        committed_offset: i64::from(at) * 10,
        ..OffsetCommitRequestPartition::default()
    };
    let topic = OffsetCommitRequestTopic {
        name: Str::from_static("orders"),
        partitions: vec![partition],
        ..OffsetCommitRequestTopic::default()
    };
    let request = OffsetCommitRequest {
        group_id: Str::from_static("lone"),
        topics: vec![topic],
        ..OffsetCommitRequest::default()
    };
    coordinator.offset_commit(context(), request, &Orders).await.topics[0].partitions[0].error_code
}

#[test]
fn a_burst_of_commits_is_taken_and_survives_a_power_cut() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let (_dir, partition) = open_partition(false).await;
        let (coordinator, log, _tasks) = start(partition).await;
        let codes = join_all((0..COMMITS).map(|at| commit(&coordinator, &log, at))).await;
        assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
    });
    node.crash(rt::sim::Crash::PowerCut);
    sim.block_on(&node, async {
        let (_dir, partition) = open_partition(true).await;
        let (coordinator, _log, _tasks) = start(partition).await;
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
        let fetched = coordinator.offset_fetch(context(), request, &Orders).await;
        let offsets: Vec<i64> = fetched.topics[0].partitions.iter().map(|p| p.committed_offset).collect();
        assert_eq!(offsets, (0..i64::from(COMMITS)).map(|at| at * 10).collect::<Vec<_>>());
    });
}
