//! Requests of the cluster, its partitions and its logs, good ones and refused ones.

use protocol::messages::alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic};
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use protocol::messages::describe_log_dirs_request::DescribableLogDirTopic;
use protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use protocol::messages::elect_leaders_request::TopicPartitions;
use protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use protocol::messages::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
use protocol::messages::update_features_request::FeatureUpdateKey;
use protocol::messages::{
    AlterReplicaLogDirsRequest, DeleteRecordsRequest, DescribeClusterRequest, DescribeLogDirsRequest,
    DescribeProducersRequest, DescribeQuorumRequest, DescribeTopicPartitionsRequest, ElectLeadersRequest,
    ListConfigResourcesRequest, OffsetDeleteRequest, OffsetForLeaderEpochRequest, UpdateFeaturesRequest,
    describe_producers_request, describe_topic_partitions_request,
};
use protocol::types::Str;

use super::Target;

/// A partition that is there, one that isn't, and one of no topic.
fn places(target: &Target) -> [(Str, i32); 3] {
    [(target.name.clone(), 0), (target.name.clone(), 99), ("no such topic".into(), 0)]
}

pub(crate) fn delete_records(target: &Target) -> Vec<DeleteRecordsRequest> {
    let topics = places(target).into_iter().flat_map(|(name, partition_index)| {
        let partition =
            move |offset| DeleteRecordsPartition { partition_index, offset, ..Default::default() };
        let partitions = vec![partition(0), partition(1 << 40), partition(-1)];
        [DeleteRecordsTopic { name, partitions, ..Default::default() }]
    });
    vec![DeleteRecordsRequest { topics: topics.collect(), timeout_ms: 1_000, ..Default::default() }]
}

pub(crate) fn offset_for_leader_epoch(target: &Target) -> Vec<OffsetForLeaderEpochRequest> {
    let topics = places(target).into_iter().map(|(topic, partition)| {
        let asked = |current_leader_epoch, leader_epoch| OffsetForLeaderPartition {
            partition,
            current_leader_epoch,
            leader_epoch,
            ..Default::default()
        };
        let partitions = vec![asked(-1, 0), asked(99, 0), asked(-1, 99)];
        OffsetForLeaderTopic { topic, partitions, ..Default::default() }
    });
    vec![OffsetForLeaderEpochRequest { topics: topics.collect(), ..Default::default() }]
}

pub(crate) fn describe_producers(target: &Target) -> Vec<DescribeProducersRequest> {
    let topics =
        places(target).into_iter().map(|(name, partition)| describe_producers_request::TopicRequest {
            name,
            partition_indexes: vec![partition],
            ..Default::default()
        });
    vec![DescribeProducersRequest { topics: topics.collect(), ..Default::default() }]
}

pub(crate) fn describe_log_dirs(target: &Target) -> Vec<DescribeLogDirsRequest> {
    let topics = places(target).into_iter().map(|(topic, partition)| DescribableLogDirTopic {
        topic,
        partitions: vec![partition],
        ..Default::default()
    });
    let some = Some(topics.collect());
    vec![
        DescribeLogDirsRequest { topics: None, ..Default::default() },
        DescribeLogDirsRequest { topics: some, ..Default::default() },
    ]
}

pub(crate) fn alter_replica_log_dirs(target: &Target) -> Vec<AlterReplicaLogDirsRequest> {
    let to = |path: &'static str| {
        let topics = places(target).into_iter().map(|(name, partition)| AlterReplicaLogDirTopic {
            name,
            partitions: vec![partition],
            ..Default::default()
        });
        let dir = AlterReplicaLogDir { path: path.into(), topics: topics.collect(), ..Default::default() };
        AlterReplicaLogDirsRequest { dirs: vec![dir], ..Default::default() }
    };
    vec![to("/data"), to("/elsewhere")]
}

pub(crate) fn describe_quorum() -> Vec<DescribeQuorumRequest> {
    let one = |name: &'static str, partition_index| {
        let partitions = vec![PartitionData { partition_index, ..Default::default() }];
        let topic = TopicData { topic_name: name.into(), partitions, ..Default::default() };
        DescribeQuorumRequest { topics: vec![topic], ..Default::default() }
    };
    vec![one("__cluster_metadata", 0), one("__cluster_metadata", 1), one("orders", 0)]
}

pub(crate) fn describe_cluster(version: i16) -> Vec<DescribeClusterRequest> {
    let one = |endpoint_type, fenced| DescribeClusterRequest {
        include_cluster_authorized_operations: true,
        endpoint_type,
        include_fenced_brokers: fenced,
        ..Default::default()
    };
    let types = if version >= 1 { &[1, 2, 99][..] } else { &[1] };
    types.iter().map(|endpoint_type| one(*endpoint_type, version >= 2)).collect()
}

pub(crate) fn describe_topic_partitions(target: &Target) -> Vec<DescribeTopicPartitionsRequest> {
    let topic = |name: &Str| describe_topic_partitions_request::TopicRequest {
        name: name.clone(),
        ..Default::default()
    };
    let cursor = |partition_index| describe_topic_partitions_request::Cursor {
        topic_name: target.name.clone(),
        partition_index,
        ..Default::default()
    };
    let one = |topics: Vec<Str>, cursor| DescribeTopicPartitionsRequest {
        topics: topics.iter().map(topic).collect(),
        response_partition_limit: 1,
        cursor,
        ..Default::default()
    };
    let (orders, none, bad) = (target.name.clone(), Str::from("none"), Str::from("no such topic"));
    vec![
        one(vec![], None),
        one(vec![orders.clone(), none, bad], None),
        one(vec![orders.clone()], Some(cursor(1))),
        one(vec![orders], Some(cursor(-1))),
    ]
}

pub(crate) fn list_config_resources(version: i16) -> Vec<ListConfigResourcesRequest> {
    let of = |resource_types| ListConfigResourcesRequest { resource_types, ..Default::default() };
    if version == 0 { vec![of(vec![])] } else { vec![of(vec![]), of(vec![2, 4, 8, 16, 32]), of(vec![99])] }
}

pub(crate) fn elect_leaders(version: i16, target: &Target) -> Vec<ElectLeadersRequest> {
    let one = |election_type, some: bool| {
        let topics = places(target).into_iter().map(|(topic, partition)| TopicPartitions {
            topic,
            partitions: vec![partition],
            ..Default::default()
        });
        let topic_partitions = some.then(|| topics.collect());
        ElectLeadersRequest { election_type, topic_partitions, timeout_ms: 1_000, ..Default::default() }
    };
    let types = if version >= 1 { &[0, 1, 99][..] } else { &[0] };
    types.iter().flat_map(|election| [one(*election, true), one(*election, false)]).collect()
}

pub(crate) fn update_features(version: i16) -> Vec<UpdateFeaturesRequest> {
    let one = |feature: &'static str, max_version_level, upgrade_type| {
        let update = FeatureUpdateKey {
            feature: feature.into(),
            max_version_level,
            upgrade_type: if version >= 1 { upgrade_type } else { 1 },
            ..Default::default()
        };
        UpdateFeaturesRequest { feature_updates: vec![update], timeout_ms: 1_000, ..Default::default() }
    };
    vec![
        one("metadata.version", 33, 1),
        one("metadata.version", 7, 2),
        one("none", 1, 1),
        one("group.version", 0, 9),
    ]
}

pub(crate) fn offset_delete(group: &Str, target: &Target) -> Vec<OffsetDeleteRequest> {
    let topics = places(target).into_iter().map(|(name, partition_index)| OffsetDeleteRequestTopic {
        name,
        partitions: vec![OffsetDeleteRequestPartition { partition_index }],
    });
    let one = |topics| OffsetDeleteRequest { group_id: group.clone(), topics };
    vec![one(topics.collect()), one(vec![])]
}
