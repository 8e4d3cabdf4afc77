//! What a client knows of a cluster.

use std::collections::BTreeMap;

use protocol::error::ErrorCode;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::metadata_response::{MetadataResponsePartition, MetadataResponseTopic};
use protocol::messages::{
    FindCoordinatorRequest, FindCoordinatorResponse, MetadataRequest, MetadataResponse,
};
use protocol::types::{Str, Uuid};

use crate::ClientError;

/// A broker's id and address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// `node.id`.
    pub id: i32,
    /// Host, as advertised.
    pub host: String,
    /// Port, as advertised.
    pub port: u16,
}

impl Node {
    fn new(id: i32, host: &Str, port: i32) -> Self {
        // A port that is none makes the node unreachable, which connecting reports.
        Self { id, host: host.to_string(), port: u16::try_from(port).unwrap_or(0) }
    }

    /// `host:port`, an IPv6 host in brackets.
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// A topic, as metadata tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInfo {
    /// Topic id; zero from brokers before Kafka 2.8.
    pub id: Uuid,
    /// Kafka's own, as `__consumer_offsets`.
    pub is_internal: bool,
    /// Partitions by index.
    pub partitions: BTreeMap<i32, PartitionInfo>,
}

/// A partition, as metadata tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Id of the leader's node, -1 without one.
    pub leader: i32,
    /// The leader's epoch; -1 from old brokers.
    pub leader_epoch: i32,
    /// Nodes with a replica, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Nodes in sync.
    pub isr: Vec<i32>,
    /// Nodes whose replica is offline.
    pub offline: Vec<i32>,
}

/// Brokers, topics and coordinators, as far as answers have told them: makes the requests that ask, takes the
/// answers, answers lookups. Holds what was asked for, no more. Pure; the driver sends.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    cluster_id: Option<String>,
    controller: i32,
    nodes: BTreeMap<i32, Node>,
    topics: BTreeMap<String, TopicInfo>,
    errors: BTreeMap<String, ErrorCode>,
    coordinators: BTreeMap<String, i32>,
}

impl Cluster {
    /// Nothing known.
    pub fn new() -> Self {
        Self { controller: -1, ..Self::default() }
    }

    /// Asks for these topics, or for all; `create` lets the broker create them if its config does.
    pub fn metadata_request(topics: Option<&[&str]>, create: bool, version: i16) -> MetadataRequest {
        let named = |name: &&str| MetadataRequestTopic { name: Some((*name).into()), ..Default::default() };
        let mut request = MetadataRequest {
            topics: topics.map(|topics| topics.iter().map(named).collect()),
            ..MetadataRequest::default()
        };
        if version >= 4 {
            request.allow_auto_topic_creation = create;
        }
        if version == 0 && topics.is_none() {
            request.topics = Some(Vec::new()); // version 0 says "all" so
        }
        request
    }

    /// Takes the answer: replaces what is known of brokers and of the topics it names.
    pub fn take_metadata(&mut self, answer: &MetadataResponse) {
        self.cluster_id = answer.cluster_id.as_ref().map(|id| id.to_string());
        self.controller = answer.controller_id;
        let nodes = answer.brokers.iter().map(|broker| Node::new(broker.node_id, &broker.host, broker.port));
        self.nodes = nodes.map(|node| (node.id, node)).collect();
        for topic in &answer.topics {
            self.take_topic(topic);
        }
    }

    fn take_topic(&mut self, topic: &MetadataResponseTopic) {
        let Some(name) = topic.name.as_ref().map(|name| name.to_string()) else { return };
        if topic.error_code != 0 {
            self.topics.remove(&name);
            self.errors.insert(name, ErrorCode::from_code(topic.error_code));
            return;
        }
        self.errors.remove(&name);
        let partitions =
            topic.partitions.iter().map(|found| (found.partition_index, partition(found))).collect();
        self.topics
            .insert(name, TopicInfo { id: topic.topic_id, is_internal: topic.is_internal, partitions });
    }

    /// Asks for a group's coordinator.
    pub fn coordinator_request(group: &str, version: i16) -> FindCoordinatorRequest {
        let mut request = FindCoordinatorRequest::default();
        if version >= 4 {
            request.coordinator_keys = vec![group.into()];
        } else {
            request.key = group.into();
        }
        request
    }

    /// Takes the answer for `group`.
    ///
    /// # Errors
    /// The broker's, as COORDINATOR_NOT_AVAILABLE, which passes.
    pub fn take_coordinator(
        &mut self,
        group: &str,
        answer: &FindCoordinatorResponse,
    ) -> Result<(), ClientError> {
        let what = || format!("coordinator of group {group}");
        let node = match answer.coordinators.first() {
            Some(found) => {
                ClientError::check(found.error_code, found.error_message.as_deref(), what)?;
                Node::new(found.node_id, &found.host, found.port)
            }
            None => {
                ClientError::check(answer.error_code, answer.error_message.as_deref(), what)?;
                Node::new(answer.node_id, &answer.host, answer.port)
            }
        };
        self.coordinators.insert(group.to_owned(), node.id);
        self.nodes.insert(node.id, node);
        Ok(())
    }

    /// Forgets a group's coordinator, after NOT_COORDINATOR and the like.
    pub fn forget_coordinator(&mut self, group: &str) {
        self.coordinators.remove(group);
    }

    /// The cluster's id, once told.
    pub fn cluster_id(&self) -> Option<&str> {
        self.cluster_id.as_deref()
    }

    /// The controller, as brokers tell clients: any node that forwards to it.
    pub fn controller(&self) -> Option<&Node> {
        self.nodes.get(&self.controller)
    }

    /// All brokers, by id.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// A broker.
    pub fn node(&self, id: i32) -> Option<&Node> {
        self.nodes.get(&id)
    }

    /// All topics known, by name.
    pub fn topics(&self) -> impl Iterator<Item = (&str, &TopicInfo)> {
        self.topics.iter().map(|(name, topic)| (name.as_str(), topic))
    }

    /// A topic that was asked for.
    ///
    /// # Errors
    /// What the broker said of it; UNKNOWN_TOPIC_OR_PARTITION if it said nothing.
    pub fn topic(&self, name: &str) -> Result<&TopicInfo, ClientError> {
        self.topics.get(name).ok_or_else(|| {
            let code = self.errors.get(name).copied().unwrap_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
            ClientError::Broker { what: format!("topic {name}"), code, message: None }
        })
    }

    /// The node that leads a partition.
    ///
    /// # Errors
    /// As [`topic`](Self::topic); `Broker` if the partition doesn't exist or has no leader.
    pub fn leader(&self, topic: &str, partition: i32) -> Result<&Node, ClientError> {
        let fail = |code| ClientError::Broker {
            what: format!("partition {topic}-{partition}"),
            code,
            message: None,
        };
        let found = self.topic(topic)?.partitions.get(&partition);
        let found = found.ok_or_else(|| fail(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION))?;
        self.nodes.get(&found.leader).ok_or_else(|| fail(ErrorCode::LEADER_NOT_AVAILABLE))
    }

    /// A group's coordinator, if known.
    pub fn coordinator(&self, group: &str) -> Option<&Node> {
        self.nodes.get(self.coordinators.get(group)?)
    }
}

fn partition(found: &MetadataResponsePartition) -> PartitionInfo {
    PartitionInfo {
        leader: found.leader_id,
        leader_epoch: found.leader_epoch,
        replicas: found.replica_nodes.clone(),
        isr: found.isr_nodes.clone(),
        offline: found.offline_replicas.clone(),
    }
}
