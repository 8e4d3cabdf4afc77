//! Which core has which partition, over restarts.

use std::time::Duration;

use shards::{PartitionKey, Placed};

use super::client::{Client, TOPIC};
use super::node::Broker;
use crate::server::placement_file::{PLACEMENT, Remembered};

const OTHER: &str = "first";
const PARTITIONS: i32 = 5;

/// What stands in the file, once it is written.
fn remembered(broker: &Broker) -> Remembered {
    broker.sim.run_for(Duration::from_secs(1));
    let file = broker.disk().read_file(format!("/data/{PLACEMENT}")).unwrap();
    crate::server::placement_file::decode(&file).unwrap()
}

/// Owners of the partitions of the only topic.
fn owners(broker: &Broker) -> Vec<(PartitionKey, Placed)> {
    remembered(broker).placed
}

/// A topic whose partitions wouldn't be placed as they are by a node that began with it.
fn with_topics(shards: u16) -> Broker {
    let broker = Broker::start(7, shards);
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic_named(OTHER, 2).await;
        client.create_topic(PARTITIONS).await;
        for partition in 0..PARTITIONS {
            assert_eq!(client.produce(partition, b"one").await, 0);
        }
        client.delete_topic_named(OTHER).await;
    });
    broker
}

fn check_records(broker: &Broker, more: i64) {
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        for partition in 0..PARTITIONS {
            assert_eq!(client.produce(partition, b"more").await, more, "{TOPIC}-{partition}");
            assert_eq!(client.fetch(&[(partition, 0)], 0).await[0][0], "one");
        }
    });
    assert_eq!(broker.failures(), []);
}

#[test]
fn a_restart_leaves_every_partition_where_it_was() {
    let broker = with_topics(3);
    let before = owners(&broker);
    assert_eq!(before.iter().map(|(_, placed)| placed.owner.0).collect::<Vec<_>>(), [2, 0, 1, 2, 0]);
    broker.stop();
    assert!(broker.ended(Duration::from_secs(60)).1.iter().all(Result::is_ok));
    broker.start_again();
    check_records(&broker, 1);
    assert_eq!(owners(&broker), before);
    broker.cut_power();
    broker.start_again();
    check_records(&broker, 2);
    assert_eq!(owners(&broker), before);
}

#[test]
fn other_numbers_of_cores_find_all_records_and_spread_the_partitions() {
    let mut broker = with_topics(4);
    for (more, shards) in (1..).zip([2, 3, 1, 4]) {
        broker.start_again_on(shards);
        check_records(&broker, more);
        let remembered = remembered(&broker);
        assert_eq!(remembered.shards, shards);
        let of_each = (0..shards)
            .map(|shard| remembered.placed.iter().filter(|(_, placed)| placed.owner.0 == shard).count());
        let (fewest, most) =
            of_each.fold((usize::MAX, 0), |(low, high), count| (low.min(count), high.max(count)));
        assert!(most - fewest <= 1, "{shards} shards: {fewest} to {most} partitions");
    }
}

#[test]
fn a_damaged_file_is_as_good_as_none_and_a_later_releases_is_refused() {
    let broker = with_topics(2);
    let path = format!("/data/{PLACEMENT}");
    let mut file = broker.disk().read_file(&path).unwrap().to_vec();
    file[20] ^= 1;
    broker.kill();
    broker.disk().put_file(&path, file).unwrap();
    broker.start_again();
    check_records(&broker, 1);
    assert_eq!(remembered(&broker).shards, 2);
    let mut file = broker.disk().read_file(&path).unwrap().to_vec();
    file[5] += 1;
    let body = file.len() - 4;
    let crc = crc32c::crc32c(&file[..body]);
    file[body..].copy_from_slice(&crc.to_be_bytes());
    broker.kill();
    broker.disk().put_file(&path, file).unwrap();
    broker.start_again();
    let (_, ended) = broker.ended(Duration::from_secs(60));
    let failure = ended.into_iter().find_map(Result::err).unwrap();
    assert_eq!(failure.code, 78);
    assert!(failure.message.contains("of a later release (version 2)"), "{failure}");
}
