//! [`Reader`]: a consumer without a group, reading all topics from their start by Fetch.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use protocol::error::ErrorCode;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::fetch_response::PartitionData;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::{FetchRequest, FetchResponse, ListOffsetsRequest};
use protocol::types::Str;

use crate::batch;
use crate::checkers::ReadAsked;
use crate::link::{Link, Lost};
use crate::story::{Story, chance, random};
use crate::topics::{Known, Place, Topic};

const LATEST: i64 = -1;

/// Reads everything, and now and then again what it has read, until the story ends.
pub(crate) struct Reader {
    story: Rc<Story>,
    positions: BTreeMap<Place, i64>,
    version_max: i16,
}

/// An incremental fetch session (KIP-227), or none.
#[derive(Debug, Clone, Copy)]
struct Session {
    id: i32,
    /// Of the next request: 0 opens one, -1 goes without.
    epoch: i32,
}

impl Reader {
    pub(crate) fn new(story: Rc<Story>) -> Reader {
        let places = Topic::ALL.into_iter().flat_map(Topic::places);
        Reader { story, positions: places.map(|place| (place, 0)).collect(), version_max: i16::MAX }
    }

    /// Runs until the story ends.
    pub(crate) async fn run(mut self) {
        while !self.story.is_ending() {
            // Topics go by id from 13 on; sessions came with 7.
            self.version_max = [6, 11, 12, i16::MAX][random(4) as usize];
            if let Err(lost) = self.connected().await {
                self.story.note(format_args!("reader: {lost}"));
            }
            rt::sleep(Duration::from_millis(20 + random(200))).await;
        }
    }

    async fn connected(&mut self) -> Result<(), Lost> {
        let mut link = Link::open(self.story.broker(), "reader").await?;
        let known = Known::ask(&mut link).await?;
        let mut session = Session { id: 0, epoch: if chance(70) { 0 } else { -1 } };
        let mut asked_at = BTreeMap::new();
        while !self.story.is_ending() {
            if chance(5) {
                self.check_latest(&mut link).await?;
            }
            self.rewind();
            let sent = self.positions.clone();
            let (response, asked) = self.fetch(&mut link, &known, session, &asked_at).await?;
            asked_at = sent;
            let code = ErrorCode::from_code(response.error_code);
            if code.is_error() {
                return Err(Lost::refused("fetch", code));
            }
            if session.epoch >= 0 {
                session = Session {
                    id: response.session_id,
                    epoch: if response.session_id == 0 { -1 } else { session.epoch + 1 },
                };
            }
            self.take(&known, response, &asked)?;
            rt::sleep(Duration::from_millis(random(120))).await;
        }
        Ok(())
    }

    /// Goes back somewhere, to read again what was read.
    fn rewind(&mut self) {
        for position in self.positions.values_mut() {
            if chance(2) {
                *position = random(*position as u64 + 1) as i64;
            }
        }
    }

    /// Asks for all partitions; within a session for those whose position moved since `asked_at`.
    async fn fetch(
        &self,
        link: &mut Link,
        known: &Known,
        session: Session,
        asked_at: &BTreeMap<Place, i64>,
    ) -> Result<(FetchResponse, BTreeMap<Place, ReadAsked>), Lost> {
        let is_update = session.epoch > 0;
        let mut topics = Vec::new();
        for topic in Topic::ALL {
            let moved = |place: &Place| !is_update || asked_at.get(place) != self.positions.get(place);
            let partition = |place: Place| FetchPartition {
                partition: place.partition,
                fetch_offset: self.positions[&place],
                current_leader_epoch: if chance(50) { known.leader_epoch(place) } else { -1 },
                partition_max_bytes: [1, 4_000, 100_000][random(3) as usize],
                ..Default::default()
            };
            let partitions: Vec<FetchPartition> = topic.places().filter(moved).map(partition).collect();
            if !partitions.is_empty() {
                let (topic, topic_id) = (Str::from_static(topic.name()), known.id(topic));
                topics.push(FetchTopic { topic, topic_id, partitions, ..Default::default() });
            }
        }
        let max_wait_ms = [0, 50, 500][random(3) as usize];
        let request = FetchRequest {
            max_wait_ms,
            min_bytes: [0, 1, 10_000][random(3) as usize],
            max_bytes: [1, 20_000, 1 << 20][random(3) as usize],
            session_id: session.id,
            session_epoch: session.epoch,
            topics,
            ..Default::default()
        };
        let asked =
            self.positions.keys().map(|place| (*place, self.story.reads.borrow().ask(*place))).collect();
        let extra = Duration::from_millis(max_wait_ms as u64);
        let response = link.call(&request, self.version_max, extra).await?;
        Ok((response, asked))
    }

    fn take(
        &mut self,
        known: &Known,
        response: FetchResponse,
        asked: &BTreeMap<Place, ReadAsked>,
    ) -> Result<(), Lost> {
        for answered in response.responses {
            let topic = match answered.topic_id.is_zero() {
                true => Topic::named(&answered.topic),
                false => known.by_id(answered.topic_id),
            };
            for data in answered.partitions {
                let place = Place { topic, partition: data.partition_index };
                self.take_partition(place, asked[&place], &data)?;
            }
        }
        Ok(())
    }

    fn take_partition(&mut self, place: Place, asked: ReadAsked, data: &PartitionData) -> Result<(), Lost> {
        let position = self.positions.get_mut(&place).expect("only what was asked for is answered");
        match ErrorCode::from_code(data.error_code) {
            ErrorCode::NONE => {}
            ErrorCode::OFFSET_OUT_OF_RANGE => {
                let may_be = !place.topic.promise().reads_survive_power_cuts();
                assert!(may_be, "{place}: {position} is out of range, and was read up to");
                *position = 0;
                return Ok(());
            }
            code => return Err(Lost::refused(place, code)),
        }
        let batches = data.records.as_ref().map(batch::split).unwrap_or_default();
        let mut reads = self.story.reads.borrow_mut();
        (_, *position) = reads.fetched(asked, place, *position, data.high_watermark, &batches);
        Ok(())
    }

    /// The latest offset is at or behind all that was acknowledged before it was asked for.
    async fn check_latest(&mut self, link: &mut Link) -> Result<(), Lost> {
        let topic = Topic::Synced;
        let partition = |place: Place| ListOffsetsPartition {
            partition_index: place.partition,
            timestamp: LATEST,
            ..Default::default()
        };
        let asked = ListOffsetsTopic {
            name: Str::from_static(topic.name()),
            partitions: topic.places().map(partition).collect(),
            ..Default::default()
        };
        let request = ListOffsetsRequest { replica_id: -1, topics: vec![asked], ..Default::default() };
        let ends_min: Vec<i64> =
            topic.places().map(|place| self.story.acked.borrow().end_min(place)).collect();
        let reads: Vec<_> = topic.places().map(|place| self.story.reads.borrow().ask(place)).collect();
        let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
        let answered = response.topics.into_iter().flat_map(|topic| topic.partitions);
        for (place, ((end_min, asked), answer)) in
            topic.places().zip(ends_min.into_iter().zip(reads).zip(answered))
        {
            match ErrorCode::from_code(answer.error_code) {
                ErrorCode::NONE => {}
                code => return Err(Lost::refused(place, code)),
            }
            assert!(
                answer.offset >= end_min,
                "{place} ends at {}, acknowledged is up to {end_min}",
                answer.offset
            );
            self.story.reads.borrow_mut().told_high_watermark(asked, place, answer.offset);
        }
        Ok(())
    }
}
