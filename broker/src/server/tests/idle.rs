//! Consumers without anything to read: when they are answered, and what they cost the shards.

use std::time::Duration;

use rt::ShardId;

use super::client::{Client, TOPIC};
use super::repeats::small_shards;

const WAIT_MS: i32 = 500;

/// Plan and wait were two pieces, each with its wake-ups of both shards.
#[test]
fn a_fetch_that_waits_at_one_other_shard_is_one_piece() {
    let shards = small_shards(21);
    let (to, shard) = (shards.address(0), shards.shard(0));
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let remote = || shard.mesh.stats().remote.get();
        for round in 1..=3 {
            let (before, since) = (remote(), rt::now());
            let fetched = client.fetch(&[(1, 0)], WAIT_MS).await;
            assert!(fetched.concat().is_empty(), "nobody writes to {TOPIC}");
            assert_eq!(remote() - before, 1, "round {round}");
            let waited = rt::now() - since;
            assert!((Duration::from_millis(495)..Duration::from_millis(510)).contains(&waited), "{waited:?}");
        }
        assert_eq!(shard.mesh.under_way(ShardId(1)), 0, "and its credit is back");
    });
    shards.check_rest();
}

#[test]
fn records_end_the_wait_at_once_wherever_they_come() {
    let shards = small_shards(22);
    let (to, other) = (shards.address(0), shards.address(1));
    shards.run(async move {
        for (wanted, written) in [(vec![0], 0), (vec![1], 1), (vec![0, 1], 0), (vec![0, 1], 1)] {
            let (mut reader, mut writer) = (Client::connect(to).await, Client::connect(other).await);
            let mut ends = Vec::new();
            for partition in &wanted {
                ends.push((*partition, writer.produce(*partition, b"before").await + 1));
            }
            reader.post_fetch(&ends, 60_000).await.unwrap();
            rt::sleep(Duration::from_millis(20)).await;
            let since = rt::now();
            writer.produce(written, b"news").await;
            let fetched = reader.fetched().await.expect("an answer");
            assert!(rt::now() - since < Duration::from_millis(50), "{wanted:?} {written}");
            let news: Vec<_> = fetched.concat();
            assert_eq!(news, ["news"], "{wanted:?} {written}");
        }
    });
    shards.check_rest();
}
