//! The pure part of a producer.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

use protocol::error::ErrorCode;
use protocol::partitioner::partition_for_key;
use protocol::records::RecordsError;

use super::maker::{Batch, KEY_BYTES, Maker, Sender};
use super::schedule::Schedule;
use super::slot::Slot;
use crate::draw::{KeyDraw, Rng, SizeDraw};
use crate::engine::{Layout, Stats};
use crate::scenario::{Acks, Keys, ProduceSpec};

/// What producers of a line have in common.
#[derive(Debug)]
pub(crate) struct ProducerPlan {
    pub(crate) spec: ProduceSpec,
    pub(crate) layout: Arc<Layout>,
    pub(crate) run: u32,
    pub(crate) keys: KeyDraw,
    /// Remembers which sequences were acknowledged.
    pub(crate) verifies: bool,
}

/// Decides which records one producer makes, which batches go into which request, and what becomes of answers.
///
/// It does no I/O and reads no clock (but for the wall clock's timestamps in batches). The driver
/// 1. calls [`advance`](Self::advance) when [`poll_timeout`](Self::poll_timeout) has come,
/// 2. asks [`next_request`](Self::next_request) for each broker that may have one more request,
/// 3. reports each batch's fate: [`acked`](Self::acked), [`refused`](Self::refused), [`lost`](Self::lost), then
///    calls [`settle`](Self::settle) once a request,
/// 4. tells new leaders ([`set_leaders`](Self::set_leaders)).
///
/// Order: a partition's batches are sent in order, and when one comes back, no later one is sent before it.
#[derive(Debug)]
pub(crate) struct Producer {
    plan: Arc<ProducerPlan>,
    sender: Sender,
    maker: Maker,
    sizes: SizeDraw,
    rng: Rng,
    schedule: Schedule,
    /// `None` until first used.
    slots: Vec<Option<Box<Slot>>>,
    leaders: Rc<Vec<i32>>,
    /// Slots that may send, by their leader, each once.
    ready: BTreeMap<i32, VecDeque<u32>>,
    /// Open batches by the end of their linger time.
    lingering: VecDeque<(u64, u32)>,
    /// Slots that rest by the end of their rest.
    resting: VecDeque<(u64, u32)>,
    /// Where records without key go now.
    sticky: u32,
    /// Values not yet acknowledged or given up, in bytes.
    buffered_bytes: u64,
    /// Batches neither acknowledged nor given up; those being filled too.
    pending: u64,
    records_left: u64,
    is_stopped: bool,
    given_up: Option<String>,
}

/// Rest of a partition after a failure.
const REST_NS: u64 = 100_000_000;
/// Records made before others get a turn.
const RECORDS_A_TURN: u32 = 8192;

/// Batches of one request, with their slots.
pub(crate) type Outgoing = Vec<(u32, Batch)>;

impl Producer {
    /// Producer `index`, to send `records` at `rate_per_s` (0: a closed loop) from `start_ns` on.
    pub(crate) fn new(
        plan: Arc<ProducerPlan>,
        index: u32,
        records: u64,
        rate_per_s: f64,
        start_ns: u64,
        leaders: Rc<Vec<i32>>,
    ) -> Result<Self, RecordsError> {
        let mut rng = Rng::new(u64::from(index) << 32 | u64::from(plan.run));
        let maker = Maker::new(&plan.spec, &mut rng)?;
        let slots = plan.layout.slots();
        Ok(Self {
            sender: Sender {
                run: plan.run,
                index,
                identity: None,
                is_transactional: plan.spec.transaction_ms > 0.0,
            },
            maker,
            sizes: SizeDraw::new(&plan.spec.record_bytes),
            rng,
            schedule: Schedule::new(rate_per_s, start_ns),
            slots: (0..slots).map(|_| None).collect(),
            leaders,
            ready: BTreeMap::new(),
            lingering: VecDeque::new(),
            resting: VecDeque::new(),
            // Producers begin at different partitions.
            sticky: index % slots.max(1),
            buffered_bytes: 0,
            pending: 0,
            records_left: records,
            is_stopped: false,
            given_up: None,
            plan,
        })
    }

    /// Producer id and epoch, before the first request.
    pub(crate) fn set_identity(&mut self, id: i64, epoch: i16) {
        self.sender.identity = Some((id, epoch));
    }

    pub(crate) fn spec(&self) -> &ProduceSpec {
        &self.plan.spec
    }

    /// Its number in the line.
    pub(crate) fn index(&self) -> u32 {
        self.sender.index
    }

    /// Whether it remembers what was acknowledged.
    pub(crate) fn verifies(&self) -> bool {
        self.plan.verifies
    }

    /// A new rate from now on.
    pub(crate) fn set_rate(&mut self, rate_per_s: f64, now_ns: u64) {
        self.schedule = Schedule::new(rate_per_s, now_ns);
    }

    /// No more records are made; those there are sent.
    pub(crate) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Whether all that was made has come to an end.
    pub(crate) fn is_done(&self) -> bool {
        self.given_up.is_some() || ((self.is_stopped || self.records_left == 0) && self.pending == 0)
    }

    /// Why it can't go on, if it can't.
    pub(crate) fn given_up(&self) -> Option<&str> {
        self.given_up.as_deref()
    }

    /// What was sent and acknowledged: slot, number of records made, acknowledged sequences.
    pub(crate) fn into_acked(self) -> impl Iterator<Item = (u32, u64, crate::verify::Ranges)> {
        let used = self.slots.into_iter().enumerate();
        used.filter_map(|(index, slot)| slot.map(|slot| (index as u32, slot.sequence, slot.acked)))
    }

    /// Leaders have moved.
    pub(crate) fn set_leaders(&mut self, leaders: Rc<Vec<i32>>) {
        self.leaders = leaders;
        let queues = std::mem::take(&mut self.ready);
        for slot in queues.into_values().flatten() {
            self.ready.entry(self.leaders[slot as usize]).or_default().push_back(slot);
        }
    }

    /// When there is something to do, in ns; none if only answers can bring it.
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        let linger = self.lingering.front().map(|(at, _)| *at);
        let rest = self.resting.front().map(|(at, _)| *at);
        let makes = self.may_make() && self.schedule.is_open();
        let next = self.schedule.next_ns().filter(|_| makes);
        [linger, rest, next].into_iter().flatten().min()
    }

    fn may_make(&self) -> bool {
        !self.is_stopped && self.records_left > 0 && self.buffered_bytes < self.plan.spec.buffer_bytes
    }

    /// Takes note of the time: makes the records that are due, readies what has lingered or rested enough. True if
    /// more is due at once.
    pub(crate) fn advance(&mut self, now_ns: u64) -> Result<bool, RecordsError> {
        while let Some((_, slot)) = self.resting.pop_front_if(|(at, _)| *at <= now_ns) {
            self.enqueue(slot);
        }
        let mut left = RECORDS_A_TURN;
        while left > 0 && self.may_make() {
            let time_ns = match self.schedule.next_ns() {
                Some(next_ns) if next_ns > now_ns => break,
                Some(next_ns) => next_ns,
                // A closed loop without keys makes batches when a request has room for them.
                None if self.plan.spec.keys == Keys::None => break,
                None if self.buffered_bytes >= self.wanted_bytes() => break,
                None => now_ns,
            };
            self.make(time_ns, now_ns);
            left -= 1;
        }
        while let Some((at, slot)) = self.lingering.pop_front_if(|(at, _)| *at <= now_ns) {
            let linger_ns = self.linger_ns();
            let open = self.slot(slot).open.as_ref();
            if open.is_some_and(|open| open.opened_ns + linger_ns <= at) {
                self.enqueue(slot);
            }
        }
        Ok(left == 0)
    }

    /// What a closed loop with keys keeps made: enough for all requests that may fly and one more.
    fn wanted_bytes(&self) -> u64 {
        let spec = &self.plan.spec;
        u64::from(spec.request_bytes) * u64::from(spec.in_flight + 1)
    }

    fn linger_ns(&self) -> u64 {
        (self.plan.spec.linger_ms * 1e6) as u64
    }

    fn slot(&mut self, slot: u32) -> &mut Slot {
        self.slots[slot as usize].get_or_insert_default()
    }

    fn enqueue(&mut self, slot: u32) {
        let leader = self.leaders[slot as usize];
        let state = self.slot(slot);
        if !std::mem::replace(&mut state.is_queued, true) {
            self.ready.entry(leader).or_default().push_back(slot);
        }
    }

    /// Makes one record.
    fn make(&mut self, time_ns: u64, now_ns: u64) {
        let key = self.plan.keys.draw(&mut self.rng);
        let slot = key.map_or(self.sticky, |key| self.slot_of(key));
        let len = self.sizes.draw(&mut self.rng);
        if self.push(slot, key, len, time_ns, now_ns) && key.is_none() {
            self.sticky = (self.sticky + 1) % self.slots.len() as u32;
        }
        self.schedule.advance();
    }

    fn slot_of(&self, key: u64) -> u32 {
        let topics = self.plan.layout.topics();
        let topic = &topics[(key % topics.len() as u64) as usize];
        let partitions = NonZeroU32::new(topic.partitions).unwrap_or(NonZeroU32::MIN);
        topic.first + partition_for_key(&key.to_be_bytes(), partitions)
    }

    /// Adds a record to a slot's open batch; true if that is full now, or if it won't wait for more.
    fn push(&mut self, slot: u32, key: Option<u64>, len: usize, time_ns: u64, now_ns: u64) -> bool {
        let (sender, linger_ns) = (self.sender, self.linger_ns());
        let is_fixed = self.plan.spec.record_bytes.fixed().is_some();
        let state = self.slots[slot as usize].get_or_insert_default();
        let mut is_full = false;
        if let Some(open) = state.open.take_if(|open| !self.maker.fits(open, len)) {
            state.full.push_back(open);
            is_full = true;
        }
        let is_new = state.open.is_none();
        let open = state.open.get_or_insert_with(|| self.maker.open(state.sequence, now_ns));
        self.maker.push(open, &sender, slot, key, len, time_ns);
        state.sequence += 1;
        self.pending += u64::from(is_new);
        self.records_left = self.records_left.saturating_sub(1);
        self.buffered_bytes += (len + KEY_BYTES) as u64;
        // With one size it is known now whether another record will fit.
        if is_fixed && state.open.as_ref().is_some_and(|open| !self.maker.fits(open, len)) {
            state.full.extend(state.open.take());
            is_full = true;
        }
        if is_full || linger_ns == 0 {
            self.enqueue(slot);
        } else if is_new {
            self.lingering.push_back((now_ns + linger_ns, slot));
        }
        is_full
    }

    /// The next request to a broker, if there is anything for it: one batch of each slot at the most.
    pub(crate) fn next_request(&mut self, node: i32, now_ns: u64) -> Result<Outgoing, RecordsError> {
        if self.given_up.is_some() {
            return Ok(Vec::new());
        }
        let (mut request, mut bytes, mut later) = (Vec::new(), 0, Vec::new());
        while let Some(slot) = self.ready.get_mut(&node).and_then(VecDeque::pop_front) {
            let state = self.slot(slot);
            state.is_queued = false;
            if !state.is_free(now_ns) {
                continue;
            }
            if state.flies_elsewhere(node) {
                self.resting.push_back((now_ns + REST_NS, slot));
                continue;
            }
            let Some(batch) = self.take_batch(slot, now_ns)? else { continue };
            if !request.is_empty() && bytes + batch.bytes.len() > self.plan.spec.request_bytes as usize {
                let state = self.slot(slot);
                state.again.push_front(batch);
                state.is_queued = true;
                self.ready.entry(node).or_default().push_front(slot);
                break;
            }
            bytes += batch.bytes.len();
            later.push(slot);
            request.push((slot, batch));
        }
        self.fill_up(node, now_ns, bytes, &mut request)?;
        for (slot, _) in &request {
            let state = self.slot(*slot);
            state.flying += 1;
            state.flies_to = node;
        }
        let linger_ns = self.linger_ns();
        for slot in later {
            let state = self.slot(slot);
            if state.has_whole()
                || state.open.as_ref().is_some_and(|open| open.opened_ns + linger_ns <= now_ns)
            {
                self.enqueue(slot);
            }
        }
        Ok(request)
    }

    /// In a closed loop without keys, makes batches until the request is full.
    fn fill_up(
        &mut self,
        node: i32,
        now_ns: u64,
        mut bytes: usize,
        request: &mut Outgoing,
    ) -> Result<(), RecordsError> {
        if self.schedule.is_open() || self.plan.spec.keys != Keys::None {
            return Ok(());
        }
        let size_max = self.plan.spec.request_bytes as usize;
        let step = self.plan.spec.batch_bytes as usize;
        let slots = self.slots.len() as u32;
        for _ in 0..slots {
            if !self.may_make() || (!request.is_empty() && bytes + step > size_max) {
                break;
            }
            let slot = self.sticky;
            self.sticky = (slot + 1) % slots;
            let is_led = self.leaders[slot as usize] == node;
            let state = self.slot(slot);
            if !is_led
                || !state.is_free(now_ns)
                || state.flies_elsewhere(node)
                || state.has_whole()
                || request.iter().any(|(there, _)| *there == slot)
            {
                continue;
            }
            while self.may_make() {
                let len = self.sizes.draw(&mut self.rng);
                if self.push_quietly(slot, len, now_ns) {
                    break;
                }
            }
            if let Some(batch) = self.take_batch(slot, now_ns)? {
                bytes += batch.bytes.len();
                request.push((slot, batch));
            }
        }
        Ok(())
    }

    /// As `push`, for a batch that is taken at once; true when it is full.
    fn push_quietly(&mut self, slot: u32, len: usize, now_ns: u64) -> bool {
        let state = self.slots[slot as usize].get_or_insert_default();
        let is_new = state.open.is_none();
        let open = state.open.get_or_insert_with(|| self.maker.open(state.sequence, now_ns));
        self.maker.push(open, &self.sender, slot, None, len, now_ns);
        state.sequence += 1;
        self.pending += u64::from(is_new);
        self.records_left = self.records_left.saturating_sub(1);
        self.buffered_bytes += (len + KEY_BYTES) as u64;
        !self.maker.fits(open, len)
    }

    /// The oldest batch of a slot.
    fn take_batch(&mut self, slot: u32, now_ns: u64) -> Result<Option<Batch>, RecordsError> {
        let sender = self.sender;
        let state = self.slots[slot as usize].get_or_insert_default();
        if let Some(batch) = state.again.pop_front() {
            return Ok(Some(batch));
        }
        let open = state.full.pop_front().or_else(|| state.open.take());
        open.map(|open| self.maker.seal(open, &sender, slot, now_ns)).transpose()
    }

    /// A batch was acknowledged (with acks=0: sent).
    pub(crate) fn acked(&mut self, slot: u32, batch: Batch, now_ns: u64, stats: &mut Stats) {
        let is_answered = self.plan.spec.acks != Acks::None;
        let verifies = self.plan.verifies && is_answered;
        let state = self.slot(slot);
        state.flying -= 1;
        if verifies {
            state.acked.insert(batch.first_sequence, batch.end_sequence());
        }
        self.over(&batch);
        stats.produced.records += u64::from(batch.records);
        stats.produced.value_bytes += batch.value_bytes;
        stats.produced.batch_bytes += batch.bytes.len() as u64;
        stats.produced.batches += 1;
        if is_answered {
            batch.times.note_all(&mut stats.produce_us, now_ns);
        }
    }

    /// A broker refused a batch.
    pub(crate) fn refused(
        &mut self,
        slot: u32,
        batch: Batch,
        code: ErrorCode,
        now_ns: u64,
        stats: &mut Stats,
    ) {
        stats.error(code.name());
        match code {
            // It had come through when it was sent before.
            ErrorCode::DUPLICATE_SEQUENCE_NUMBER => return self.acked(slot, batch, now_ns, stats),
            // An earlier one came back: this one follows it.
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER if !self.slot(slot).failed.is_empty() => {
                return self.lost(slot, batch, now_ns, stats);
            }
            code if code.is_retriable() => return self.lost(slot, batch, now_ns, stats),
            _ => {}
        }
        self.slot(slot).flying -= 1;
        self.give_up(slot, &batch, code.name());
    }

    /// A batch came back, or its answer never will: it is sent again, until its time is over.
    pub(crate) fn lost(&mut self, slot: u32, batch: Batch, now_ns: u64, stats: &mut Stats) {
        self.slot(slot).flying -= 1;
        let time_ns = (self.plan.spec.delivery_timeout_s * 1e9) as u64;
        if now_ns.saturating_sub(batch.sealed_ns) > time_ns {
            stats.error("delivery timeout");
            return self.give_up(slot, &batch, "its time to be delivered is over");
        }
        self.slot(slot).returned(batch, now_ns + REST_NS);
    }

    /// Readies what came back, after the answers of a request were told.
    pub(crate) fn settle(&mut self, slots: impl Iterator<Item = u32>) {
        for slot in slots {
            let state = self.slot(slot);
            if state.settle() {
                let until = state.rests_until_ns;
                self.resting.push_back((until, slot));
            }
        }
    }

    /// An idempotent producer can't go on after a gap in its sequences.
    fn give_up(&mut self, slot: u32, batch: &Batch, why: &str) {
        self.over(batch);
        if self.sender.identity.is_some() {
            let name = self.plan.layout.name(slot);
            self.given_up
                .get_or_insert_with(|| format!("producer {} gave up on {name}: {why}", self.sender.index));
        }
    }

    fn over(&mut self, batch: &Batch) {
        self.pending -= 1;
        let bytes = batch.value_bytes + u64::from(batch.records) * KEY_BYTES as u64;
        self.buffered_bytes = self.buffered_bytes.saturating_sub(bytes);
    }
}
