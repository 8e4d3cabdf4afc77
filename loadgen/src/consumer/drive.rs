//! The task of a consumer.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use client::{Answer, RequestId};
use protocol::error::ErrorCode;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use protocol::messages::fetch_response::PartitionData;
use protocol::messages::{FetchRequest, FetchResponse};
use protocol::records::{BatchScan, RecordBatch, RecordsError};
use protocol::types::Records;
use rt::sync::Notify;

use super::aborted::Aborted;
use super::positions::Positions;
use super::session::{Session, Wanted};
use super::taker::Taker;
use crate::engine::{ShardContext, note, wait};
use crate::link::{Link, LinkError, Links};
use crate::scenario::ConsumeSpec;

/// What consumers of a line have in common.
#[derive(Debug, Clone)]
pub(crate) struct ConsumerPlan {
    pub(crate) spec: ConsumeSpec,
}

/// Last version that names topics; later ones have their ids.
const FETCH_BY_NAME_MAX: i16 = 12;
const FETCH_MAX: i16 = 17;
/// First version with sessions.
const SESSIONS_FROM: i16 = 7;
/// Rest after an error.
const REST_NS: u64 = 100_000_000;

/// A consumer's state, shared with whoever commits its positions or stops it.
#[derive(Debug)]
pub(crate) struct Consumer {
    pub(crate) positions: RefCell<Positions>,
    pub(crate) taker: RefCell<Taker>,
    /// Ends it.
    pub(crate) is_stopped: Cell<bool>,
    /// When it last got records, in ns.
    pub(crate) last_record_ns: Cell<u64>,
}

impl Consumer {
    pub(crate) fn new(positions: Positions, taker: Taker) -> Rc<Self> {
        Rc::new(Self {
            positions: RefCell::new(positions),
            taker: RefCell::new(taker),
            is_stopped: Cell::new(false),
            last_record_ns: Cell::new(0),
        })
    }

    /// Reads until it is stopped, or has reached all ends.
    ///
    /// One fetch is under way with each broker. The next one leaves before the records of the last are looked at.
    pub(crate) async fn drive(
        self: Rc<Self>,
        context: Rc<ShardContext>,
        plan: Rc<ConsumerPlan>,
    ) -> Result<(), LinkError> {
        let news = Rc::new(Notify::new());
        let links = Links::new(context.directory.clone(), news.clone());
        let mut drive = Drive { consumer: self, context, plan, links, readers: BTreeMap::new() };
        drive.run(&news).await
    }
}

/// What is under way with one broker.
#[derive(Debug, Default)]
struct Reader {
    slots: BTreeSet<u32>,
    session: Session,
    flying: Option<(RequestId, u64)>,
    rests_until_ns: u64,
}

#[derive(Debug)]
struct Drive {
    consumer: Rc<Consumer>,
    context: Rc<ShardContext>,
    plan: Rc<ConsumerPlan>,
    links: Links,
    readers: BTreeMap<i32, Reader>,
}

/// Records of one partition, to be looked at.
struct Fetched {
    slot: u32,
    from: i64,
    bytes: Bytes,
    aborted: Aborted,
}

impl Drive {
    async fn run(&mut self, news: &Notify) -> Result<(), LinkError> {
        let mut known = self.context.directory.leaders();
        self.deal(&known);
        loop {
            let woken = news.notified();
            let leaders = self.context.directory.leaders();
            if !Rc::ptr_eq(&known, &leaders) {
                known = leaders;
                self.deal(&known);
            }
            let nodes: Vec<i32> = self.readers.keys().copied().collect();
            let mut rests_until_ns = None;
            for node in nodes {
                let rest = self.serve(node).await?;
                rests_until_ns = rests_until_ns.into_iter().chain(rest).min();
            }
            let is_over = self.consumer.is_stopped.get() || self.context.control.is_stopped();
            if is_over || self.consumer.positions.borrow().is_finished() {
                return Ok(());
            }
            wait(woken, rests_until_ns).await;
            rt::yield_point().await;
        }
    }

    /// Deals the partitions out to their leaders. Who loses one begins a new session.
    fn deal(&mut self, leaders: &[i32]) {
        let mut dealt: BTreeMap<i32, BTreeSet<u32>> = BTreeMap::new();
        for (slot, _) in self.consumer.positions.borrow().iter() {
            dealt.entry(leaders[slot as usize]).or_default().insert(slot);
        }
        for (node, reader) in &mut self.readers {
            reader.slots = dealt.remove(node).unwrap_or_default();
        }
        for (node, slots) in dealt {
            self.readers.insert(node, Reader { slots, ..Reader::default() });
        }
    }

    /// Takes a broker's answer and asks for more; tells until when it rests, if it does.
    async fn serve(&mut self, node: i32) -> Result<Option<u64>, LinkError> {
        let Some(link) = self.links.get(node) else {
            if let Some(error) = self.links.take_error(node) {
                self.context.stats.borrow_mut().error("connect");
                tracing::debug!("{error}");
            }
            return Ok(None);
        };
        let mut fetched = Vec::new();
        while let Some(answer) = link.poll_answer() {
            fetched.extend(self.take(node, &link, answer)?);
        }
        if let Some(error) = link.error() {
            tracing::debug!("{error}");
            self.context.stats.borrow_mut().error("disconnect");
            self.links.drop_link(node);
            if let Some(reader) = self.readers.get_mut(&node) {
                (reader.flying, reader.session) = (None, Session::default());
            }
        } else if !self.consumer.is_stopped.get() {
            self.ask(node, &link)?;
        }
        for fetched in fetched {
            self.look_at(fetched).await;
        }
        let reader = self.readers.get(&node).filter(|reader| reader.flying.is_none());
        Ok(reader.map(|reader| reader.rests_until_ns))
    }

    fn ask(&mut self, node: i32, link: &Link) -> Result<(), LinkError> {
        let now_ns = rt::now().as_nanos();
        let Some(reader) = self.readers.get_mut(&node) else { return Ok(()) };
        if reader.flying.is_some() || reader.rests_until_ns > now_ns {
            return Ok(());
        }
        let positions = self.consumer.positions.borrow();
        let unread: Vec<(u32, i64)> =
            positions.unread().filter(|(slot, _)| reader.slots.contains(slot)).collect();
        if unread.is_empty() {
            return Ok(());
        }
        let has_ids = self.context.plan.layout.topics().iter().all(|topic| !topic.id.is_zero());
        let version = link.version::<FetchRequest>(if has_ids { FETCH_MAX } else { FETCH_BY_NAME_MAX })?;
        let mut wanted = reader.session.request(unread.into_iter());
        if version < SESSIONS_FROM {
            reader.session.reset();
            (wanted.session_id, wanted.session_epoch) = (0, -1);
        }
        let spec = &self.plan.spec;
        let request = request(&self.context, spec, &wanted);
        let extra = Duration::from_millis(u64::from(spec.fetch_wait_ms));
        let id = link.send(&request, version, extra)?;
        self.context.stats.borrow_mut().consumed.requests += 1;
        reader.flying = Some((id, now_ns));
        Ok(())
    }

    /// Takes an answer: moves positions, and gives what is to be looked at.
    fn take(&mut self, node: i32, link: &Link, answer: Answer) -> Result<Vec<Fetched>, LinkError> {
        let Some(reader) = self.readers.get_mut(&node) else { return Ok(Vec::new()) };
        let Some((_, sent_ns)) = reader.flying.take().filter(|(id, _)| *id == answer.id) else {
            return Err(LinkError::Answer("an answer that nobody waits for".into()));
        };
        let answer = link.decode::<FetchRequest>(answer)?;
        let now_ns = rt::now().as_nanos();
        match ErrorCode::from_code(answer.error_code) {
            ErrorCode::NONE => reader.session.answered(answer.session_id),
            code => {
                reader.session.reset();
                self.context.stats.borrow_mut().error(code.name());
                reader.rests_until_ns = now_ns + REST_NS;
                return Ok(Vec::new());
            }
        }
        let fetched = self.sort(node, answer, now_ns);
        if !fetched.is_empty() {
            note(&mut self.context.stats.borrow_mut().fetch_us, sent_ns, now_ns, 1);
            self.consumer.last_record_ns.set(now_ns);
        }
        Ok(fetched)
    }

    fn sort(&mut self, node: i32, answer: FetchResponse, now_ns: u64) -> Vec<Fetched> {
        let mut fetched = Vec::new();
        let context = self.context.clone();
        for topic in answer.responses {
            for found in topic.partitions {
                let slot = context.plan.layout.find(&topic.topic, topic.topic_id, found.partition_index);
                let Some(slot) = slot else { continue };
                match ErrorCode::from_code(found.error_code) {
                    ErrorCode::NONE => fetched.extend(self.moved(slot, &found)),
                    code => self.partition_failed(node, slot, &found, code, now_ns),
                }
            }
        }
        fetched
    }

    fn moved(&mut self, slot: u32, found: &PartitionData) -> Option<Fetched> {
        let mut positions = self.consumer.positions.borrow_mut();
        let from = positions.offset(slot)?;
        let bytes = found.records.as_ref().map(Records::to_bytes).unwrap_or_default();
        if !positions.answered(slot, found.high_watermark, &bytes) {
            let mut stats = self.context.stats.borrow_mut();
            self.consumer.taker.borrow_mut().damaged(slot, from, "no record batch", &mut stats);
        }
        let aborted = Aborted::new(found.aborted_transactions.as_deref().unwrap_or_default());
        (!bytes.is_empty()).then_some(Fetched { slot, from, bytes, aborted })
    }

    fn partition_failed(
        &mut self,
        node: i32,
        slot: u32,
        found: &PartitionData,
        code: ErrorCode,
        now_ns: u64,
    ) {
        self.context.stats.borrow_mut().error(code.name());
        if code == ErrorCode::OFFSET_OUT_OF_RANGE {
            self.consumer.positions.borrow_mut().seek(slot, found.log_start_offset.max(0));
        } else {
            self.context.directory.refresh();
        }
        if let Some(reader) = self.readers.get_mut(&node) {
            reader.rests_until_ns = now_ns + REST_NS;
        }
    }

    async fn look_at(&self, fetched: Fetched) {
        let Fetched { slot, from, bytes, mut aborted } = fetched;
        for batch in BatchScan::new(bytes) {
            if batch.as_ref().is_ok_and(|batch| aborted.holds(batch.header())) {
                continue;
            }
            self.look_at_batch(slot, from, batch);
            rt::yield_point().await;
        }
    }

    fn look_at_batch(&self, slot: u32, from: i64, batch: Result<RecordBatch, RecordsError>) {
        let mut stats = self.context.stats.borrow_mut();
        let mut taker = self.consumer.taker.borrow_mut();
        match batch {
            Ok(batch) => taker.take(slot, from, &batch, rt::now().as_nanos(), &mut stats),
            Err(error) => taker.damaged(slot, from, &error.to_string(), &mut stats),
        }
    }
}

fn request(context: &ShardContext, spec: &ConsumeSpec, wanted: &Wanted) -> FetchRequest {
    let layout = &context.plan.layout;
    let mut topics: BTreeMap<u32, FetchTopic> = BTreeMap::new();
    for (slot, offset) in &wanted.positions {
        let (topic, partition) = layout.place(*slot);
        let entry = topics.entry(topic.first).or_insert_with(|| FetchTopic {
            topic: topic.name.clone(),
            topic_id: topic.id,
            ..FetchTopic::default()
        });
        entry.partitions.push(FetchPartition {
            partition,
            fetch_offset: *offset,
            partition_max_bytes: spec.partition_fetch_bytes as i32,
            ..FetchPartition::default()
        });
    }
    let mut forgotten: BTreeMap<u32, ForgottenTopic> = BTreeMap::new();
    for slot in &wanted.forgotten {
        let (topic, partition) = layout.place(*slot);
        let entry = forgotten.entry(topic.first).or_insert_with(|| ForgottenTopic {
            topic: topic.name.clone(),
            topic_id: topic.id,
            ..ForgottenTopic::default()
        });
        entry.partitions.push(partition);
    }
    FetchRequest {
        replica_id: -1,
        isolation_level: i8::from(spec.read_committed),
        max_wait_ms: spec.fetch_wait_ms as i32,
        min_bytes: spec.fetch_min_bytes as i32,
        max_bytes: spec.fetch_bytes as i32,
        session_id: wanted.session_id,
        session_epoch: wanted.session_epoch,
        topics: topics.into_values().collect(),
        forgotten_topics_data: forgotten.into_values().collect(),
        ..FetchRequest::default()
    }
}
