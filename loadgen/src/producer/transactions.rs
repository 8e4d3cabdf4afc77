//! The transactions of a producer (KIP-98): who coordinates them, and the calls they take.
//!
//! In the protocol of a client that adds partitions itself: every broker that has transactions knows it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use client::{Cluster, Node};
use protocol::error::ErrorCode;
use protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use protocol::messages::{
    AddPartitionsToTxnRequest, EndTxnRequest, FindCoordinatorRequest, InitProducerIdRequest, Request,
};
use protocol::types::Str;

use crate::engine::ShardContext;
use crate::link::{Link, LinkError};

/// Highest versions filled here. Of Produce, later ones leave it to the leader to add partitions.
pub(super) const PRODUCE_MAX: i16 = 11;
const FIND_COORDINATOR_MAX: i16 = 4;
const INIT_PRODUCER_ID_MAX: i16 = 5;
const ADD_PARTITIONS_MAX: i16 = 3;
const END_MAX: i16 = 4;
/// A coordinator's key is a transactional id.
const KEY_TYPE_TRANSACTION: i8 = 1;
/// Time after which the broker aborts a transaction that isn't ended, beyond the time it is to last.
const SPARE_MS: f64 = 60_000.0;
/// Longest time that a broker grants by default (`transaction.max.timeout.ms`).
const TIMEOUT_MS_MAX: f64 = 900_000.0;

/// Who sends, as the coordinator knows it.
pub(super) type Identity = (i64, i16);

/// One producer's transactions: one after another.
#[derive(Debug)]
pub(super) struct Transactions {
    id: String,
    lasts_ms: f64,
    coordinator: Option<Link>,
    /// When the open one began.
    begun_ns: Option<u64>,
    /// Partitions in it.
    added: BTreeSet<u32>,
}

impl Transactions {
    /// Of the transactional id `id`, each `lasts_ms` long.
    pub(super) fn new(id: String, lasts_ms: f64) -> Self {
        Self { id, lasts_ms, coordinator: None, begun_ns: None, added: BTreeSet::new() }
    }

    /// The transactional id, for requests.
    pub(super) fn id(&self) -> Str {
        (&self.id).into()
    }

    /// Whether one is open.
    pub(super) fn is_open(&self) -> bool {
        self.begun_ns.is_some()
    }

    /// When the open one is to end.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.begun_ns.map(|begun| begun + (self.lasts_ms * 1e6) as u64)
    }

    /// Those of `slots` that aren't in the open one yet.
    pub(super) fn missing(&self, slots: impl Iterator<Item = u32>) -> Vec<u32> {
        slots.filter(|slot| !self.added.contains(slot)).collect()
    }

    /// Asks who the producer is. `None`: to be asked again.
    pub(super) async fn identify(&mut self, context: &ShardContext) -> Result<Option<Identity>, LinkError> {
        let timeout_ms = (self.lasts_ms + SPARE_MS).min(TIMEOUT_MS_MAX) as i32;
        let transactional_id = Some(self.id());
        let answer =
            self.call::<InitProducerIdRequest>(context, INIT_PRODUCER_ID_MAX, |_| InitProducerIdRequest {
                transactional_id,
                transaction_timeout_ms: timeout_ms,
                ..InitProducerIdRequest::default()
            });
        let Some(answer) = answer.await? else { return Ok(None) };
        let is_done = self.check("a producer id", answer.error_code)?;
        Ok(is_done.then_some((answer.producer_id, answer.producer_epoch)))
    }

    /// Takes partitions into the open one, which begins with the first. False: to be asked again.
    pub(super) async fn add(
        &mut self,
        context: &ShardContext,
        (producer, epoch): Identity,
        slots: &[u32],
    ) -> Result<bool, LinkError> {
        let mut topics: BTreeMap<u32, AddPartitionsToTxnTopic> = BTreeMap::new();
        for slot in slots {
            let (topic, partition) = context.plan.layout.place(*slot);
            let name = || AddPartitionsToTxnTopic { name: topic.name.clone(), ..Default::default() };
            topics.entry(topic.first).or_insert_with(name).partitions.push(partition);
        }
        let id = self.id();
        let answer = self.call::<AddPartitionsToTxnRequest>(context, ADD_PARTITIONS_MAX, |_| {
            AddPartitionsToTxnRequest {
                v3_and_below_transactional_id: id,
                v3_and_below_producer_id: producer,
                v3_and_below_producer_epoch: epoch,
                v3_and_below_topics: topics.into_values().collect(),
                ..AddPartitionsToTxnRequest::default()
            }
        });
        let Some(answer) = answer.await? else { return Ok(false) };
        let results =
            answer.results_by_topic_v3_and_below.iter().flat_map(|topic| &topic.results_by_partition);
        let codes: BTreeSet<i16> = results.map(|result| result.partition_error_code).collect();
        // Where one partition is refused the others aren't attempted, which says nothing about them.
        let attempted = codes.iter().filter(|code| **code != ErrorCode::OPERATION_NOT_ATTEMPTED.code());
        for code in attempted {
            if !self.check("adding a partition to a transaction", *code)? {
                return Ok(false);
            }
        }
        if codes.contains(&ErrorCode::OPERATION_NOT_ATTEMPTED.code()) {
            return Ok(false);
        }
        self.begun_ns.get_or_insert_with(|| rt::now().as_nanos());
        self.added.extend(slots);
        Ok(true)
    }

    /// Ends the open one. False: to be asked again, which does no harm if it had been done.
    pub(super) async fn end(
        &mut self,
        context: &ShardContext,
        (producer_id, producer_epoch): Identity,
        committed: bool,
    ) -> Result<bool, LinkError> {
        let transactional_id = self.id();
        let answer = self.call::<EndTxnRequest>(context, END_MAX, |_| EndTxnRequest {
            transactional_id,
            producer_id,
            producer_epoch,
            committed,
            ..EndTxnRequest::default()
        });
        let Some(answer) = answer.await? else { return Ok(false) };
        if !self.check("ending a transaction", answer.error_code)? {
            return Ok(false);
        }
        let outcome = if committed { "transactions committed" } else { "transactions aborted" };
        context.stats.borrow_mut().event(outcome);
        self.begun_ns = None;
        self.added.clear();
        Ok(true)
    }

    /// Whether `what` was done; false if it may succeed later.
    fn check(&mut self, what: &str, code: i16) -> Result<bool, LinkError> {
        match ErrorCode::from_code(code) {
            ErrorCode::NONE => Ok(true),
            code if code.is_retriable() => {
                if [ErrorCode::NOT_COORDINATOR, ErrorCode::COORDINATOR_NOT_AVAILABLE].contains(&code) {
                    self.coordinator = None;
                }
                Ok(false)
            }
            code => Err(LinkError::Refused(format!("{what}: {}", code.name()))),
        }
    }

    /// Asks the coordinator, who is found first if need be. `None` if there was no way to it.
    async fn call<R: Request>(
        &mut self,
        context: &ShardContext,
        max: i16,
        build: impl FnOnce(i16) -> R,
    ) -> Result<Option<R::Response>, LinkError> {
        if self.coordinator.is_none() {
            self.coordinator = self.find(context).await?;
        }
        let Some(link) = &self.coordinator else { return Ok(None) };
        match link.call::<R>(max, Duration::ZERO, build).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error @ (LinkError::Send(_) | LinkError::Refused(_))) => Err(error),
            Err(error) => {
                tracing::debug!("{error}");
                context.stats.borrow_mut().error("disconnect");
                self.coordinator = None;
                Ok(None)
            }
        }
    }

    async fn find(&mut self, context: &ShardContext) -> Result<Option<Link>, LinkError> {
        match self.ask_for_coordinator(context).await {
            Ok(Some(address)) => match Link::connect(&address, Rc::default()).await {
                Ok(link) => Ok(Some(link)),
                Err(_) => Ok(None),
            },
            Ok(None) => Ok(None),
            Err(error @ (LinkError::Send(_) | LinkError::Refused(_))) => Err(error),
            Err(_) => Ok(None),
        }
    }

    async fn ask_for_coordinator(&mut self, context: &ShardContext) -> Result<Option<String>, LinkError> {
        let any = context.directory.any_link().await?;
        let answer = any.call::<FindCoordinatorRequest>(FIND_COORDINATOR_MAX, Duration::ZERO, |version| {
            FindCoordinatorRequest {
                key_type: KEY_TYPE_TRANSACTION,
                ..Cluster::coordinator_request(&self.id, version)
            }
        });
        let answer = answer.await?;
        let mut cluster = Cluster::new();
        match cluster.take_coordinator(&self.id, &answer) {
            Ok(()) => Ok(cluster.coordinator(&self.id).map(Node::address)),
            Err(error) => match error.code() {
                Some(code) if code.is_retriable() => Ok(None),
                _ => Err(LinkError::Refused(format!("the coordinator of a transactional id: {error}"))),
            },
        }
    }
}
