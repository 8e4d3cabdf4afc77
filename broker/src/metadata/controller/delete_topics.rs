//! DeleteTopics.

use std::collections::BTreeSet;

use protocol::error::ErrorCode;
use protocol::internal::RemoveTopicRecord;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use protocol::types::{Str, Uuid};

use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::once::given_twice;
use super::request::ControllerReply;
use crate::metadata::image::{Image, Topic};
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

/// The topics that a request names, each in one way.
#[derive(Default)]
struct Named {
    names: Vec<Str>,
    ids: Vec<Uuid>,
    refused: Vec<DeletableTopicResult>,
}

impl Decider {
    /// A topic that is named twice, in whatever way, isn't deleted.
    pub(super) fn delete_topics(&self, image: &Image, request: DeleteTopicsRequest) -> Decision {
        let Named { names, ids, refused: mut responses } = Named::of(request);
        let names_twice = given_twice(names.iter());
        let ids_twice = given_twice(ids.iter().copied());
        responses
            .extend(names_twice.iter().map(|name| refused(Some(name), Uuid::ZERO, Fault::duplicate_topic())));
        let duplicate_id = || Fault::new(ErrorCode::INVALID_REQUEST, "Duplicate topic id.");
        responses.extend(ids_twice.iter().map(|id| refused(None, *id, duplicate_id())));

        let by_id: BTreeSet<Uuid> = ids.iter().copied().collect();
        let mut named_both_ways = BTreeSet::new();
        let mut found = Vec::new();
        for name in names.iter().filter(|name| !names_twice.contains(name)) {
            match self.deletable(image.topic(name), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) {
                Ok(topic) if by_id.contains(&topic.id) => {
                    named_both_ways.insert(topic.id);
                    let text = "The provided topic name maps to an ID that was already supplied.";
                    let fault = Fault::new(ErrorCode::INVALID_REQUEST, text);
                    responses.push(refused(Some(name), topic.id, fault));
                }
                Ok(topic) => found.push(topic),
                Err(fault) => responses.push(refused(Some(name), Uuid::ZERO, fault)),
            }
        }
        let is_once = |id: &&Uuid| !ids_twice.contains(id) && !named_both_ways.contains(id);
        for id in ids.iter().filter(is_once) {
            match self.deletable(image.topic_by_id(*id), ErrorCode::UNKNOWN_TOPIC_ID) {
                Ok(topic) => found.push(topic),
                Err(fault) => responses.push(refused(None, *id, fault)),
            }
        }

        let mut records = Vec::new();
        for topic in found {
            let (name, topic_id) = (topic.name.clone(), topic.id);
            if records.len() == RECORDS_PER_OPERATION_MAX {
                responses.push(refused(Some(&name), topic_id, Fault::too_many()));
                continue;
            }
            records.push(RemoveTopicRecord { topic_id, ..Default::default() }.into());
            responses.push(DeletableTopicResult { name: Some(name), topic_id, ..Default::default() });
        }
        let reply = DeleteTopicsResponse { responses, ..Default::default() };
        Decision::atomic(records, ControllerReply::DeleteTopics(reply))
    }

    fn deletable<'a>(&self, found: Option<&'a Topic>, unknown: ErrorCode) -> Result<&'a Topic, Fault> {
        if !self.topics.delete_enable {
            return Err(Fault::plain(ErrorCode::TOPIC_DELETION_DISABLED));
        }
        found.ok_or_else(|| Fault::plain(unknown))
    }
}

impl Named {
    fn of(request: DeleteTopicsRequest) -> Self {
        let mut named = Self { names: request.topic_names, ..Self::default() };
        for DeleteTopicState { name, topic_id, .. } in request.topics {
            let bad = |text| Fault::new(ErrorCode::INVALID_REQUEST, text);
            match name {
                Some(name) if topic_id.is_zero() => named.names.push(name),
                Some(name) => {
                    let fault = bad("You may not specify both topic name and topic id.");
                    named.refused.push(refused(Some(&name), topic_id, fault));
                }
                None if topic_id.is_zero() => {
                    let fault = bad("Neither topic name nor id were specified.");
                    named.refused.push(refused(None, topic_id, fault));
                }
                None => named.ids.push(topic_id),
            }
        }
        named
    }
}

fn refused(name: Option<&Str>, topic_id: Uuid, fault: Fault) -> DeletableTopicResult {
    DeletableTopicResult {
        name: name.cloned(),
        topic_id,
        error_code: fault.code.code(),
        error_message: fault.text(),
        ..Default::default()
    }
}
