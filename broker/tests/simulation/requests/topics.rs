//! ApiVersions, Metadata, CreateTopics, DeleteTopics.

use protocol::messages::create_topics_request::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig,
};
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{ApiVersionsRequest, CreateTopicsRequest, DeleteTopicsRequest, MetadataRequest};
use protocol::types::{Str, Uuid};

use super::{Target, nowhere};

pub(crate) fn api_versions(version: i16) -> Vec<ApiVersionsRequest> {
    let named = ApiVersionsRequest {
        client_software_name: "tests".into(),
        client_software_version: "1.0".into(),
        ..Default::default()
    };
    let mut requests =
        vec![named.clone(), ApiVersionsRequest { client_software_name: "*".into(), ..named.clone() }];
    if version >= 5 {
        requests.push(ApiVersionsRequest { cluster_id: Some("another".into()), node_id: 1, ..named.clone() });
        requests.push(ApiVersionsRequest { node_id: 1, ..named });
    }
    requests
}

/// All topics, some, none; unknown ones, with and without making them.
pub(crate) fn metadata(version: i16, target: &Target) -> Vec<MetadataRequest> {
    let named = |name: &Str| MetadataRequestTopic { name: Some(name.clone()), ..Default::default() };
    let of = |topics: Option<Vec<MetadataRequestTopic>>| MetadataRequest {
        topics,
        // The field came with 4; before, topics always make themselves.
        allow_auto_topic_creation: version < 4,
        ..Default::default()
    };
    let mut requests = vec![
        of(Some(vec![])),
        of(Some(vec![named(&target.name), named(&"not a name".into())])),
        MetadataRequest {
            allow_auto_topic_creation: true,
            ..of(Some(vec![named(&format!("itself-{version}").into())]))
        },
    ];
    if version >= 1 {
        requests.push(of(None));
    }
    if version >= 4 {
        requests.push(of(Some(vec![named(&nowhere().name), named(&target.name)])));
    }
    if version >= 8 {
        requests.push(MetadataRequest { include_topic_authorized_operations: true, ..of(None) });
    }
    if version >= 10 {
        let by_id = |topic_id: Uuid| MetadataRequestTopic { topic_id, name: None, ..Default::default() };
        requests.push(of(Some(vec![by_id(target.id), by_id(nowhere().id), by_id(Uuid::ZERO)])));
    }
    requests
}

/// New ones, and every way in which a new one is refused.
pub(crate) fn create_topics(version: i16, shards: u16, target: &Target) -> Vec<CreateTopicsRequest> {
    let topic = |name: &str| CreatableTopic {
        name: name.into(),
        num_partitions: 1,
        replication_factor: 1,
        ..Default::default()
    };
    let config = |name: &str, value: &str| CreatableTopicConfig {
        name: name.into(),
        value: Some(value.into()),
        ..Default::default()
    };
    let placed = CreatableReplicaAssignment { partition_index: 0, broker_ids: vec![1], ..Default::default() };
    let topics = vec![
        CreatableTopic { configs: vec![config("retention.ms", "60000")], ..topic(&made(version, shards)) },
        topic(&target.name),
        topic("not a name"),
        CreatableTopic { replication_factor: 9, ..topic("too-many-replicas") },
        CreatableTopic { num_partitions: 0, ..topic("no-partitions") },
        CreatableTopic { configs: vec![config("retention.ms", "soon")], ..topic("bad-config") },
        CreatableTopic {
            num_partitions: -1,
            replication_factor: -1,
            assignments: vec![placed],
            ..topic(&format!("placed-{version}-{shards}"))
        },
    ];
    let request = CreateTopicsRequest { topics, timeout_ms: 1_000, ..Default::default() };
    let validated =
        CreateTopicsRequest { topics: vec![topic("only-asked")], validate_only: true, ..request.clone() };
    let twice = CreateTopicsRequest { topics: vec![topic("twice"), topic("twice")], ..request.clone() };
    vec![request, validated, twice, CreateTopicsRequest { timeout_ms: 1_000, ..Default::default() }]
}

fn made(version: i16, shards: u16) -> String {
    format!("made-{version}-{shards}")
}

/// What [`create_topics`] made, and what isn't there.
pub(crate) fn delete_topics(version: i16, shards: u16) -> Vec<DeleteTopicsRequest> {
    // Made in the versions from 2 on.
    let there = Str::from(made(version + 1, shards));
    let request = |names: Vec<Str>, topics: Vec<DeleteTopicState>| DeleteTopicsRequest {
        topic_names: names,
        topics,
        timeout_ms: 1_000,
        ..Default::default()
    };
    if version < 6 {
        return vec![request(vec![there, nowhere().name], vec![]), request(vec![], vec![])];
    }
    let by_name = |name: Str| DeleteTopicState { name: Some(name), ..Default::default() };
    let by_id = |topic_id: Uuid| DeleteTopicState { topic_id, ..Default::default() };
    let both = DeleteTopicState { topic_id: nowhere().id, ..by_name(nowhere().name) };
    let topics = vec![by_name(there), by_name(nowhere().name), by_id(nowhere().id), both, by_id(Uuid::ZERO)];
    vec![request(vec![], topics), request(vec![], vec![])]
}
