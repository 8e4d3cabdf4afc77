//! The topics of a line.

use std::collections::BTreeMap;
use std::time::Duration;

use client::blocking::{BlockingClient, Target};
use client::{ClientError, Node};
use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::{CreateTopicsRequest, DeleteTopicsRequest, ListOffsetsRequest};

use crate::engine::Layout;
use crate::link::leaders_of;
use crate::scenario::TopicSpec;

/// Highest version filled here, and the first in which the broker has defaults (KIP-464).
const CREATE_MAX: i16 = 7;
const DEFAULTS_FROM: i16 = 4;
const DELETE_MAX: i16 = 6;
const DELETE_STATES_FROM: i16 = 6;
const LIST_OFFSETS_MAX: i16 = 7;
const TIMEOUT_MS: i32 = 60_000;
/// How often leaders are looked for, 100 ms apart.
const TRIES: u32 = 600;
const PAUSE: Duration = Duration::from_millis(100);

/// ListOffsets' words for the ends of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Earliest,
    Latest,
}

/// The topics of a line, and where they are.
#[derive(Debug)]
pub(super) struct Topics {
    pub(super) layout: Layout,
    pub(super) leaders: Vec<i32>,
    pub(super) nodes: BTreeMap<i32, String>,
    /// Those that this line made.
    created: Vec<String>,
}

impl Topics {
    /// Finds the topics or creates them, and waits for their leaders.
    pub(super) fn prepare(
        client: &mut BlockingClient,
        spec: &TopicSpec,
        fresh: &str,
    ) -> Result<Self, ClientError> {
        let names = spec.names(fresh);
        let asked: Vec<&str> = names.iter().map(String::as_str).collect();
        client.refresh(Some(&asked), false)?;
        let created: Vec<String> =
            names.iter().filter(|name| client.cluster().topic(name).is_err()).cloned().collect();
        if !created.is_empty() {
            create(client, spec, &created)?;
        }
        for _ in 0..TRIES {
            client.refresh(Some(&asked), false)?;
            if let Some(layout) = laid_out(client, &names) {
                let leaders = leaders_of(&layout, client.cluster());
                if !leaders.contains(&-1) {
                    let nodes = client.cluster().nodes().map(|node| (node.id, Node::address(node))).collect();
                    return Ok(Self { layout, leaders, nodes, created });
                }
            }
            pause();
        }
        Err(ClientError::Unknown(format!("{} has partitions without a leader", names[0])))
    }

    /// The offset of each slot's end. Waits for leaders that don't know yet that they are.
    pub(super) fn offsets(&self, client: &mut BlockingClient, side: Side) -> Result<Vec<i64>, ClientError> {
        let names: Vec<String> = self.layout.topics().iter().map(|topic| topic.name.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut tries = 0;
        loop {
            tries += 1;
            match self.ask_offsets(client, side) {
                Err(error) if tries < TRIES && error.may_pass() => {
                    pause();
                    // The broker may still be away.
                    if let Err(error) = client.refresh(Some(&names), false)
                        && !error.may_pass()
                    {
                        return Err(error);
                    }
                }
                outcome => return outcome,
            }
        }
    }

    fn ask_offsets(&self, client: &mut BlockingClient, side: Side) -> Result<Vec<i64>, ClientError> {
        let mut offsets = vec![-1; self.layout.slots() as usize];
        let leaders = leaders_of(&self.layout, client.cluster());
        let mut by_leader: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        for (slot, leader) in leaders.iter().enumerate() {
            by_leader.entry(*leader).or_default().push(slot as u32);
        }
        for (leader, slots) in by_leader {
            if leader < 0 {
                let (what, code) = ("offsets".into(), ErrorCode::LEADER_NOT_AVAILABLE);
                return Err(ClientError::Broker { what, code, message: None });
            }
            let (_, answer) = client
                .call(Target::Node(leader), LIST_OFFSETS_MAX, |_| self.offsets_request(&slots, side))?;
            for topic in &answer.topics {
                for found in &topic.partitions {
                    let name = || format!("offsets of {}-{}", topic.name, found.partition_index);
                    ClientError::check(found.error_code, None, name)?;
                    let slot = self.layout.find(&topic.name, Default::default(), found.partition_index);
                    slot.into_iter().for_each(|slot| offsets[slot as usize] = found.offset.max(0));
                }
            }
        }
        match offsets.iter().position(|offset| *offset < 0) {
            Some(slot) => {
                Err(ClientError::Unknown(format!("no offset was told of {}", self.layout.name(slot as u32))))
            }
            None => Ok(offsets),
        }
    }

    fn offsets_request(&self, slots: &[u32], side: Side) -> ListOffsetsRequest {
        let mut topics: BTreeMap<u32, ListOffsetsTopic> = BTreeMap::new();
        for slot in slots {
            let (topic, partition) = self.layout.place(*slot);
            let entry = topics
                .entry(topic.first)
                .or_insert_with(|| ListOffsetsTopic { name: topic.name.clone(), ..Default::default() });
            entry.partitions.push(ListOffsetsPartition {
                partition_index: partition,
                timestamp: if side == Side::Latest { -1 } else { -2 },
                ..Default::default()
            });
        }
        ListOffsetsRequest { replica_id: -1, topics: topics.into_values().collect(), ..Default::default() }
    }

    /// Deletes what this line has made.
    pub(super) fn delete(self, client: &mut BlockingClient) -> Result<(), ClientError> {
        if self.created.is_empty() {
            return Ok(());
        }
        let (_, answer) = client.call(Target::Controller, DELETE_MAX, |version| {
            let mut request = DeleteTopicsRequest { timeout_ms: TIMEOUT_MS, ..Default::default() };
            if version >= DELETE_STATES_FROM {
                let state =
                    |name: &String| DeleteTopicState { name: Some(name.into()), ..Default::default() };
                request.topics = self.created.iter().map(state).collect();
            } else {
                request.topic_names = self.created.iter().map(Into::into).collect();
            }
            request
        })?;
        answer.responses.iter().try_for_each(|topic| {
            ClientError::check(topic.error_code, topic.error_message.as_deref(), || "deleting a topic".into())
        })
    }
}

fn create(client: &mut BlockingClient, spec: &TopicSpec, names: &[String]) -> Result<(), ClientError> {
    let (_, answer) = client.call(Target::Controller, CREATE_MAX, |version| {
        let unset = if version >= DEFAULTS_FROM { -1 } else { 1 };
        let config = |(name, value): (&String, &String)| CreatableTopicConfig {
            name: name.into(),
            value: Some(value.into()),
            ..Default::default()
        };
        let topic = |name: &String| CreatableTopic {
            name: name.into(),
            num_partitions: if spec.partitions > 0 { spec.partitions } else { unset },
            replication_factor: if spec.replication > 0 { spec.replication } else { unset as i16 },
            configs: spec.configs.iter().map(config).collect(),
            ..Default::default()
        };
        let topics = names.iter().map(topic).collect();
        CreateTopicsRequest { topics, timeout_ms: TIMEOUT_MS, ..Default::default() }
    })?;
    for result in &answer.topics {
        if result.error_code != ErrorCode::TOPIC_ALREADY_EXISTS.code() {
            let what = || format!("creating topic {}", result.name);
            ClientError::check(result.error_code, result.error_message.as_deref(), what)?;
        }
    }
    Ok(())
}

/// All topics with all their partitions, numbered without gaps; none while one is missing.
fn laid_out(client: &BlockingClient, names: &[String]) -> Option<Layout> {
    let mut layout = Layout::default();
    for name in names {
        let topic = client.cluster().topic(name).ok()?;
        let partitions = topic.partitions.len();
        let is_whole = topic.partitions.keys().copied().eq(0..partitions as i32);
        if partitions == 0 || !is_whole {
            return None;
        }
        layout.add(name.into(), topic.id, partitions as u32);
    }
    Some(layout)
}

#[expect(clippy::disallowed_methods, reason = "the caller's thread, outside rt")]
fn pause() {
    std::thread::sleep(PAUSE);
}
