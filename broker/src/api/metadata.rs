//! Metadata: brokers, topics, leaders; topics may create themselves (KIP-4, KIP-516).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use protocol::messages::{CreateTopicsRequest, MetadataRequest, MetadataResponse};
use protocol::types::{Str, Uuid};

use super::internal_topics::offsets_topic;
use super::{authorized, brokers, controller};
use crate::metadata::Image;
use crate::metadata::controller::check_topic_name;
use crate::metadata::image::{OFFSETS_TOPIC, Partition, Topic};
use crate::server::{RequestContext, ShardState};

/// From this version on topics may be asked for by id.
const BY_ID_VERSION: i16 = 12;

/// Answers Metadata 0-13.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: MetadataRequest,
) -> MetadataResponse {
    let may_create = request.allow_auto_topic_creation && shard.node.config.topics.auto_create;
    let (on_cluster, on_topics) =
        (request.include_cluster_authorized_operations, request.include_topic_authorized_operations);
    let wanted = wanted(context.api_version, request);
    let created = match &wanted {
        Wanted::Named(topics) if may_create => create_missing(shard, topics).await,
        _ => BTreeMap::new(),
    };
    let addresses = brokers::all(shard, context);
    let alive: BTreeSet<i32> = addresses.iter().map(|broker| broker.id).collect();
    let mut topics = describe(&shard.image.borrow(), context.api_version, wanted, &created, &alive);
    for topic in topics.iter_mut().filter(|topic| on_topics && topic.error_code == ErrorCode::NONE.code()) {
        topic.topic_authorized_operations = authorized::ON_TOPIC;
    }
    let brokers = addresses.into_iter().map(|broker| MetadataResponseBroker {
        node_id: broker.id,
        host: broker.host,
        port: broker.port,
        rack: broker.rack,
        ..MetadataResponseBroker::default()
    });
    MetadataResponse {
        brokers: brokers.collect(),
        cluster_id: Some(Str::from(&shard.node.cluster_id)),
        controller_id: shard.node.config.node_id,
        topics,
        cluster_authorized_operations: if on_cluster {
            authorized::ON_CLUSTER
        } else {
            authorized::NOT_ASKED
        },
        ..MetadataResponse::default()
    }
}

/// Which topics are asked for.
#[derive(Debug)]
pub(super) enum Wanted {
    All,
    /// Each once, in the order given.
    Named(Vec<MetadataRequestTopic>),
}

pub(super) fn wanted(version: i16, request: MetadataRequest) -> Wanted {
    let Some(topics) = request.topics else { return Wanted::All };
    if version == 0 && topics.is_empty() {
        return Wanted::All;
    }
    // With an id among them, names don't count.
    let by_id = version >= BY_ID_VERSION && topics.iter().any(|topic| !topic.topic_id.is_zero());
    // Nor does the name beside an id: a client could make up any number of them.
    let key = |topic: &MetadataRequestTopic| match topic.topic_id.is_zero() {
        true => (Uuid::ZERO, topic.name.clone()),
        false => (topic.topic_id, None),
    };
    let mut seen = BTreeSet::new();
    let once = topics
        .into_iter()
        .filter(|topic| !by_id || !topic.topic_id.is_zero())
        .filter(|topic| seen.insert(key(topic)));
    Wanted::Named(once.collect())
}

/// Creates the topics that aren't there; gives the codes of those that couldn't be.
async fn create_missing(shard: &Rc<ShardState>, topics: &[MetadataRequestTopic]) -> BTreeMap<Str, ErrorCode> {
    let missing = |topic: &&MetadataRequestTopic| {
        let name = topic.name.as_deref().unwrap_or_default();
        topic.topic_id.is_zero()
            && check_topic_name(name).is_ok()
            && shard.image.borrow().topic(name).is_none()
    };
    let to_create = topics.iter().filter(missing).filter_map(|topic| topic.name.as_ref()).map(|name| {
        if *name == *OFFSETS_TOPIC {
            return offsets_topic(shard);
        }
        CreatableTopic {
            name: name.clone(),
            num_partitions: -1,
            replication_factor: -1,
            ..CreatableTopic::default()
        }
    });
    let to_create: Vec<CreatableTopic> = to_create.collect();
    if to_create.is_empty() {
        return BTreeMap::new();
    }
    let names: Vec<Str> = to_create.iter().map(|topic| topic.name.clone()).collect();
    let request = CreateTopicsRequest { topics: to_create, ..CreateTopicsRequest::default() };
    match controller::create_topics(shard, request).await {
        Ok(response) => {
            let results = response.topics.into_iter();
            results.map(|topic| (topic.name, ErrorCode::from_code(topic.error_code))).collect()
        }
        Err(code) => {
            tracing::warn!(%code, "topics couldn't create themselves");
            names.into_iter().map(|name| (name, ErrorCode::LEADER_NOT_AVAILABLE)).collect()
        }
    }
}

/// The topics as of `image`. `created` tells what became of those that were to create themselves.
pub(super) fn describe(
    image: &Image,
    version: i16,
    wanted: Wanted,
    created: &BTreeMap<Str, ErrorCode>,
    alive: &BTreeSet<i32>,
) -> Vec<MetadataResponseTopic> {
    let topics = match wanted {
        Wanted::All => return image.topics().map(|topic| known(image, topic, alive)).collect(),
        Wanted::Named(topics) => topics,
    };
    let unknown = |asked, code| unknown(version, asked, code);
    let one = |asked: MetadataRequestTopic| {
        let is_bad = match (&asked.name, asked.topic_id.is_zero()) {
            (_, false) => version < BY_ID_VERSION,
            (None, true) => true,
            (Some(_), true) => false,
        };
        if is_bad {
            return unknown(asked, ErrorCode::INVALID_REQUEST);
        }
        if !asked.topic_id.is_zero() {
            return match image.topic_by_id(asked.topic_id) {
                Some(topic) => known(image, topic, alive),
                None => unknown(MetadataRequestTopic { name: None, ..asked }, ErrorCode::UNKNOWN_TOPIC_ID),
            };
        }
        let name = asked.name.as_deref().unwrap_or_default();
        if let Some(topic) = image.topic(name) {
            return known(image, topic, alive);
        }
        let code = if check_topic_name(name).is_err() {
            ErrorCode::INVALID_TOPIC_EXCEPTION
        } else {
            why_missing(created.get(name).copied())
        };
        unknown(asked, code)
    };
    topics.into_iter().map(one).collect()
}

/// The code of a topic that isn't there, given what became of its creation.
fn why_missing(created: Option<ErrorCode>) -> ErrorCode {
    match created {
        None => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        Some(
            code @ (ErrorCode::INVALID_TOPIC_EXCEPTION
            | ErrorCode::INVALID_REPLICATION_FACTOR
            | ErrorCode::INVALID_PARTITIONS
            | ErrorCode::POLICY_VIOLATION),
        ) => code,
        // Made, and gone again; or it may still be made. Clients ask again.
        Some(_) => ErrorCode::LEADER_NOT_AVAILABLE,
    }
}

fn known(image: &Image, topic: &Topic, alive: &BTreeSet<i32>) -> MetadataResponseTopic {
    let partitions = (0..).zip(&topic.partitions);
    let partitions = partitions.map(|(index, partition)| known_partition(image, index, partition, alive));
    MetadataResponseTopic {
        name: Some(topic.name.clone()),
        topic_id: topic.id,
        is_internal: topic.is_internal(),
        partitions: partitions.collect(),
        ..MetadataResponseTopic::default()
    }
}

fn known_partition(
    image: &Image,
    index: i32,
    partition: &Partition,
    alive: &BTreeSet<i32>,
) -> MetadataResponsePartition {
    let has_leader = alive.contains(&partition.leader);
    let code = if has_leader { ErrorCode::NONE } else { ErrorCode::LEADER_NOT_AVAILABLE };
    MetadataResponsePartition {
        error_code: code.code(),
        partition_index: index,
        leader_id: if has_leader { partition.leader } else { -1 },
        leader_epoch: partition.leader_epoch,
        replica_nodes: partition.replicas.clone(),
        isr_nodes: partition.isr.clone(),
        offline_replicas: image.offline_replicas(partition, alive),
        ..MetadataResponsePartition::default()
    }
}

fn unknown(version: i16, asked: MetadataRequestTopic, code: ErrorCode) -> MetadataResponseTopic {
    // Only an id may go without a name, and only where an id may be asked for: before, the field can't be null.
    let nameless = version >= BY_ID_VERSION && !asked.topic_id.is_zero();
    let name = asked.name.or_else(|| (!nameless).then(Str::default));
    MetadataResponseTopic {
        error_code: code.code(),
        is_internal: name.as_ref().is_some_and(|name| *name == *OFFSETS_TOPIC),
        name,
        topic_id: asked.topic_id,
        ..MetadataResponseTopic::default()
    }
}
