//! Decisions on images made by hand.

mod configs;
mod elections;
mod features;
mod log_dirs;
mod partitions;
mod reassignments;
mod registration;
mod topics;

use protocol::messages::BrokerRegistrationRequest;
use protocol::types::{Str, Uuid};

use super::*;
use crate::config::BrokerConfig;
use crate::metadata::image::{Delta, Image};

/// A decider of a lone broker, with an image that decisions are applied to.
struct World {
    decider: Decider,
    image: Image,
    ids: u8,
    /// Where the next topics' partitions start among the brokers.
    start: usize,
}

impl World {
    fn empty() -> Self {
        let config = BrokerConfig::default();
        let decider = Decider { topics: config.topics, values: config.values, node_id: 1 };
        Self { decider, image: Image::empty(Str::from("cluster")), ids: 0, start: 0 }
    }

    /// With broker 1 registered.
    fn new() -> Self {
        let mut world = Self::empty();
        world.register(1, 1);
        world
    }

    fn register(&mut self, broker_id: i32, incarnation: u8) -> ControllerReply {
        let request = BrokerRegistrationRequest {
            broker_id,
            cluster_id: Str::from("cluster"),
            incarnation_id: Uuid([incarnation; 16]),
            ..Default::default()
        };
        self.ask(ControllerRequest::RegisterBroker(request))
    }

    fn decide(&mut self, request: ControllerRequest) -> Decision {
        let ids = &mut self.ids;
        let mut random_id = || {
            *ids += 1;
            Uuid([*ids; 16])
        };
        let start = self.start;
        let facts = &mut Facts { random_id: &mut random_id, start: &mut || start };
        self.decider.decide(&self.image, request, facts)
    }

    /// Decides and applies.
    fn ask(&mut self, request: ControllerRequest) -> ControllerReply {
        let decision = self.decide(request);
        if !decision.records.is_empty() {
            let (base_offset, records) = (self.image.offset + 1, decision.records.into());
            self.image.apply_delta(&Delta { base_offset, epoch: 1, records }).unwrap();
        }
        decision.reply
    }
}
