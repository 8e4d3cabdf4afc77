//! The metadata quorum (KIP-595, KIP-836).

use client::ClientError;
use client::blocking::Target;
use protocol::messages::DescribeQuorumRequest;
use protocol::messages::describe_quorum_request::{PartitionData, TopicData};
use protocol::messages::describe_quorum_response::ReplicaState;
use serde_json::{Value, json};

use crate::cli::session::Session;

/// The quorum, as its leader sees it.
pub(super) struct Quorum {
    pub(super) leader: i32,
    pub(super) epoch: i32,
    pub(super) high_watermark: i64,
    /// Voters first.
    pub(super) members: Vec<Member>,
}

/// A node that follows the metadata.
pub(super) struct Member {
    pub(super) id: i32,
    /// `voter` or `observer`.
    pub(super) role: &'static str,
    pub(super) directory: Option<String>,
    pub(super) end_offset: i64,
    /// In ms since 1970; none if unknown.
    last_caught_up_ms: Option<i64>,
}

const DESCRIBE_QUORUM_MAX: i16 = 2;
const METADATA_TOPIC: &str = "__cluster_metadata";

pub(super) fn quorum(session: &mut Session) -> Result<Quorum, ClientError> {
    let (_, answer) = session.client.call(Target::Any, DESCRIBE_QUORUM_MAX, |_| DescribeQuorumRequest {
        topics: vec![TopicData {
            topic_name: METADATA_TOPIC.into(),
            partitions: vec![PartitionData { partition_index: 0, ..Default::default() }],
            ..Default::default()
        }],
        ..Default::default()
    })?;
    let what = || "the metadata quorum".to_owned();
    ClientError::check(answer.error_code, answer.error_message.as_deref(), what)?;
    let found = answer.topics.first().and_then(|topic| topic.partitions.first());
    let found =
        found.ok_or_else(|| ClientError::Unknown("nothing was said about the metadata quorum".into()))?;
    ClientError::check(found.error_code, found.error_message.as_deref(), what)?;
    let voters = found.current_voters.iter().map(|state| member(state, "voter"));
    let observers = found.observers.iter().map(|state| member(state, "observer"));
    Ok(Quorum {
        leader: found.leader_id,
        epoch: found.leader_epoch,
        high_watermark: found.high_watermark,
        members: voters.chain(observers).collect(),
    })
}

fn member(state: &ReplicaState, role: &'static str) -> Member {
    let directory = state.replica_directory_id;
    Member {
        id: state.replica_id,
        role,
        directory: (!directory.is_zero()).then(|| directory.to_string()),
        end_offset: state.log_end_offset,
        last_caught_up_ms: Some(state.last_caught_up_timestamp).filter(|ms| *ms >= 0),
    }
}

impl Quorum {
    /// How many records a member is behind the leader.
    pub(super) fn lag(&self, member: &Member) -> i64 {
        let leader = self.members.iter().find(|member| member.id == self.leader);
        leader.map_or(0, |leader| leader.end_offset.saturating_sub(member.end_offset).max(0))
    }

    pub(super) fn as_json(&self) -> Value {
        let member = |member: &Member| {
            json!({
                "node": member.id, "role": member.role, "directory": member.directory, "end_offset": member.end_offset,
                "lag": self.lag(member), "last_caught_up_ms": member.last_caught_up_ms,
            })
        };
        json!({
            "leader": self.leader, "epoch": self.epoch, "high_watermark": self.high_watermark,
            "members": self.members.iter().map(member).collect::<Vec<_>>(),
        })
    }
}
