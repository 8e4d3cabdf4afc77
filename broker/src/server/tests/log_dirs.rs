//! A node with two log directories: what is where, and what one that fails takes with it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use protocol::messages::alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic};
use protocol::messages::describe_log_dirs_response::DescribeLogDirsResult;
use protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use protocol::messages::{
    AlterReplicaLogDirsRequest, DescribeLogDirsRequest, IncrementalAlterConfigsRequest, MetadataRequest,
};
use protocol::types::Str;
use rt::sim::FaultOp;

use super::client::{Client, TOPIC};
use super::node::Broker;

pub(super) const WITHIN: Duration = Duration::from_secs(60);
pub(super) const KAFKA_STORAGE_ERROR: i16 = 56;
pub(super) const LEADER_NOT_AVAILABLE: i16 = 5;
const PARTITIONS: i32 = 4;
pub(super) const A: &str = "/data/a";
pub(super) const B: &str = "/data/b";
pub(super) const TWO: &[(&str, &str)] = &[("log.dirs", "/data/a,/data/b")];

/// A node with a topic whose every partition holds its own number.
pub(super) fn with_topic(seed: u64) -> (Broker, SocketAddr) {
    with_topic_on(seed, 2)
}

fn with_topic_on(seed: u64, shards: u16) -> (Broker, SocketAddr) {
    let broker = Broker::start_with(seed, shards, TWO);
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(PARTITIONS).await;
        for partition in 0..PARTITIONS {
            assert_eq!(client.produce(partition, partition.to_string().as_bytes()).await, 0);
        }
    });
    (broker, to)
}

/// Partitions of the topic with a directory in `dir`.
pub(super) fn held(broker: &Broker, dir: &str) -> Vec<i32> {
    let names = broker.disk().names(dir);
    let numbers = names.iter().filter_map(|name| name.strip_prefix(&format!("{TOPIC}-")));
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// Every partition holds what it did at first, once.
pub(super) async fn check_all_there(to: SocketAddr) {
    let mut client = Client::connect(to).await;
    for partition in 0..PARTITIONS {
        let values = client.fetch(&[(partition, 0)], 0).await;
        assert_eq!(values, [[partition.to_string().as_bytes()]], "partition {partition}");
    }
}

pub(super) async fn describe(client: &mut Client) -> BTreeMap<String, DescribeLogDirsResult> {
    let request = DescribeLogDirsRequest { topics: None, ..Default::default() };
    let results = client.call(&request, 4).await.results.into_iter();
    results.map(|result| (result.log_dir.to_string(), result)).collect()
}

pub(super) fn partitions(result: &DescribeLogDirsResult) -> Vec<i32> {
    result
        .topics
        .iter()
        .flat_map(|topic| &topic.partitions)
        .map(|partition| partition.partition_index)
        .collect()
}

/// Error and offline replicas of each partition.
pub(super) async fn metadata(client: &mut Client) -> Vec<(i32, i16, Vec<i32>)> {
    let request = MetadataRequest { topics: None, ..Default::default() };
    let response = client.call(&request, 9).await;
    let topic = response.topics.into_iter().find(|topic| topic.name.as_deref() == Some(TOPIC)).unwrap();
    let each = topic.partitions.into_iter();
    let mut all: Vec<_> =
        each.map(|one| (one.partition_index, one.error_code, one.offline_replicas)).collect();
    all.sort();
    all
}

#[test]
fn new_partitions_are_dealt_out_and_found_again() {
    for (seed, cleanly) in [(1, true), (2, false)] {
        let (broker, to) = with_topic(seed);
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![1, 3]));
        if cleanly {
            broker.stop();
            let (_, ended) = broker.ended(WITHIN);
            assert_eq!(ended, [Ok(()), Ok(())]);
            for dir in [A, B] {
                assert!(broker.disk().names(dir).contains(&".kafka_cleanshutdown".to_owned()), "{dir}");
            }
        }
        broker.start_again();
        broker.run(async move {
            check_all_there(to).await;
            let mut client = Client::connect(to).await;
            let dirs = describe(&mut client).await;
            let told: Vec<_> = dirs.iter().map(|(dir, told)| (dir.as_str(), partitions(told))).collect();
            assert_eq!(told, [(A, vec![0, 2]), (B, vec![1, 3])]);
            // One more goes to the first of those with the fewest.
            client.create_topic_named("more", 1).await;
        });
        assert!(broker.disk().names(A).contains(&"more-0".to_owned()));
        assert_eq!(broker.failures(), []);
    }
}

#[test]
fn a_directory_that_fails_takes_only_its_partitions_offline() {
    for (seed, op) in [(1, FaultOp::Write), (2, FaultOp::Sync)] {
        let (broker, to) = with_topic(seed);
        broker.disk().fail(op, &format!("{B}/"), u32::MAX);
        broker.run(async move {
            let mut client = Client::connect(to).await;
            client.post_produce(1, b"lost").await.unwrap();
            let (_, code, _) = client.produced().await.unwrap();
            assert_eq!(code, KAFKA_STORAGE_ERROR);
            // The other shard's partition in it, once that was told.
            rt::sleep(Duration::from_secs(1)).await;
            client.post_produce(3, b"lost too").await.unwrap();
            assert_eq!(client.produced().await.unwrap().1, KAFKA_STORAGE_ERROR);
            assert_eq!((client.produce(0, b"on").await, client.produce(2, b"on").await), (1, 1));
            let down = |partition| (partition, LEADER_NOT_AVAILABLE, vec![1]);
            let up = |partition| (partition, 0, vec![]);
            assert_eq!(metadata(&mut client).await, [up(0), down(1), up(2), down(3)]);
            let dirs = describe(&mut client).await;
            assert_eq!((dirs[A].error_code, partitions(&dirs[A])), (0, vec![0, 2]));
            assert_eq!((dirs[B].error_code, partitions(&dirs[B])), (KAFKA_STORAGE_ERROR, vec![]));
            assert!(dirs[A].total_bytes > 0 && dirs[B].total_bytes == -1);
            // New ones go where there is a directory.
            client.create_topic_named("more", 2).await;
        });
        assert_eq!(held(&broker, A), [0, 2]);
        assert_eq!(broker.failures(), []);
        // Its end is a clean one, of the directory that works.
        broker.stop();
        let (_, ended) = broker.ended(WITHIN);
        assert_eq!(ended, [Ok(()), Ok(())]);
        let is_clean = |dir| broker.disk().names(dir).contains(&".kafka_cleanshutdown".to_owned());
        assert_eq!((is_clean(A), is_clean(B)), (true, false));
        // Back, all of it serves again.
        broker.kill();
        broker.disk().clear_faults();
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(metadata(&mut client).await, (0..4).map(|p| (p, 0, vec![])).collect::<Vec<_>>());
            assert_eq!(client.fetch(&[(2, 0)], 0).await, [[&b"2"[..], b"on"]]);
            for partition in [1, 3] {
                let values = client.fetch(&[(partition, 0)], 0).await;
                assert_eq!(values[0][0], partition.to_string());
                client.produce(partition, b"again").await;
            }
        });
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![1, 3]));
        assert_eq!(broker.failures(), []);
    }
}

/// One shard alone meets the failure, the first or another one; the partition of the other one in that directory is offline all the same.
#[test]
fn a_failure_that_one_shard_meets_is_told_to_all() {
    for (seed, met_by, told) in [(1, 3, 1), (2, 1, 3)] {
        let (broker, to) = with_topic_on(seed, 3);
        broker.sim.run_for(Duration::from_secs(1));
        broker.disk().fail(FaultOp::Write, &format!("{B}/"), 1);
        broker.run(async move {
            let mut client = Client::connect(to).await;
            for partition in [met_by, told] {
                client.post_produce(partition, b"lost").await.unwrap();
                assert_eq!(client.produced().await.unwrap().1, KAFKA_STORAGE_ERROR, "partition {partition}");
                rt::sleep(Duration::from_secs(1)).await;
            }
            assert_eq!(client.produce(0, b"on").await, 1);
        });
        assert_eq!(broker.failures(), []);
    }
}

/// What it holds isn't made anew elsewhere, where it would be missing once the directory is back.
#[test]
fn a_directory_that_cant_be_opened_is_offline_and_the_other_serves() {
    for seed in 1..4 {
        let (broker, to) = with_topic(seed);
        broker.kill();
        broker.disk().fail(FaultOp::Write, &format!("{B}/"), u32::MAX);
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            let down = |partition| (partition, LEADER_NOT_AVAILABLE, vec![1]);
            let up = |partition| (partition, 0, vec![]);
            assert_eq!(metadata(&mut client).await, [up(0), down(1), up(2), down(3)]);
            client.post_produce(1, b"lost").await.unwrap();
            assert_ne!(client.produced().await.unwrap().1, 0);
            assert_eq!(client.produce(0, b"on").await, 1);
            let dirs = describe(&mut client).await;
            assert_eq!((dirs[A].error_code, dirs[B].error_code), (0, KAFKA_STORAGE_ERROR));
        });
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![1, 3]));
        broker.stop();
        assert_eq!(broker.ended(WITHIN).1, [Ok(()), Ok(())]);
        broker.disk().clear_faults();
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            for partition in [1, 3] {
                let values = client.fetch(&[(partition, 0)], 0).await;
                assert_eq!(values, [[partition.to_string().as_bytes()]]);
                assert_eq!(client.produce(partition, b"again").await, 1);
            }
        });
        assert_eq!(broker.failures(), []);
    }
}

#[test]
fn the_directory_with_the_metadata_or_the_last_one_ends_the_node() {
    let (broker, to) = with_topic(1);
    let disk = broker.disk();
    broker.run(async move {
        // Before that: what is written in the background may end the node at once.
        let mut client = Client::connect(to).await;
        disk.fail(FaultOp::Write, &format!("{A}/"), u32::MAX);
        // Whether it goes out or not.
        let _ = client.post_produce(0, b"lost").await;
        // Whatever is answered, if anything is.
        let _ = client.produced().await;
    });
    let (_, ended) = broker.ended(WITHIN);
    let failures: Vec<_> = ended.into_iter().filter_map(Result::err).collect();
    assert!(failures.iter().any(|failure| failure.code == 1 && failure.message.contains(A)), "{failures:?}");
}

/// Moved by hand while the node was down; and a copy left behind, which the metadata know for one.
#[test]
fn what_was_moved_by_hand_is_found_and_copies_are_set_aside() {
    let (broker, to) = with_topic(1);
    broker.stop();
    broker.ended(WITHIN);
    broker.on_machine(async {
        rt::fs::rename("/data/b/orders-1", "/data/a/orders-1").await.unwrap();
        rt::fs::sync_dir(A).await.unwrap();
        rt::fs::sync_dir(B).await.unwrap();
    });
    broker.start_again();
    broker.run(check_all_there(to));
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 1, 2], vec![3]));
    broker.stop();
    broker.ended(WITHIN);
    // An old copy, under the name that the metadata know to be in the other directory by now.
    broker.on_machine(async {
        rt::fs::create_dir_all("/data/b/orders-1").await.unwrap();
        rt::fs::sync_dir(B).await.unwrap();
    });
    broker.start_again();
    broker.run(check_all_there(to));
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 1, 2], vec![3]));
    assert!(
        broker.disk().names(B).iter().any(|name| name.starts_with("orders-1.") && name.ends_with("-stray"))
    );
}

/// Asks for a move; the code.
pub(super) async fn alter(client: &mut Client, topic: &str, partition: i32, to: &str) -> i16 {
    let topic =
        AlterReplicaLogDirTopic { name: Str::from(topic), partitions: vec![partition], ..Default::default() };
    let dir = AlterReplicaLogDir { path: Str::from(to), topics: vec![topic], ..Default::default() };
    let request = AlterReplicaLogDirsRequest { dirs: vec![dir], ..Default::default() };
    client.call(&request, 2).await.results[0].partitions[0].error_code
}

/// Lets moves copy so many bytes a second.
pub(super) async fn set_rate(client: &mut Client, bytes: u64) {
    let config = AlterableConfig {
        name: Str::from_static("replica.alter.log.dirs.io.max.bytes.per.second"),
        value: Some(Str::from(bytes.to_string())),
        ..Default::default()
    };
    let resource = AlterConfigsResource {
        resource_type: 4,
        resource_name: Str::from_static("1"),
        configs: vec![config],
        ..Default::default()
    };
    let request = IncrementalAlterConfigsRequest { resources: vec![resource], ..Default::default() };
    assert_eq!(client.call(&request, 1).await.responses[0].error_code, 0);
}

/// Directories with a copy of the partition on its way to them.
pub(super) async fn futures(client: &mut Client, partition: i32) -> Vec<String> {
    let is_future = |result: &DescribeLogDirsResult| {
        let mut partitions = result.topics.iter().flat_map(|topic| &topic.partitions);
        partitions.any(|one| one.is_future_key && one.partition_index == partition)
    };
    let dirs = describe(client).await;
    dirs.into_iter().filter(|(_, result)| is_future(result)).map(|(path, _)| path).collect()
}

pub(super) async fn await_moved(client: &mut Client, partition: i32) {
    while !futures(client, partition).await.is_empty() {
        rt::sleep(Duration::from_millis(5)).await;
    }
}

/// No record is lost, or there twice, or refused, while its partition goes to and fro.
#[test]
fn a_partition_moves_while_it_serves() {
    rt::sim::for_each_seed(10, |seed| {
        let (broker, to) = with_topic(seed);
        let records = broker.run(async move {
            let sending = rt::spawn(async move {
                let mut client = Client::connect(to).await;
                let mut sent = 1;
                let begun = rt::now();
                while rt::now() - begun < Duration::from_secs(3) {
                    assert_eq!(client.produce(0, sent.to_string().as_bytes()).await, sent);
                    sent += 1;
                }
                sent
            });
            let mut client = Client::connect(to).await;
            for place in [B, A, B] {
                assert_eq!(alter(&mut client, TOPIC, 0, place).await, 0);
                await_moved(&mut client, 0).await;
                assert!(partitions(&describe(&mut client).await[place]).contains(&0), "it isn't in {place}");
                rt::sleep(Duration::from_millis(200)).await;
            }
            sending.await
        });
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![2], vec![0, 1, 3]));
        if seed % 2 == 0 {
            broker.stop();
            assert_eq!(broker.ended(WITHIN).1, [Ok(()), Ok(())]);
        }
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            let mut values = Vec::new();
            while values.len() < records as usize {
                values.extend(client.fetch(&[(0, values.len() as i64)], 0).await.remove(0));
            }
            let wanted: Vec<_> = (0..records).map(|number| number.to_string()).collect();
            assert_eq!(values, wanted);
            assert_eq!(client.produce(0, b"on").await, records);
        });
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![2], vec![0, 1, 3]));
        assert_eq!(broker.failures(), []);
    });
}

#[test]
fn a_move_that_is_cut_short_is_undone() {
    let (broker, to) = with_topic(1);
    broker.run(async move {
        let mut client = Client::connect(to).await;
        for offset in 1..=4 {
            assert_eq!(client.produce(0, &[b'.'; 500_000]).await, offset);
        }
        set_rate(&mut client, 100_000).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        // Asked again it goes on.
        rt::sleep(Duration::from_secs(5)).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        assert_eq!(futures(&mut client, 0).await, [B]);
        assert!(partitions(&describe(&mut client).await[A]).contains(&0));
        // Asked for where it is, the move is called off.
        assert_eq!(alter(&mut client, TOPIC, 0, A).await, 0);
        assert_eq!(futures(&mut client, 0).await, [""; 0]);
        rt::sleep(Duration::from_secs(1)).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        rt::sleep(Duration::from_secs(1)).await;
    });
    let is_future = |name: &String| name.starts_with("orders-0.") && name.ends_with("-future");
    assert_eq!(broker.disk().names(B).iter().filter(|name| is_future(name)).count(), 1);
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(client.fetch(&[(0, 0)], 0).await[0].len(), 5);
        assert_eq!(client.produce(0, b"on").await, 5);
        assert_eq!(futures(&mut client, 0).await, [""; 0]);
        // The rate is still set; without it the move comes to its end.
        set_rate(&mut client, 1 << 40).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        await_moved(&mut client, 0).await;
    });
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![2], vec![0, 1, 3]));
    assert_eq!(broker.disk().names(B).iter().filter(|name| is_future(name)).count(), 0);
}

#[test]
fn what_cant_be_moved_is_told_as_kafka_does() {
    const LOG_DIR_NOT_FOUND: i16 = 57;
    const REPLICA_NOT_AVAILABLE: i16 = 9;
    const INVALID_TOPIC: i16 = 17;
    let (broker, to) = with_topic(1);
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(alter(&mut client, TOPIC, 0, "/elsewhere").await, LOG_DIR_NOT_FOUND);
        assert_eq!(alter(&mut client, TOPIC, 9, B).await, REPLICA_NOT_AVAILABLE);
        assert_eq!(alter(&mut client, "none", 0, B).await, REPLICA_NOT_AVAILABLE);
        assert_eq!(alter(&mut client, &"n".repeat(249), 0, B).await, INVALID_TOPIC);
        assert_eq!(alter(&mut client, TOPIC, 0, A).await, 0);
    });
    broker.disk().fail(FaultOp::Write, &format!("{B}/"), u32::MAX);
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.post_produce(1, b"lost").await.unwrap();
        let _ = client.produced().await;
        rt::sleep(Duration::from_secs(1)).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, KAFKA_STORAGE_ERROR);
        assert_eq!(alter(&mut client, TOPIC, 1, A).await, KAFKA_STORAGE_ERROR);
    });
}

/// It ends with the directory, and the partition stays where it was.
#[test]
fn a_move_to_a_disk_that_fails_leaves_the_partition_where_it_is() {
    for seed in 1..6 {
        let (broker, to) = with_topic(seed);
        broker.disk().fail_after(FaultOp::Write, &format!("{B}/orders-0."), seed as u32, u32::MAX);
        broker.run(async move {
            let mut client = Client::connect(to).await;
            // It may fail as soon as the copy is begun.
            let code = alter(&mut client, TOPIC, 0, B).await;
            assert!([0, KAFKA_STORAGE_ERROR].contains(&code), "{code}");
            rt::sleep(Duration::from_secs(1)).await;
            assert_eq!(client.produce(0, b"on").await, 1);
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"0"[..], b"on"]]);
        });
        assert_eq!(broker.failures(), []);
        broker.disk().clear_faults();
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"0"[..], b"on"]]);
        });
    }
}
