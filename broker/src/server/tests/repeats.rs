//! Requests that name one thing many times: what they cost stays within bounds.

use bytes::Bytes;
use protocol::messages::describe_producers_request::TopicRequest;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    DescribeGroupsRequest, DescribeProducersRequest, FindCoordinatorRequest, JoinGroupRequest,
    ListOffsetsRequest, Message, MetadataRequest, OffsetCommitRequest, OffsetFetchRequest, Request,
    SyncGroupRequest,
};
use protocol::types::Str;
use std::time::Duration;

use super::client::{Client, FETCH_VERSION, TOPIC, fetch_request};
use super::node::Shards;

pub(super) const INVALID_REQUEST: i16 = 42;
pub(super) const GROUP: Str = Str::from_static("billing");
/// What repeats may take in an answer: a shard has 32 MiB, 8 for responses, one answer 2.
const REPEATS_BYTES: usize = 2 << 20;
/// Length of a commit's text.
const TEXT_BYTES: usize = 4_000;

pub(super) fn small_shards(seed: u64) -> Shards {
    let shards = Shards::start(seed, 2, &[("ringlog.memory.max.bytes", "67108864")]);
    let to = shards.address(0);
    shards.run(async move { Client::connect(to).await.create_topic(2).await });
    shards
}

/// Sends a request; its answer, and how long it was.
pub(super) async fn ask<M: Request>(client: &mut Client, request: &M, version: i16) -> (M::Response, usize) {
    let response = client.call(request, version).await;
    let mut written = protocol::wire::Writer::new();
    response.encode(&mut written, version).unwrap();
    (response, written.len())
}

pub(super) async fn with_offsets(client: &mut Client) {
    let find = FindCoordinatorRequest { key: GROUP, ..Default::default() };
    while client.call(&find, 3).await.error_code != 0 {
        rt::sleep(Duration::from_millis(100)).await;
    }
    let partition = OffsetCommitRequestPartition {
        committed_offset: 7,
        committed_metadata: Some(Str::from("x".repeat(TEXT_BYTES))),
        ..Default::default()
    };
    let topic = OffsetCommitRequestTopic {
        name: Str::from_static(TOPIC),
        partitions: vec![partition],
        ..Default::default()
    };
    let commit = OffsetCommitRequest {
        group_id: GROUP,
        generation_id_or_member_epoch: -1,
        topics: vec![topic],
        ..Default::default()
    };
    while client.call(&commit, 7).await.topics[0].partitions[0].error_code != 0 {
        rt::sleep(Duration::from_millis(100)).await;
    }
}

fn partitions(indexes: Vec<i32>) -> OffsetFetchRequestGroup {
    let topic = OffsetFetchRequestTopics {
        name: Str::from_static(TOPIC),
        partition_indexes: indexes,
        ..Default::default()
    };
    OffsetFetchRequestGroup { group_id: GROUP, topics: Some(vec![topic]), ..Default::default() }
}

fn of(groups: Vec<OffsetFetchRequestGroup>) -> OffsetFetchRequest {
    OffsetFetchRequest { groups, ..Default::default() }
}

/// 20,000 times a group of 4 KB used to be 80 MB.
#[test]
fn the_offsets_of_a_group_named_again_and_again() {
    let shards = small_shards(1);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        with_offsets(&mut client).await;
        let all = OffsetFetchRequestGroup { group_id: GROUP, topics: None, ..Default::default() };
        for group in [all, partitions(vec![0])] {
            let (twice, _) = ask(&mut client, &of(vec![group.clone(); 2]), 8).await;
            let offsets = twice.groups.iter().map(|group| group.topics[0].partitions[0].committed_offset);
            assert_eq!(offsets.collect::<Vec<_>>(), [7, 7], "as in Kafka");
            let (many, bytes) = ask(&mut client, &of(vec![group; 20_000]), 8).await;
            assert!(bytes < 3 << 20, "{bytes}");
            let told = many.groups.iter().filter(|group| group.error_code == 0).count();
            assert!((2..=1 + REPEATS_BYTES / TEXT_BYTES).contains(&told), "{told}");
            let refused = many.groups.iter().filter(|group| group.error_code == INVALID_REQUEST).count();
            assert_eq!(told + refused, 20_000);
        }
    });
    shards.check_rest();
}

#[test]
fn the_offset_of_a_partition_named_again_and_again() {
    let shards = small_shards(2);
    let to = shards.address(0);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        with_offsets(&mut client).await;
        let (twice, _) = ask(&mut client, &of(vec![partitions(vec![0, 0])]), 8).await;
        let offsets = twice.groups[0].topics[0].partitions.iter().map(|partition| partition.committed_offset);
        assert_eq!(offsets.collect::<Vec<_>>(), [7, 7], "as in Kafka");
        let (many, _) = ask(&mut client, &of(vec![partitions(vec![0; 50_000])]), 8).await;
        assert_eq!((many.groups[0].error_code, many.groups[0].topics.len()), (INVALID_REQUEST, 0));
        let topic = OffsetFetchRequestTopic {
            name: Str::from_static(TOPIC),
            partition_indexes: vec![0; 50_000],
            ..Default::default()
        };
        let single = OffsetFetchRequest { group_id: GROUP, topics: Some(vec![topic]), ..Default::default() };
        let (many, _) = ask(&mut client, &single, 7).await;
        assert_eq!((many.error_code, many.topics.len()), (INVALID_REQUEST, 0));
    });
    shards.check_rest();
}

/// A group of one member, who was given 50 KB.
async fn with_member(client: &mut Client) {
    let protocol = JoinGroupRequestProtocol { name: Str::from_static("range"), ..Default::default() };
    let join = JoinGroupRequest {
        group_id: GROUP,
        session_timeout_ms: 60_000,
        rebalance_timeout_ms: 60_000,
        protocol_type: Str::from_static("consumer"),
        protocols: vec![protocol],
        ..Default::default()
    };
    let joined = client.call(&join, 3).await;
    assert_eq!(joined.error_code, 0);
    let assignment = SyncGroupRequestAssignment {
        member_id: joined.member_id.clone(),
        assignment: Bytes::from(vec![1; 50_000]),
        ..Default::default()
    };
    let sync = SyncGroupRequest {
        group_id: GROUP,
        generation_id: joined.generation_id,
        member_id: joined.member_id,
        assignments: vec![assignment],
        ..Default::default()
    };
    assert_eq!(client.call(&sync, 2).await.error_code, 0);
}

/// 1,000 times a group of 50 KB used to be 50 MB.
#[test]
fn a_group_described_again_and_again() {
    let shards = small_shards(3);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        with_offsets(&mut client).await;
        with_member(&mut client).await;
        let of = |count| DescribeGroupsRequest { groups: vec![GROUP; count], ..Default::default() };
        let (twice, _) = ask(&mut client, &of(2), 5).await;
        let members = twice.groups.iter().map(|group| group.members[0].member_assignment.len());
        assert_eq!(members.collect::<Vec<_>>(), [50_000, 50_000], "as in Kafka");
        for version in [0, 5, 6] {
            let (many, bytes) = ask(&mut client, &of(1_000), version).await;
            assert!(bytes < 3 << 20, "{bytes}");
            assert_eq!((many.groups.len(), many.groups[0].error_code), (1_000, 0));
            let last = &many.groups[999];
            assert_eq!((last.error_code, last.error_message.is_some()), (INVALID_REQUEST, version == 6));
        }
    });
    shards.check_rest();
}

pub(super) fn describe(topic: &str, partition_indexes: Vec<i32>) -> DescribeProducersRequest {
    let topic = TopicRequest { name: Str::from(topic), partition_indexes, ..Default::default() };
    DescribeProducersRequest { topics: vec![topic], ..Default::default() }
}

/// Each partition of a topic with an impossible name was told that name.
#[test]
fn the_producers_of_topics_with_long_names() {
    let shards = small_shards(4);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let request = describe(&"x".repeat(30_000), (0..5_000).collect());
        let (told, bytes) = ask(&mut client, &request, 0).await;
        assert!(bytes < 3 << 20, "{bytes}");
        let partitions = &told.topics[0].partitions;
        assert_eq!(partitions.len(), 5_000);
        assert!(partitions.iter().all(|partition| partition.error_code == 17));
        let (told, _) = ask(&mut client, &describe(TOPIC, vec![1, 1, 9]), 0).await;
        let codes = told.topics[0].partitions.iter().map(|partition| partition.error_code);
        assert_eq!(codes.collect::<Vec<_>>(), [0, 0, 3]);
    });
    shards.check_rest();
}

#[test]
fn a_partition_whose_offset_is_asked_for_twice_is_refused_once() {
    let shards = small_shards(5);
    let to = shards.address(1);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let asked = [0, 1, 0].map(|partition_index| ListOffsetsPartition {
            partition_index,
            current_leader_epoch: -1,
            timestamp: -1,
            ..Default::default()
        });
        let topic = ListOffsetsTopic {
            name: Str::from_static(TOPIC),
            partitions: asked.to_vec(),
            ..Default::default()
        };
        let request = ListOffsetsRequest { replica_id: -1, topics: vec![topic], ..Default::default() };
        let told = client.call(&request, 5).await;
        let told = told.topics[0].partitions.iter();
        let told: Vec<_> = told.map(|told| (told.partition_index, told.error_code)).collect();
        assert_eq!(told, [(0, INVALID_REQUEST), (1, 0)]);
    });
    shards.check_rest();
}

#[test]
fn coordinators_of_too_many_groups_are_not_looked_for() {
    let shards = small_shards(6);
    let to = shards.address(0);
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let coordinator_keys = vec![Str::default(); 100_001];
        let request = FindCoordinatorRequest { coordinator_keys, ..Default::default() };
        client.post(&request, 4).await.unwrap();
        assert_eq!(client.frame().await, None);
    });
    shards.check_rest();
}

/// What a request becomes in memory may be many times what it is on the wire.
#[test]
fn arrays_of_a_request_are_counted_and_bounded() {
    let shards = small_shards(7);
    let (to, shard) = (shards.address(0), shards.shard(0));
    shards.run(async move {
        let mut client = Client::connect(to).await;
        let unknown = (100..10_100).map(|partition| (partition, 0));
        let wanted: Vec<(i32, i64)> = std::iter::once((0, 0)).chain(unknown).collect();
        let request = fetch_request(&wanted, 600_000);
        let arrays = wanted.len() * size_of_val(&request.topics[0].partitions[0]);
        client.post(&request, FETCH_VERSION).await.unwrap();
        rt::sleep(Duration::from_secs(1)).await;
        let used = shard.network.small_request_memory.used();
        assert!(used > arrays, "{used} bytes are counted, the arrays take {arrays}");

        // Half of the 8 MiB for small requests is for one of them.
        let mut client = Client::connect(to).await;
        let topics = Some(vec![Default::default(); 200_000]);
        let request = MetadataRequest { topics, ..Default::default() };
        client.post(&request, 9).await.unwrap();
        assert_eq!(client.frame().await, None);
        assert_eq!(shard.network.counts.violations.get(), 1);
    });
    shards.check_rest();
}
