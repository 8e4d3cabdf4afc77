//! The groups of one partition of `__consumer_offsets`: requests in, replies out.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::types::{Str, Uuid};

use super::api::{finish, prepare};
use super::config::GroupConfig;
use super::coordinator::{Clock, Coordinator, CoordinatorLog, LogError, Phase};
use super::decider::GroupDecider;
use super::request::{GroupReply, GroupRequest};
use super::topics::TopicLookup;

/// The coordinator of the groups of one partition of `__consumer_offsets`, on the shard that owns it. Cloning shares it.
#[derive(Debug)]
pub struct GroupCoordinator<L, C> {
    coordinator: Coordinator<GroupDecider, L, C>,
    config: Rc<GroupConfig>,
}

impl<L: CoordinatorLog, C: Clock> GroupCoordinator<L, C> {
    /// A coordinator over the partition's log; it serves once [`GroupCoordinator::run`] has loaded it.
    pub fn new(log: L, clock: C, config: Rc<GroupConfig>) -> Self {
        Self { coordinator: Coordinator::new(log, clock), config }
    }

    /// Loads and drives it until the leadership is lost; one task runs this. `turn` is dropped once it is loaded.
    ///
    /// # Errors
    /// The log can't be read: it may be run again.
    pub async fn run<T>(&self, turn: T) -> Result<(), LogError> {
        self.coordinator.run(GroupDecider::new(Rc::clone(&self.config)), turn).await
    }

    /// Ends it: the leadership is gone.
    pub fn resign(&self) {
        self.coordinator.resign();
    }

    /// Where it is in its life.
    pub fn phase(&self) -> Phase {
        self.coordinator.phase()
    }

    /// The state as of the last step, for metrics; none unless it serves.
    pub fn inspect<T>(&self, look: impl FnOnce(&GroupDecider) -> T) -> Option<T> {
        self.coordinator.inspect(look)
    }

    /// Answers a request. It is decided on at once, or as soon as the log has room for what it writes, and its answer comes when it may leave;
    /// dropping the future after the decision only stops the waiting.
    pub async fn answer(&self, mut request: GroupRequest, topics: &impl TopicLookup) -> GroupReply {
        let answer = match prepare(&self.config, &mut request, topics) {
            Ok(()) => {
                let answer = self.coordinator.ask(&request).await;
                request.lighten();
                answer.await
            }
            Err(code) => Err(code),
        };
        let reply = match answer {
            Ok(reply) => reply,
            // Answered blindly while the groups load, so that members don't rejoin for nothing.
            Err(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS) if matches!(request, GroupRequest::Heartbeat(_)) => {
                GroupReply::Code(ErrorCode::NONE)
            }
            Err(code) => request.refused(code),
        };
        finish(&request, reply, topics)
    }

    /// Topics are gone: their offsets go too, in the background, as soon as it is loaded and its log takes the records.
    pub fn topics_deleted(&self, topics: Vec<(Str, Uuid)>) {
        self.coordinator.tell(GroupRequest::TopicsDeleted(topics));
    }
}

impl<L, C> Clone for GroupCoordinator<L, C> {
    fn clone(&self) -> Self {
        Self { coordinator: self.coordinator.clone(), config: Rc::clone(&self.config) }
    }
}
