//! [`Producer`]: an idempotent producer with retries, as Kafka's clients are.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use client::RequestId;
use protocol::error::ErrorCode;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::produce_response::PartitionProduceResponse;
use protocol::messages::{InitProducerIdRequest, ProduceRequest};
use protocol::records::Compression;
use protocol::types::Str;

use crate::batch::{self, RecordId};
use crate::checkers::Asked;
use crate::link::{Link, Lost};
use crate::story::{Story, chance, random};
use crate::topics::{Known, Place, Topic};

/// Requests in flight, and so batches of a partition: as many as a broker remembers of a producer.
const IN_FLIGHT_MAX: usize = 5;

/// A batch that isn't acknowledged. It is sent again, the same bytes, until it is.
struct Batch {
    first: RecordId,
    count: u32,
    records: Bytes,
}

impl Batch {
    fn names(&self) -> impl Iterator<Item = RecordId> {
        let first = self.first;
        (0..u64::from(self.count)).map(move |at| RecordId { number: first.number + at, ..first })
    }
}

/// The producer's batches for one partition, in order.
struct Lane {
    place: Place,
    window: VecDeque<Batch>,
    /// How many of the window were sent by the connection in use.
    sent: usize,
    next_sequence: i32,
}

/// A request in flight: the lanes that have a batch in it.
struct InFlight {
    id: RequestId,
    asked: Asked,
    lanes: Vec<usize>,
}

/// Writes to all partitions of one topic until the story ends, then until everything is answered.
///
/// One producer id, a sequence a partition, up to five requests in flight. Whatever isn't answered well is sent again by the next
/// connection, in order.
pub(crate) struct Producer {
    story: Rc<Story>,
    number: u16,
    topic: Topic,
    lanes: Vec<Lane>,
    /// Id and epoch, and the losses of power when they were given.
    id: Option<(i64, i16, Asked)>,
    next_record: u64,
    version_max: i16,
}

impl Producer {
    pub(crate) fn new(story: Rc<Story>, number: u16, topic: Topic) -> Producer {
        let lane = |place| Lane { place, window: VecDeque::new(), sent: 0, next_sequence: 0 };
        Producer {
            story,
            number,
            topic,
            lanes: topic.places().map(lane).collect(),
            id: None,
            next_record: 0,
            version_max: i16::MAX,
        }
    }

    /// Runs until all is said and answered.
    pub(crate) async fn run(mut self) {
        loop {
            // From version 13 on topics go by id; 9 is the first flexible one.
            self.version_max = [7, 9, 12, i16::MAX][random(4) as usize];
            match self.connected().await {
                Ok(()) => return,
                Err(lost) => self.story.note(format_args!("producer {}: {lost}", self.number)),
            }
            rt::sleep(Duration::from_millis(20 + random(200))).await;
        }
    }

    async fn connected(&mut self) -> Result<(), Lost> {
        let mut link = Link::open(self.story.broker(), "producer").await?;
        let known = Known::ask(&mut link).await?;
        self.ensure_id(&mut link).await?;
        for lane in &mut self.lanes {
            lane.sent = 0;
        }
        let mut in_flight = VecDeque::new();
        loop {
            if in_flight.len() < IN_FLIGHT_MAX {
                if !self.story.is_ending() {
                    self.fill();
                }
                in_flight.extend(self.send(&mut link, &known).await?);
            }
            match in_flight.pop_front() {
                Some(oldest) if in_flight.len() + 1 == IN_FLIGHT_MAX || chance(50) => {
                    self.take_answer(&mut link, oldest).await?;
                }
                Some(oldest) => in_flight.push_front(oldest),
                None if self.story.is_ending() && self.lanes.iter().all(|lane| lane.window.is_empty()) => {
                    return Ok(());
                }
                None => {}
            }
            if chance(70) {
                rt::sleep(Duration::from_millis(random(120))).await;
            }
        }
    }

    async fn ensure_id(&mut self, link: &mut Link) -> Result<(), Lost> {
        if self.id.is_some() {
            return Ok(());
        }
        let asked = self.story.acked.borrow().ask();
        let request = InitProducerIdRequest {
            transactional_id: None,
            transaction_timeout_ms: 60_000,
            ..Default::default()
        };
        let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
        match ErrorCode::from_code(response.error_code) {
            ErrorCode::NONE => {
                self.story.producer_ids.borrow_mut().given(response.producer_id);
                self.id = Some((response.producer_id, response.producer_epoch, asked));
                Ok(())
            }
            code => Err(Lost::refused("a producer id", code)),
        }
    }

    /// Makes new batches for some of the partitions that have room.
    fn fill(&mut self) {
        let Some((id, epoch, _)) = self.id else { return };
        for lane in self.lanes.iter_mut().filter(|lane| lane.window.len() < IN_FLIGHT_MAX) {
            if !chance(60) {
                continue;
            }
            let first = RecordId { producer: self.number, number: self.next_record };
            let count = 1 + random(4) as u32;
            let value_bytes = [20, 200, 1_000, 4_500][random(4) as usize];
            let codec = if chance(30) { Compression::Lz4 } else { Compression::None };
            let sequence = lane.next_sequence;
            let records = batch::make(first, count, value_bytes, codec, (id, epoch, sequence));
            let batch = Batch { first, count, records };
            batch.names().for_each(|name| self.story.acked.borrow_mut().sent(lane.place, name));
            lane.window.push_back(batch);
            lane.next_sequence += count as i32;
            self.next_record += u64::from(count);
        }
    }

    /// Sends the next batch of each partition that has one; none if there is none.
    async fn send(&mut self, link: &mut Link, known: &Known) -> Result<Option<InFlight>, Lost> {
        let (mut lanes, mut partition_data) = (Vec::new(), Vec::new());
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            let Some(batch) = lane.window.get(lane.sent) else { continue };
            lane.sent += 1;
            lanes.push(at);
            let records = Some(batch.records.clone());
            partition_data.push(PartitionProduceData {
                index: lane.place.partition,
                records,
                ..Default::default()
            });
        }
        if lanes.is_empty() {
            return Ok(None);
        }
        let topic = TopicProduceData {
            name: Str::from_static(self.topic.name()),
            topic_id: known.id(self.topic),
            partition_data,
            ..Default::default()
        };
        let request = ProduceRequest {
            acks: self.topic.acks(),
            timeout_ms: 2_000,
            topic_data: vec![topic],
            ..Default::default()
        };
        let asked = self.story.acked.borrow().ask();
        let id = link.send(&request, self.version_max, Duration::ZERO).await?;
        Ok(Some(InFlight { id, asked, lanes }))
    }

    async fn take_answer(&mut self, link: &mut Link, oldest: InFlight) -> Result<(), Lost> {
        let answer = link.answer().await?;
        assert_eq!(answer.id, oldest.id, "answers come in the order of their requests");
        let response = answer.decode::<ProduceRequest>()?;
        let [topic] = &response.responses[..] else { panic!("one topic was asked: {response:?}") };
        assert_eq!(topic.partition_responses.len(), oldest.lanes.len(), "each partition is answered");
        let mut outcome = Ok(());
        for (at, partition) in oldest.lanes.into_iter().zip(&topic.partition_responses) {
            assert_eq!(partition.index, self.lanes[at].place.partition, "in the order of the request");
            // What is acknowledged counts, though another partition's error ends the connection.
            outcome = outcome.and(self.settle(at, oldest.asked, partition));
            if self.id.is_none() {
                break;
            }
        }
        outcome
    }

    fn settle(&mut self, at: usize, asked: Asked, answer: &PartitionProduceResponse) -> Result<(), Lost> {
        let lane = &mut self.lanes[at];
        let place = lane.place;
        let offset = match ErrorCode::from_code(answer.error_code) {
            ErrorCode::NONE => Some(answer.base_offset).filter(|offset| *offset >= 0),
            ErrorCode::DUPLICATE_SEQUENCE_NUMBER => None,
            code @ (ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER | ErrorCode::UNKNOWN_PRODUCER_ID) => {
                return Err(self.start_over(place, code));
            }
            code => return Err(Lost::refused(place, code)),
        };
        let batch = lane.window.pop_front().expect("what is answered was sent");
        lane.sent -= 1;
        for (nth, name) in (0..).zip(batch.names()) {
            self.story.acked.borrow_mut().acked(asked, place, name, offset.map(|base| base + nth));
        }
        Ok(())
    }

    /// Gives up on what isn't acknowledged, and takes a new id.
    fn start_over(&mut self, place: Place, code: ErrorCode) -> Lost {
        let (_, _, given) = self.id.expect("batches are made with an id");
        let may_be =
            !place.topic.promise().acks_survive_power_cuts() && given != self.story.acked.borrow().ask();
        assert!(may_be, "{place}: {code}, though nothing that was acknowledged can be lost");
        self.id = None;
        for lane in &mut self.lanes {
            lane.window.clear();
            (lane.sent, lane.next_sequence) = (0, 0);
        }
        Lost::Refused(code)
    }
}
