//! Leaders, topics, coordinators.

use protocol::error::ErrorCode;
use protocol::messages::find_coordinator_response::Coordinator;
use protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use protocol::messages::{FindCoordinatorResponse, Message, MetadataRequest, MetadataResponse};
use protocol::wire::Writer;

use crate::{Cluster, Node};

fn metadata() -> MetadataResponse {
    let broker = |node_id, host: &str| MetadataResponseBroker {
        node_id,
        host: host.into(),
        port: 9092,
        ..Default::default()
    };
    let partition = |partition_index, leader_id| MetadataResponsePartition {
        partition_index,
        leader_id,
        ..Default::default()
    };
    let topic = |name: &str, error_code, partitions| MetadataResponseTopic {
        name: Some(name.into()),
        error_code,
        partitions,
        ..Default::default()
    };
    MetadataResponse {
        brokers: vec![broker(1, "one"), broker(2, "::1")],
        controller_id: 2,
        topics: vec![
            topic("good", 0, vec![partition(0, 1), partition(1, 2), partition(2, -1)]),
            topic("bad", ErrorCode::TOPIC_AUTHORIZATION_FAILED.code(), vec![]),
        ],
        ..Default::default()
    }
}

fn cluster() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.take_metadata(&metadata());
    cluster
}

#[test]
fn leaders_are_found_or_the_reason_is_told() {
    let cluster = cluster();
    let code =
        |topic, partition| cluster.leader(topic, partition).map(|node| node.id).map_err(|error| error.code());
    assert_eq!(code("good", 0), Ok(1));
    assert_eq!(code("good", 1), Ok(2));
    assert_eq!(code("good", 2), Err(Some(ErrorCode::LEADER_NOT_AVAILABLE)));
    assert_eq!(code("good", 3), Err(Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)));
    assert_eq!(code("bad", 0), Err(Some(ErrorCode::TOPIC_AUTHORIZATION_FAILED)));
    assert_eq!(code("never asked", 0), Err(Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)));
    assert_eq!(cluster.controller().map(Node::address).as_deref(), Some("[::1]:9092"));
}

#[test]
fn a_topic_that_went_wrong_is_known_no_longer() {
    let mut cluster = cluster();
    let mut answer = metadata();
    answer.topics[0].error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.code();
    cluster.take_metadata(&answer);
    assert!(cluster.topic("good").is_err());
    cluster.take_metadata(&metadata());
    assert!(cluster.topic("good").is_ok());
}

#[test]
fn both_layouts_of_coordinators_are_taken() {
    let mut cluster = cluster();
    let old = FindCoordinatorResponse { node_id: 7, host: "seven".into(), port: 1, ..Default::default() };
    cluster.take_coordinator("old", &old).unwrap();
    assert_eq!(cluster.coordinator("old").map(Node::address).as_deref(), Some("seven:1"));
    let found =
        Coordinator { key: "new".into(), node_id: 1, host: "one".into(), port: 9092, ..Default::default() };
    let new = FindCoordinatorResponse { coordinators: vec![found], ..Default::default() };
    cluster.take_coordinator("new", &new).unwrap();
    assert_eq!(cluster.coordinator("new").map(|node| node.id), Some(1));
    cluster.forget_coordinator("new");
    assert_eq!(cluster.coordinator("new"), None);
    let failed = FindCoordinatorResponse {
        error_code: ErrorCode::COORDINATOR_NOT_AVAILABLE.code(),
        ..Default::default()
    };
    let error = cluster.take_coordinator("new", &failed).unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::COORDINATOR_NOT_AVAILABLE));
}

#[test]
fn requests_can_be_written_in_all_versions_the_client_uses() {
    for topics in [None, Some(&["a", "b"][..])] {
        for version in MetadataRequest::VERSIONS.min..=12 {
            let request = Cluster::metadata_request(topics, version >= 4, version);
            assert_eq!(request.encode(&mut Writer::new(), version), Ok(()), "Metadata {version}");
        }
    }
    for version in 0..=5 {
        let request = Cluster::coordinator_request("g", version);
        assert_eq!(request.encode(&mut Writer::new(), version), Ok(()), "FindCoordinator {version}");
    }
}
