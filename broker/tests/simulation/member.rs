//! [`Member`]: a consumer in a classic group, which reads what it is given and commits.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use protocol::error::ErrorCode;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    FetchRequest, FindCoordinatorRequest, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse,
    LeaveGroupRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
};
use protocol::types::Str;

use crate::batch;
use crate::link::{Link, Lost};
use crate::story::{Story, chance, random};
use crate::topics::{Known, Place, Topic};

/// The group of the run.
const GROUP: &str = "readers";
const TOPIC: Topic = Topic::Synced;
const SESSION_TIMEOUT_MS: i32 = 6_000;
const REBALANCE_TIMEOUT_MS: i32 = 3_000;

/// Why a member doesn't go on in its generation.
enum Ended {
    /// The group rebalances: it joins again as the member it is.
    Rebalance,
    /// It isn't a member any more, or can't know: it joins as a new one.
    Fenced,
    /// The connection is lost.
    Lost(Lost),
}

impl From<Lost> for Ended {
    fn from(lost: Lost) -> Ended {
        Ended::Lost(lost)
    }
}

impl Ended {
    /// What an error of the coordinator means to a member.
    fn of(what: &str, code: ErrorCode) -> Ended {
        match code {
            ErrorCode::REBALANCE_IN_PROGRESS => Ended::Rebalance,
            ErrorCode::UNKNOWN_MEMBER_ID | ErrorCode::ILLEGAL_GENERATION => Ended::Fenced,
            code => Ended::Lost(Lost::refused(what, code)),
        }
    }

    fn check(what: &str, code: i16) -> Result<(), Ended> {
        match ErrorCode::from_code(code) {
            ErrorCode::NONE => Ok(()),
            code => Err(Ended::of(what, code)),
        }
    }
}

/// A member of the group, which comes, reads, commits, and sometimes goes.
///
/// It commits upwards from what it fetched. When it can't know what became of a commit, it joins as a new member: only a new generation
/// fences a commit that may still be on its way.
pub(crate) struct Member {
    story: Rc<Story>,
    id: Str,
    positions: BTreeMap<i32, i64>,
    version_max: i16,
}

impl Member {
    pub(crate) fn new(story: Rc<Story>) -> Member {
        Member { story, id: Str::default(), positions: BTreeMap::new(), version_max: i16::MAX }
    }

    /// Runs until the story ends.
    pub(crate) async fn run(mut self) {
        while !self.story.is_ending() {
            // 9 is the last that names topics in commits; 3 the first that isn't ancient everywhere.
            self.version_max = [3, 5, 9, i16::MAX][random(4) as usize];
            if let Err(lost) = self.connected().await {
                self.story.note(format_args!("member {}: {lost}", self.id));
                self.id = Str::default();
            }
            rt::sleep(Duration::from_millis(20 + random(300))).await;
        }
    }

    async fn connected(&mut self) -> Result<(), Lost> {
        let mut link = Link::open(self.story.broker(), "member").await?;
        let known = Known::ask(&mut link).await?;
        self.find_coordinator(&mut link).await?;
        while !self.story.is_ending() {
            match self.generation(&mut link, &known).await {
                Ok(()) => {}
                Err(Ended::Rebalance) => {}
                Err(Ended::Fenced) => self.id = Str::default(),
                Err(Ended::Lost(lost)) => return Err(lost),
            }
        }
        Ok(())
    }

    async fn find_coordinator(&self, link: &mut Link) -> Result<(), Lost> {
        let request = FindCoordinatorRequest { key: Str::from_static(GROUP), ..Default::default() };
        // One key, as of before version 4.
        let response = link.call(&request, 3, Duration::ZERO).await?;
        match ErrorCode::from_code(response.error_code) {
            ErrorCode::NONE => Ok(()),
            code => Err(Lost::refused("coordinator", code)),
        }
    }

    /// From joining to the end of what was joined.
    async fn generation(&mut self, link: &mut Link, known: &Known) -> Result<(), Ended> {
        let joined = self.join(link).await?;
        let generation = joined.generation_id;
        let owned = self.sync(link, joined).await?;
        self.story.owners.borrow_mut().assigned(generation, &self.id, &owned);
        self.fetch_committed(link, known, &owned).await?;
        loop {
            self.read(link, known).await?;
            if chance(60) {
                self.commit(link, known, generation).await?;
            }
            if chance(3) || self.story.is_ending() {
                return self.leave(link).await;
            }
            self.heartbeat(link, generation).await?;
            rt::sleep(Duration::from_millis(random(200))).await;
        }
    }

    async fn join(&mut self, link: &mut Link) -> Result<JoinGroupResponse, Ended> {
        loop {
            let protocols = vec![JoinGroupRequestProtocol { name: "ours".into(), ..Default::default() }];
            let request = JoinGroupRequest {
                group_id: GROUP.into(),
                session_timeout_ms: SESSION_TIMEOUT_MS,
                rebalance_timeout_ms: REBALANCE_TIMEOUT_MS,
                member_id: self.id.clone(),
                protocol_type: "tests".into(),
                protocols,
                ..Default::default()
            };
            let extra = Duration::from_millis(2 * SESSION_TIMEOUT_MS as u64);
            let joined = link.call(&request, self.version_max, extra).await?;
            match ErrorCode::from_code(joined.error_code) {
                ErrorCode::MEMBER_ID_REQUIRED => self.id = joined.member_id,
                ErrorCode::NONE => {
                    self.id = joined.member_id.clone();
                    return Ok(joined);
                }
                code => return Err(Ended::of("join", code)),
            }
        }
    }

    /// Gives the partitions that are now this member's.
    async fn sync(&self, link: &mut Link, joined: JoinGroupResponse) -> Result<Vec<i32>, Ended> {
        // The leader deals the partitions in turn.
        let mut dealt: BTreeMap<Str, Vec<i32>> = BTreeMap::new();
        let members: Vec<Str> = joined.members.into_iter().map(|member| member.member_id).collect();
        for (partition, member) in (0..TOPIC.partitions()).zip(members.iter().cycle()) {
            dealt.entry(member.clone()).or_default().push(partition);
        }
        let assignments = dealt.into_iter().map(|(member_id, partitions)| SyncGroupRequestAssignment {
            member_id,
            assignment: written(&partitions),
            ..Default::default()
        });
        let request = SyncGroupRequest {
            group_id: GROUP.into(),
            generation_id: joined.generation_id,
            member_id: self.id.clone(),
            // Answers to joins before version 7 don't say it.
            protocol_type: Some("tests".into()),
            protocol_name: Some("ours".into()),
            assignments: assignments.collect(),
            ..Default::default()
        };
        let extra = Duration::from_millis(2 * SESSION_TIMEOUT_MS as u64);
        let response = link.call(&request, self.version_max, extra).await?;
        Ended::check("sync", response.error_code)?;
        Ok(read_back(&response.assignment))
    }

    async fn fetch_committed(&mut self, link: &mut Link, known: &Known, owned: &[i32]) -> Result<(), Ended> {
        let topic = OffsetFetchRequestTopics {
            name: TOPIC.name().into(),
            topic_id: known.id(TOPIC),
            partition_indexes: owned.to_vec(),
            ..Default::default()
        };
        let group = OffsetFetchRequestGroup {
            group_id: GROUP.into(),
            topics: Some(vec![topic]),
            ..Default::default()
        };
        let request = OffsetFetchRequest { groups: vec![group], ..Default::default() };
        let sure: Vec<i64> =
            owned.iter().map(|partition| self.story.commits.borrow().sure(*partition)).collect();
        let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
        let [group] = &response.groups[..] else { panic!("one group was asked: {response:?}") };
        Ended::check("offsets", group.error_code)?;
        let answered = group.topics.iter().flat_map(|topic| &topic.partitions);
        self.positions.clear();
        for ((partition, sure), answer) in owned.iter().zip(sure).zip(answered) {
            Ended::check("offset", answer.error_code)?;
            self.story.commits.borrow_mut().told(*partition, sure, answer.committed_offset);
            self.positions.insert(*partition, answer.committed_offset.max(0));
        }
        assert_eq!(self.positions.len(), owned.len(), "each partition is answered");
        Ok(())
    }

    async fn read(&mut self, link: &mut Link, known: &Known) -> Result<(), Ended> {
        let partitions = self.positions.iter().map(|(partition, offset)| FetchPartition {
            partition: *partition,
            fetch_offset: *offset,
            partition_max_bytes: 20_000,
            ..Default::default()
        });
        let topic = FetchTopic {
            topic: TOPIC.name().into(),
            topic_id: known.id(TOPIC),
            partitions: partitions.collect(),
            ..Default::default()
        };
        let request =
            FetchRequest { max_wait_ms: 100, min_bytes: 1, topics: vec![topic], ..Default::default() };
        let places = self.positions.keys().map(|partition| Place { topic: TOPIC, partition: *partition });
        let asked: BTreeMap<_, _> =
            places.map(|place| (place, self.story.reads.borrow().ask(place))).collect();
        let response = link.call(&request, i16::MAX, Duration::from_millis(100)).await?;
        for data in response.responses.iter().flat_map(|topic| &topic.partitions) {
            let place = Place { topic: TOPIC, partition: data.partition_index };
            Ended::check("fetch", data.error_code)?;
            let batches = data.records.as_ref().map(batch::split).unwrap_or_default();
            let position = self.positions.get_mut(&data.partition_index).expect("only what was asked for");
            let mut reads = self.story.reads.borrow_mut();
            (_, *position) = reads.fetched(asked[&place], place, *position, data.high_watermark, &batches);
        }
        Ok(())
    }

    async fn commit(&self, link: &mut Link, known: &Known, generation: i32) -> Result<(), Ended> {
        let partitions = self.positions.iter().map(|(partition, offset)| OffsetCommitRequestPartition {
            partition_index: *partition,
            committed_offset: *offset,
            committed_metadata: Some(self.id.clone()),
            ..Default::default()
        });
        let topic = OffsetCommitRequestTopic {
            name: TOPIC.name().into(),
            topic_id: known.id(TOPIC),
            partitions: partitions.collect(),
            ..Default::default()
        };
        let request = OffsetCommitRequest {
            group_id: GROUP.into(),
            generation_id_or_member_epoch: generation,
            member_id: self.id.clone(),
            topics: vec![topic],
            ..Default::default()
        };
        for (partition, offset) in &self.positions {
            self.story.commits.borrow_mut().trying(*partition, *offset);
        }
        // At least 2: what came before isn't known here.
        let response = link.call(&request, self.version_max.max(2), Duration::ZERO).await?;
        let answered = response.topics.iter().flat_map(|topic| &topic.partitions);
        for ((partition, offset), answer) in self.positions.iter().zip(answered) {
            assert_eq!(answer.partition_index, *partition, "in the order of the request");
            Ended::check("commit", answer.error_code)?;
            self.story.commits.borrow_mut().acked(*partition, *offset);
        }
        Ok(())
    }

    async fn heartbeat(&self, link: &mut Link, generation: i32) -> Result<(), Ended> {
        let request = HeartbeatRequest {
            group_id: GROUP.into(),
            generation_id: generation,
            member_id: self.id.clone(),
            ..Default::default()
        };
        let response = link.call(&request, self.version_max, Duration::ZERO).await?;
        Ended::check("heartbeat", response.error_code)
    }

    async fn leave(&self, link: &mut Link) -> Result<(), Ended> {
        let member_id = self.id.clone();
        let members = vec![MemberIdentity { member_id, ..Default::default() }];
        let request = LeaveGroupRequest { group_id: GROUP.into(), members, ..Default::default() };
        let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
        Ended::check("leave", response.error_code)?;
        Err(Ended::Fenced)
    }
}

/// An assignment: the coordinator doesn't look into it.
fn written(partitions: &[i32]) -> Bytes {
    let mut bytes = BytesMut::new();
    partitions.iter().for_each(|partition| bytes.extend_from_slice(&partition.to_be_bytes()));
    bytes.freeze()
}

fn read_back(assignment: &Bytes) -> Vec<i32> {
    let partition = |bytes: &[u8]| i32::from_be_bytes(bytes.try_into().expect("4 bytes each"));
    assignment.chunks(4).map(partition).collect()
}
