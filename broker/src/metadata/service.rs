//! [`Controller`]: decisions made durable, on shard 0.

use std::cell::RefCell;
use std::rc::Rc;

use protocol::internal::FeatureLevelRecord;
use protocol::types::{Str, Uuid};
use rt::sync::Budget;
use rt::{ShardId, lane};
use shards::PartitionKey;

use super::controller::{ControllerReply, ControllerRequest, Decider, Decision, Facts};
use super::image::{Delta, Image};
use super::limits::{METADATA_VERSION, PROPOSALS_MAX, RECORDS_PER_OPERATION_MAX};
use super::quorum::{MetadataUpdate, Proposal, Quorum, QuorumConfig, QuorumError};
use crate::config::BrokerValues;
use crate::config::broker::TopicCreation;

/// What a controller is started with.
#[derive(Debug, Clone)]
pub struct ControllerConfig {
    /// The quorum's files.
    pub quorum: QuorumConfig,
    /// Defaults and switches of topic creation.
    pub topics: TopicCreation,
    /// The broker's configs.
    pub values: BrokerValues,
}

/// An answer, and the metadata it is true of.
#[derive(Debug, Clone, PartialEq)]
pub struct Handled {
    /// The answer holds on every shard that has applied this offset.
    pub offset: i64,
    /// The answer.
    pub reply: ControllerReply,
}

/// The controller of a quorum of one, on shard 0. Clones are handles to the same one.
///
/// A request is decided on an image that is ahead by what is on its way to the disk, so that requests needn't wait for
/// each other; its answer leaves once all that it was decided on is committed.
#[derive(Debug, Clone)]
pub struct Controller(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    decider: Decider,
    quorum: Quorum,
    ahead: RefCell<Ahead>,
    room: Budget,
}

/// The committed image with all queued records.
#[derive(Debug)]
struct Ahead {
    image: Image,
    /// Refusals of the quorum that it knows of.
    refusals: u64,
}

/// Records on their way, with the answer.
struct Submitted {
    proposals: Vec<Proposal>,
    handled: Handled,
}

impl Controller {
    /// Recovers the metadata, and gives a new cluster its first records. Each subscriber gets the image, then every
    /// committed batch; one that doesn't take them holds up the controller.
    ///
    /// # Errors
    /// The quorum can't start.
    pub async fn start(
        config: ControllerConfig,
        subscribers: Vec<lane::Sender<MetadataUpdate>>,
    ) -> Result<Self, QuorumError> {
        let quorum = Quorum::open(&config.quorum, subscribers).await?;
        let ahead = Ahead { image: quorum.image().clone(), refusals: quorum.refusals() };
        let node_id = config.quorum.node_id;
        let decider = Decider { topics: config.topics, values: config.values, node_id };
        let (ahead, room) = (RefCell::new(ahead), Budget::new(PROPOSALS_MAX));
        let controller = Self(Rc::new(Inner { decider, quorum, ahead, room }));
        controller.bootstrap().await?;
        Ok(controller)
    }

    async fn bootstrap(&self) -> Result<(), QuorumError> {
        if self.0.ahead.borrow().image.feature("metadata.version") != 0 {
            return Ok(());
        }
        let name = Str::from_static("metadata.version");
        let record = FeatureLevelRecord { name, feature_level: METADATA_VERSION, ..Default::default() };
        let reply = ControllerReply::Failed(protocol::error::ErrorCode::NONE);
        let decision = Decision { records: vec![record.into()], atomic: true, reply };
        for proposal in self.submit(decision)?.proposals {
            proposal.committed().await?;
        }
        Ok(())
    }

    /// Decides a request and waits until the decision is committed and told to all subscribers. At most
    /// [`PROPOSALS_MAX`] at a time, the others wait for their turn.
    pub async fn handle(&self, request: ControllerRequest) -> Handled {
        let _room = self.0.room.take(1).await;
        let submitted = self.decide(request).and_then(|decision| self.submit(decision));
        let Submitted { proposals, handled } = match submitted {
            Ok(submitted) => submitted,
            Err(error) => return self.failed(&error),
        };
        for proposal in proposals {
            if let Err(error) = proposal.committed().await {
                return self.failed(&error);
            }
        }
        handled
    }

    /// Tells all subscribers that a partition is in the hands of `owner` now, or stays with the one it has.
    pub async fn settle(&self, key: PartitionKey, owner: Option<ShardId>) {
        // A quorum that has ended has ended the node.
        let _ = self.0.quorum.tell_aside(MetadataUpdate::Settled(key, owner)).committed().await;
    }

    /// Looks at the committed metadata.
    pub fn with_image<R>(&self, look: impl FnOnce(&Image) -> R) -> R {
        look(&self.0.quorum.image())
    }

    /// Commits what is on its way and closes the files.
    pub async fn stop(&self) {
        self.0.quorum.stop().await;
    }

    /// Waits until the quorum takes nothing any more: its log directory failed, or it was stopped.
    pub async fn ended(&self) -> QuorumError {
        self.0.quorum.ended().await
    }

    fn failed(&self, error: &QuorumError) -> Handled {
        tracing::warn!(%error, "metadata request failed");
        Handled { offset: self.0.quorum.image().offset, reply: ControllerReply::Failed(error.code()) }
    }

    fn decide(&self, request: ControllerRequest) -> Result<Decision, QuorumError> {
        let ahead = &mut *self.0.ahead.borrow_mut();
        if ahead.refusals != self.0.quorum.refusals() {
            // Refusals empty the queue, and nothing was in flight then: all that stands is committed.
            ahead.image = self.0.quorum.image().clone();
            ahead.refusals = self.0.quorum.refusals();
        }
        let mut random_id = || Uuid::from_random(rt::random_bytes());
        let mut start = || usize::try_from(rt::random_u64() >> 1).unwrap_or_default();
        let facts = &mut Facts { random_id: &mut random_id, start: &mut start };
        Ok(self.0.decider.decide(&ahead.image, request, facts))
    }

    /// Queues a decision's records and applies them ahead. Without an await since `decide`.
    fn submit(&self, decision: Decision) -> Result<Submitted, QuorumError> {
        let Decision { records, atomic, reply } = decision;
        let chunk = if atomic { records.len().max(1) } else { RECORDS_PER_OPERATION_MAX };
        let chunks: Vec<_> = records.chunks(chunk).collect();
        // All are encoded before the first is queued: a record that can't be written must change nothing.
        let encoded = chunks.iter().map(|chunk| Quorum::encode(chunk)).collect::<Result<Vec<_>, _>>()?;
        let ahead = &mut *self.0.ahead.borrow_mut();
        let mut proposals = Vec::with_capacity(encoded.len());
        for (chunk, data) in chunks.into_iter().zip(encoded) {
            let (base_offset, epoch) = (ahead.image.offset + 1, ahead.image.epoch);
            let delta = Delta { base_offset, epoch, records: chunk.into() };
            // Committed, a decision that doesn't fit the image it was made on would keep every later start from succeeding.
            ahead.image.apply_delta(&delta).unwrap_or_else(|error| panic!("a decision doesn't fit: {error}"));
            proposals.push(self.0.quorum.propose(Some(data)));
        }
        let offset = ahead.image.offset;
        if proposals.is_empty() && offset > self.0.quorum.image().offset {
            proposals.push(self.0.quorum.propose(None));
        }
        Ok(Submitted { proposals, handled: Handled { offset, reply } })
    }
}
