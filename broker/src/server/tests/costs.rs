//! Requests of some bytes that ask for much: what they cost stays within bounds.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::elect_leaders_request::TopicPartitions;
use protocol::messages::fetch_request::ForgottenTopic;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::{
    DescribeConfigsRequest, ElectLeadersRequest, JoinGroupRequest, ListOffsetsRequest, MetadataRequest,
};
use protocol::types::Str;
use rt::ShardId;

use super::client::{Client, FETCH_VERSION, PRODUCE_VERSION, TOPIC, fetch_request, produce_request};
use super::repeats::{GROUP, INVALID_REQUEST, ask, describe, small_shards, with_offsets};
use crate::metadata::limits::ELECTIONS_PER_REQUEST_MAX;

/// The bound was a count of configs, which with their documentation are large.
#[test]
fn configs_with_their_documentation() {
    let shards = small_shards(11);
    let to = shards.address(0);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let topic = DescribeConfigsResource {
            resource_type: 2,
            resource_name: Str::from_static(TOPIC),
            configuration_keys: None,
            ..Default::default()
        };
        let request = DescribeConfigsRequest {
            resources: vec![topic; 1_000],
            include_synonyms: true,
            include_documentation: true,
            ..Default::default()
        };
        let (told, bytes) = ask(&mut client, &request, 4).await;
        assert!(bytes < 3 << 20, "{bytes}");
        assert_eq!((told.results.len(), told.results[0].error_code), (1_000, 0));
        assert_eq!(told.results[1].configs.len(), told.results[0].configs.len());
        assert_eq!(told.results[999].error_code, INVALID_REQUEST);
    });
    shards.check_rest();
}

/// Version 0 has no error of the whole, so that it couldn't be written: the connection was closed, as if the fault were ours.
#[test]
fn too_many_elections_in_a_version_without_an_error_of_its_own() {
    let shards = small_shards(12);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let partitions = (0..=ELECTIONS_PER_REQUEST_MAX as i32).collect();
        let topic = TopicPartitions { topic: Str::from_static(TOPIC), partitions, ..Default::default() };
        let request = ElectLeadersRequest { topic_partitions: Some(vec![topic]), ..Default::default() };
        let told = client.call(&request, 0).await;
        let told = &told.replica_election_results[0].partition_result;
        assert_eq!(told.len(), ELECTIONS_PER_REQUEST_MAX + 1);
        assert!(told.iter().all(|partition| partition.error_code == INVALID_REQUEST));
        let told = client.call(&request, 1).await;
        assert_eq!((told.error_code, told.replica_election_results.len()), (INVALID_REQUEST, 0));
    });
    shards.check_rest();
}

/// 64 answers to repeats were there before the first was counted.
#[test]
fn repeated_producers_are_asked_for_one_after_the_other() {
    let shards = small_shards(13);
    for partition in [0, 1] {
        let (to, shard) = (shards.address(0), shards.shard(0));
        shards.run(async move {
            let mut client = Client::connect(to).await;
            let most = Rc::new(Cell::new(0));
            let is_over = Rc::new(Cell::new(false));
            let watch = {
                let (most, is_over) = (Rc::clone(&most), Rc::clone(&is_over));
                async move {
                    while !is_over.get() {
                        most.set(most.get().max(shard.mesh.under_way(ShardId(1))));
                        rt::yield_point().await;
                    }
                }
            };
            let asked = async {
                let (told, _) = ask(&mut client, &describe(TOPIC, vec![partition; 200]), 0).await;
                is_over.set(true);
                told.topics[0].partitions.iter().map(|partition| partition.error_code).collect::<Vec<_>>()
            };
            let (codes, ()) = futures_util::future::join(asked, watch).await;
            assert_eq!(codes, [0; 200]);
            assert!(most.get() <= 2, "{} at once: the first mention, and one repeat", most.get());
        });
    }
    shards.check_rest();
}

#[test]
fn a_topic_named_twice_with_the_same_partition() {
    let shards = small_shards(14);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let topic = |name: &'static str, indexes: &[i32]| {
            let partition = |index: &i32| ListOffsetsPartition {
                partition_index: *index,
                current_leader_epoch: -1,
                timestamp: -1,
                ..Default::default()
            };
            let partitions = indexes.iter().map(partition).collect();
            ListOffsetsTopic { name: Str::from_static(name), partitions, ..Default::default() }
        };
        let topics = vec![topic(TOPIC, &[0]), topic("other", &[0]), topic(TOPIC, &[1, 0])];
        let request = ListOffsetsRequest { replica_id: -1, topics, ..Default::default() };
        let told = client.call(&request, 5).await;
        let told = told.topics.iter().map(|topic| {
            let told = topic.partitions.iter().map(|told| (told.partition_index, told.error_code));
            told.collect::<Vec<_>>()
        });
        assert_eq!(told.collect::<Vec<_>>(), [vec![(0, INVALID_REQUEST)], vec![(0, 3)], vec![(1, 0)]]);
    });
    shards.check_rest();
}

#[test]
fn of_a_partition_with_two_batches_in_a_request_the_last_counts() {
    let shards = small_shards(15);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let mut request = produce_request(0, b"first");
        request.topic_data.extend(produce_request(1, b"other").topic_data);
        request.topic_data.extend(produce_request(0, b"last").topic_data);
        let told = client.call(&request, PRODUCE_VERSION).await;
        let told = told.responses.iter().flat_map(|topic| &topic.partition_responses);
        let told = told.map(|told| (told.index, told.error_code, told.base_offset));
        assert_eq!(told.collect::<Vec<_>>(), [(1, 0, 0), (0, 0, 0)]);
        assert_eq!(client.fetch(&[(0, 0)], 1_000).await, [["last"]]);
    });
    shards.check_rest();
}

/// The arrays of a Fetch, and the buffer it came in, were counted for as long as it waited: three of 2 MiB held up all others of the shard.
#[test]
fn a_fetch_that_waits_keeps_little_of_its_request() {
    let shards = small_shards(16);
    let (to, shard) = (shards.address(1), shards.shard(1));
    shards.run(async move {
        let used = || shard.network.small_request_memory.used();
        let mut client = Client::connect(to).await;
        let mut request = fetch_request(&[(0, 0)], 600_000);
        client.post(&request, FETCH_VERSION).await.unwrap();
        rt::sleep(Duration::from_secs(1)).await;
        assert!((1..1_024).contains(&used()), "{} bytes, without the buffer", used());

        let mut other = Client::connect(to).await;
        request.forgotten_topics_data = vec![ForgottenTopic::default(); 40_000];
        other.post(&request, FETCH_VERSION).await.unwrap();
        rt::sleep(Duration::from_secs(1)).await;
        assert!((1..2_048).contains(&used()), "{} bytes, without the arrays", used());
        Client::connect(to).await.produce(0, b"news").await;
        assert_eq!(other.fetched().await.unwrap(), [["news"]]);
        assert_eq!(client.fetched().await.unwrap(), [["news"]]);
    });
    shards.check_rest();
}

/// As with Fetch; a group takes seconds to form.
#[test]
fn a_join_that_waits_keeps_no_more_than_its_frame() {
    let shards = small_shards(17);
    let (to, shard) = (shards.address(1), shards.shard(1));
    shards.run(async move {
        let mut client = Client::connect(to).await;
        with_offsets(&mut client).await;
        let protocol = JoinGroupRequestProtocol { name: Str::from_static("range"), ..Default::default() };
        for count in [1, 40_000] {
            let join = JoinGroupRequest {
                group_id: GROUP,
                session_timeout_ms: 60_000,
                rebalance_timeout_ms: 60_000,
                protocol_type: Str::from_static("consumer"),
                protocols: vec![protocol.clone(); count],
                ..Default::default()
            };
            let bytes = 1_000 + count * (2 + protocol.name.len() + 4);
            let mut member = Client::connect(to).await;
            member.post(&join, 3).await.unwrap();
            rt::sleep(Duration::from_millis(1_500)).await;
            let used = shard.network.small_request_memory.used();
            assert!((1..bytes).contains(&used), "{used} are counted, the frame has not {bytes}");
            drop(member);
            rt::sleep(Duration::from_millis(100)).await;
        }
    });
    shards.check_rest();
}

/// They were counted once they were there, so that many connections at once had many times the memory for requests.
#[test]
fn arrays_wait_for_the_memory_they_take() {
    let shards = small_shards(18);
    let (to, shard) = (shards.address(1), shards.shard(1));
    shards.run(async move {
        let memory = &shard.network.small_request_memory;
        let request =
            MetadataRequest { topics: Some(vec![Default::default(); 20_000]), ..Default::default() };
        let full_bytes = memory.capacity() - (128 << 10);
        let full = memory.charge(full_bytes);
        let mut client = Client::connect(to).await;
        client.post(&request, 9).await.unwrap();
        rt::sleep(Duration::from_secs(5)).await;
        assert!((full_bytes + 1..=memory.capacity()).contains(&memory.used()), "{}", memory.used());
        // What has few is answered meanwhile.
        let mut other = Client::connect(to).await;
        assert_eq!(other.fetch(&[(0, 0)], 0).await, [[""; 0]]);
        drop(full);
        assert!(client.answer::<MetadataRequest>(9).await.is_some());

        let full = memory.charge(full_bytes);
        client.post(&request, 9).await.unwrap();
        assert_eq!(client.frame().await, None, "it can't wait for ever");
        drop(full);
    });
    shards.check_rest();
}
