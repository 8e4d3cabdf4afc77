//! The task of a producer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use client::{Answer, RequestId};
use protocol::error::ErrorCode;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{InitProducerIdRequest, ProduceRequest, ProduceResponse};
use rt::sync::Notify;

use super::machine::{Outgoing, Producer, ProducerPlan};
use super::transactions::{self, Identity, Transactions};
use crate::engine::{ShardContext, wait};
use crate::link::{Link, LinkError, Links};
use crate::scenario::Acks;
use crate::verify::Acked;

/// How a producer ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What it had acknowledged, by partition; empty if nobody will ask.
    pub(crate) acked: Vec<Acked>,
    /// Why it didn't send all it should.
    pub(crate) error: Option<String>,
    /// When its first request left, in ns, if any did.
    pub(crate) first_send_ns: Option<u64>,
    /// When its last acknowledgement came, in ns.
    pub(crate) last_ack_ns: u64,
}

/// Last version that names topics; later ones have their ids.
const PRODUCE_BY_NAME_MAX: i16 = 12;
const PRODUCE_MAX: i16 = 13;
const INIT_PRODUCER_ID_MAX: i16 = 5;
const TIMEOUT_MS: i32 = 30_000;
/// Pause between tries to get a producer id.
const IDENTITY_PAUSE: Duration = Duration::from_millis(200);
/// Pause between tries to have the coordinator do something; as a rule it is done with the transaction before.
const TRANSACTION_PAUSE: Duration = Duration::from_millis(5);
/// Requests without answers that are queued at once, with acks=0.
const UNANSWERED_MAX: usize = 5;
/// How long bytes sent with acks=0 may take to leave at the end.
const LEAVING: Duration = Duration::from_secs(5);
/// The shortest sleep: below it, waking up costs more than it gains.
const SLEEP_MIN_NS: u64 = 50_000;

/// Runs producer `index` of the line until it has sent all, or is told to stop and has its answers.
pub(crate) async fn drive(
    context: Rc<ShardContext>,
    plan: std::sync::Arc<ProducerPlan>,
    index: u32,
    records: u64,
) -> Finished {
    let (_, rate) = context.control.rate();
    let producers = f64::from(plan.spec.producers);
    let leaders = context.directory.leaders();
    // Producers of one rate don't send all at the same moment.
    let stagger_ns = if rate > 0.0 { (f64::from(index) * 1e9 / rate) as u64 } else { 0 };
    let machine =
        Producer::new(plan, index, records, rate / producers, context.start_ns + stagger_ns, leaders);
    let machine = match machine {
        Ok(machine) => machine,
        Err(error) => {
            return Finished {
                acked: Vec::new(),
                error: Some(error.to_string()),
                first_send_ns: None,
                last_ack_ns: 0,
            };
        }
    };
    let news = Rc::new(Notify::new());
    let links = Links::new(context.directory.clone(), news.clone());
    let lasts_ms = machine.spec().transaction_ms;
    let id = || format!("ringlog-loadgen-{:08x}-{index}", context.plan.run);
    let mut drive = Drive {
        transactions: (lasts_ms > 0.0).then(|| Transactions::new(id(), lasts_ms)),
        identity: None,
        committed: 0,
        rate_changes: context.control.rate().0,
        context,
        machine,
        links,
        flying: BTreeMap::new(),
        nodes: BTreeSet::new(),
        first_send_ns: None,
        last_ack_ns: 0,
        stopped_ns: None,
    };
    drive.nodes = drive.context.directory.leaders().iter().copied().collect();
    let error = drive.run(&news).await.err().map(|error| error.to_string());
    drive.finish(error).await
}

#[derive(Debug)]
struct Drive {
    context: Rc<ShardContext>,
    machine: Producer,
    links: Links,
    transactions: Option<Transactions>,
    /// Of an idempotent producer.
    identity: Option<Identity>,
    /// Transactions so far.
    committed: usize,
    /// Requests without an answer, by broker.
    flying: BTreeMap<i32, VecDeque<(RequestId, Outgoing)>>,
    /// Brokers that lead any slot.
    nodes: BTreeSet<i32>,
    rate_changes: u64,
    first_send_ns: Option<u64>,
    last_ack_ns: u64,
    stopped_ns: Option<u64>,
}

impl Drive {
    async fn run(&mut self, news: &Notify) -> Result<(), LinkError> {
        if self.machine.spec().idempotent && !self.identify().await? {
            return Ok(());
        }
        let mut known = self.context.directory.leaders();
        loop {
            let woken = news.notified();
            let now_ns = rt::now().as_nanos();
            self.obey(now_ns)?;
            let leaders = self.context.directory.leaders();
            if !Rc::ptr_eq(&known, &leaders) {
                known = leaders.clone();
                self.nodes = leaders.iter().copied().collect();
                self.machine.set_leaders(leaders);
            }
            let more = self.machine.advance(now_ns).map_err(made)?;
            for node in self.in_turn() {
                self.serve(node).await?;
            }
            let is_done = self.machine.is_done();
            if is_done && self.machine.given_up().is_some() {
                return Ok(());
            }
            if self.is_ending(is_done, now_ns) && self.flying.values().all(VecDeque::is_empty) {
                self.commit().await?;
                continue;
            }
            if is_done {
                return Ok(());
            }
            if !more {
                let soonest = now_ns + SLEEP_MIN_NS;
                let due_ns = self.transactions.as_ref().and_then(Transactions::due_ns);
                let wake_ns =
                    self.machine.poll_timeout().into_iter().chain(due_ns.filter(|due| *due > now_ns)).min();
                wait(woken, wake_ns.map(|at| at.max(soonest))).await;
            }
            rt::yield_point().await;
        }
    }

    /// Whether the open transaction, if there is one, is to end: nothing is sent until it has.
    fn is_ending(&self, is_done: bool, now_ns: u64) -> bool {
        let due_ns = self.transactions.as_ref().and_then(Transactions::due_ns);
        due_ns.is_some_and(|due_ns| is_done || due_ns <= now_ns)
    }

    /// Brokers in the order in which they are served: each transaction begins with another one.
    fn in_turn(&self) -> Vec<i32> {
        let mut nodes: Vec<i32> = self.nodes.iter().copied().chain(self.orphans()).collect();
        let count = nodes.len().max(1);
        nodes.rotate_left(self.committed % count);
        nodes
    }

    async fn commit(&mut self) -> Result<(), LinkError> {
        let (Some(transactions), Some(identity)) = (&mut self.transactions, self.identity) else {
            return Ok(());
        };
        let patience = Patience::of(self.machine.spec().delivery_timeout_s);
        while transactions.is_open() {
            if !transactions.end(&self.context, identity, true).await? {
                patience.rest(TRANSACTION_PAUSE, "a transaction couldn't be committed").await?;
            }
        }
        self.committed += 1;
        Ok(())
    }

    /// Takes the partitions of a request into the open transaction.
    async fn add_to_transaction(&mut self, outgoing: &Outgoing) -> Result<(), LinkError> {
        let (Some(transactions), Some(identity)) = (&mut self.transactions, self.identity) else {
            return Ok(());
        };
        let missing = transactions.missing(outgoing.iter().map(|(slot, _)| *slot));
        let patience = Patience::of(self.machine.spec().delivery_timeout_s);
        while !missing.is_empty() && !transactions.add(&self.context, identity, &missing).await? {
            patience.rest(TRANSACTION_PAUSE, "partitions couldn't be added to a transaction").await?;
        }
        Ok(())
    }

    /// Brokers that lead nothing any more, and still owe answers.
    fn orphans(&self) -> Vec<i32> {
        let owing =
            self.flying.iter().filter(|(node, flying)| !flying.is_empty() && !self.nodes.contains(node));
        owing.map(|(node, _)| *node).collect()
    }

    /// Looks at the conductor's orders.
    fn obey(&mut self, now_ns: u64) -> Result<(), LinkError> {
        let (changes, rate) = self.context.control.rate();
        if changes != self.rate_changes {
            self.rate_changes = changes;
            self.machine.set_rate(rate / f64::from(self.machine.spec().producers), now_ns);
        }
        if self.context.control.is_stopped() {
            self.machine.stop();
            let stopped_ns = *self.stopped_ns.get_or_insert(now_ns);
            let patience_ns = (self.machine.spec().delivery_timeout_s * 1e9) as u64;
            if now_ns - stopped_ns > patience_ns {
                return Err(LinkError::Answer("what was sent last has not been acknowledged in time".into()));
            }
        }
        Ok(())
    }

    /// Takes a broker's answers and sends it what it may have.
    async fn serve(&mut self, node: i32) -> Result<(), LinkError> {
        let Some(link) = self.links.get(node) else {
            if let Some(error) = self.links.take_error(node) {
                self.context.stats.borrow_mut().error("connect");
                tracing::debug!("{error}");
            }
            return Ok(());
        };
        while let Some(answer) = link.poll_answer() {
            self.take(node, &link, answer)?;
        }
        if let Some(error) = link.error() {
            tracing::debug!("{error}");
            self.lose(node);
            return Ok(());
        }
        if self.is_ending(false, rt::now().as_nanos()) {
            return Ok(());
        }
        self.send(node, &link).await
    }

    async fn send(&mut self, node: i32, link: &Link) -> Result<(), LinkError> {
        let acks = self.machine.spec().acks;
        let in_flight_max = self.machine.spec().in_flight as usize;
        let has_ids = self.context.plan.layout.topics().iter().all(|topic| !topic.id.is_zero());
        let max = match (&self.transactions, has_ids) {
            (Some(_), _) => transactions::PRODUCE_MAX,
            (None, true) => PRODUCE_MAX,
            (None, false) => PRODUCE_BY_NAME_MAX,
        };
        let version = link.version::<ProduceRequest>(max)?;
        let mut unanswered = 0;
        loop {
            let full = match acks {
                Acks::None => unanswered == UNANSWERED_MAX || link.sending_bytes() > 0,
                _ => self.flying.get(&node).is_some_and(|flying| flying.len() >= in_flight_max),
            };
            if full {
                return Ok(());
            }
            let now_ns = rt::now().as_nanos();
            let outgoing = self.machine.next_request(node, now_ns).map_err(made)?;
            if outgoing.is_empty() {
                return Ok(());
            }
            self.add_to_transaction(&outgoing).await?;
            if link.error().is_some() {
                // Meanwhile: none of it has left.
                self.come_back(outgoing, now_ns);
                return Ok(());
            }
            self.first_send_ns.get_or_insert(now_ns);
            let request = self.request(&outgoing);
            self.context.stats.borrow_mut().produced.requests += 1;
            if acks == Acks::None {
                link.send_unanswered(&request, version)?;
                unanswered += 1;
                self.all_acked(outgoing, now_ns);
            } else {
                let id = link.send(&request, version, Duration::from_millis(TIMEOUT_MS as u64))?;
                self.flying.entry(node).or_default().push_back((id, outgoing));
            }
        }
    }

    fn all_acked(&mut self, outgoing: Outgoing, now_ns: u64) {
        let mut stats = self.context.stats.borrow_mut();
        for (slot, batch) in outgoing {
            self.machine.acked(slot, batch, now_ns, &mut stats);
        }
        self.last_ack_ns = now_ns;
    }

    fn request(&self, outgoing: &Outgoing) -> ProduceRequest {
        let mut topics: BTreeMap<u32, TopicProduceData> = BTreeMap::new();
        for (slot, batch) in outgoing {
            let (topic, partition) = self.context.plan.layout.place(*slot);
            let data = topics.entry(topic.first).or_insert_with(|| TopicProduceData {
                name: topic.name.clone(),
                topic_id: topic.id,
                ..TopicProduceData::default()
            });
            data.partition_data.push(PartitionProduceData {
                index: partition,
                records: Some(batch.bytes.clone()),
                ..PartitionProduceData::default()
            });
        }
        ProduceRequest {
            transactional_id: self.transactions.as_ref().map(Transactions::id),
            acks: self.machine.spec().acks.code(),
            timeout_ms: TIMEOUT_MS,
            topic_data: topics.into_values().collect(),
            ..ProduceRequest::default()
        }
    }

    fn take(&mut self, node: i32, link: &Link, answer: Answer) -> Result<(), LinkError> {
        let front = self.flying.get_mut(&node).and_then(VecDeque::pop_front);
        let Some((_, outgoing)) = front.filter(|(id, _)| *id == answer.id) else {
            return Err(LinkError::Answer("an answer that nobody waits for".into()));
        };
        let answer = link.decode::<ProduceRequest>(answer)?;
        let codes = self.codes(&answer);
        let now_ns = rt::now().as_nanos();
        let slots: Vec<u32> = outgoing.iter().map(|(slot, _)| *slot).collect();
        let mut stats = self.context.stats.borrow_mut();
        for (at, (slot, batch)) in outgoing.into_iter().enumerate() {
            let same = codes.get(at).filter(|(there, _)| *there == slot);
            let found = same.or_else(|| codes.iter().find(|(there, _)| *there == slot));
            match found.map_or(ErrorCode::UNKNOWN_SERVER_ERROR, |(_, code)| *code) {
                ErrorCode::NONE => {
                    self.machine.acked(slot, batch, now_ns, &mut stats);
                    self.last_ack_ns = now_ns;
                }
                code => {
                    self.context.directory.refresh();
                    self.machine.refused(slot, batch, code, now_ns, &mut stats);
                }
            }
        }
        self.machine.settle(slots.into_iter());
        Ok(())
    }

    fn codes(&self, answer: &ProduceResponse) -> Vec<(u32, ErrorCode)> {
        let layout = &self.context.plan.layout;
        let topics = answer.responses.iter();
        let found = topics.flat_map(|topic| {
            topic.partition_responses.iter().filter_map(|partition| {
                let slot = layout.find(&topic.name, topic.topic_id, partition.index)?;
                Some((slot, ErrorCode::from_code(partition.error_code)))
            })
        });
        found.collect()
    }

    /// The connection is over: whether what flew arrived is unknown.
    fn lose(&mut self, node: i32) {
        self.links.drop_link(node);
        let now_ns = rt::now().as_nanos();
        let flown: Outgoing =
            self.flying.remove(&node).into_iter().flatten().flat_map(|(_, outgoing)| outgoing).collect();
        self.context.stats.borrow_mut().error("disconnect");
        self.come_back(flown, now_ns);
    }

    fn come_back(&mut self, outgoing: Outgoing, now_ns: u64) {
        let slots: Vec<u32> = outgoing.iter().map(|(slot, _)| *slot).collect();
        let mut stats = self.context.stats.borrow_mut();
        for (slot, batch) in outgoing {
            self.machine.lost(slot, batch, now_ns, &mut stats);
        }
        self.machine.settle(slots.into_iter());
    }

    /// Gets a producer id; false if told to stop before.
    async fn identify(&mut self) -> Result<bool, LinkError> {
        let patience = Patience::of(self.machine.spec().delivery_timeout_s);
        while !self.context.control.is_stopped() {
            match self.ask_identity().await {
                Ok(Some((id, epoch))) => {
                    self.identity = Some((id, epoch));
                    self.machine.set_identity(id, epoch);
                    return Ok(true);
                }
                Ok(None) => self.context.stats.borrow_mut().error("InitProducerId"),
                Err(error @ (LinkError::Send(_) | LinkError::Refused(_))) => return Err(error),
                Err(_) => self.context.stats.borrow_mut().error("connect"),
            }
            patience.rest(IDENTITY_PAUSE, "a producer id couldn't be had").await?;
        }
        Ok(false)
    }

    async fn ask_identity(&mut self) -> Result<Option<Identity>, LinkError> {
        if let Some(transactions) = &mut self.transactions {
            return transactions.identify(&self.context).await;
        }
        let link = self.context.directory.any_link().await?;
        let answer = link
            .call::<InitProducerIdRequest>(INIT_PRODUCER_ID_MAX, Duration::ZERO, |_| InitProducerIdRequest {
                transactional_id: None,
                transaction_timeout_ms: i32::MAX,
                ..InitProducerIdRequest::default()
            })
            .await?;
        match ErrorCode::from_code(answer.error_code) {
            ErrorCode::NONE => Ok(Some((answer.producer_id, answer.producer_epoch))),
            code if code.is_retriable() => Ok(None),
            code => Err(LinkError::Refused(format!("no producer id: {}", code.name()))),
        }
    }

    async fn finish(mut self, error: Option<String>) -> Finished {
        self.abort().await;
        let end = rt::now() + LEAVING;
        let nodes: Vec<i32> = self.nodes.iter().copied().collect();
        if self.machine.spec().acks == Acks::None {
            while rt::now() < end && nodes.iter().any(|node| self.is_sending(*node)) {
                rt::sleep(Duration::from_millis(1)).await;
            }
            // What is in the machine leaves with the sending task's next turn.
            rt::sleep(Duration::from_millis(20)).await;
        }
        let error = error.or_else(|| self.machine.given_up().map(str::to_owned));
        let producer = self.machine.index();
        let acked = if self.machine.verifies() {
            let acked = self.machine.into_acked();
            acked.map(|(slot, sent, ranges)| Acked { producer, slot, sent, ranges }).collect()
        } else {
            Vec::new()
        };
        Finished { acked, error, first_send_ns: self.first_send_ns, last_ack_ns: self.last_ack_ns }
    }

    /// Ends a transaction that can't be committed, as well as may be: what is left open keeps its readers waiting.
    async fn abort(&mut self) {
        let (Some(transactions), Some(identity)) = (&mut self.transactions, self.identity) else { return };
        let end = rt::now() + LEAVING;
        while transactions.is_open() && rt::now() < end {
            if transactions.end(&self.context, identity, false).await.is_err() {
                return;
            }
            rt::sleep(TRANSACTION_PAUSE).await;
        }
    }

    fn is_sending(&self, node: i32) -> bool {
        self.links.get(node).is_some_and(|link| link.error().is_none() && link.sending_bytes() > 0)
    }
}

/// How long something is tried that others depend on.
struct Patience(rt::Instant);

impl Patience {
    fn of(seconds: f64) -> Self {
        Self(rt::now() + Duration::from_secs_f64(seconds))
    }

    /// A pause, unless it has been enough.
    async fn rest(&self, pause: Duration, what: &str) -> Result<(), LinkError> {
        if rt::now() >= self.0 {
            return Err(LinkError::Refused(format!("{what} in time")));
        }
        rt::sleep(pause).await;
        Ok(())
    }
}

fn made(error: protocol::records::RecordsError) -> LinkError {
    LinkError::Answer(format!("a batch can't be made: {error}"))
}
