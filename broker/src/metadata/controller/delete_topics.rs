//! DeleteTopics.

use std::collections::BTreeSet;

use protocol::error::ErrorCode;
use protocol::internal::RemoveTopicRecord;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use protocol::types::{Str, Uuid};

use super::create_topics::too_many;
use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::request::ControllerReply;
use crate::metadata::image::Image;
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

impl Decider {
    pub(super) fn delete_topics(&self, image: &Image, request: DeleteTopicsRequest) -> Decision {
        let by_name = request.topic_names.into_iter().map(|name| (Some(name), Uuid::ZERO));
        let states =
            request.topics.into_iter().map(|DeleteTopicState { name, topic_id, .. }| (name, topic_id));
        let wanted: Vec<_> = by_name.chain(states).collect();
        let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
        let (mut records, mut responses) = (Vec::new(), Vec::new());
        for (name, id) in wanted {
            let found = self.find_to_delete(image, name.as_ref(), id);
            let again = name.as_ref().is_some_and(|name| !names.insert(name.clone()))
                || !id.is_zero() && !ids.insert(id);
            let found = match found {
                _ if again => {
                    let what = if name.is_some() { "name" } else { "id" };
                    Err(Fault::new(ErrorCode::INVALID_REQUEST, format!("Duplicate topic {what}.")))
                }
                Ok(_) if records.len() == RECORDS_PER_OPERATION_MAX => Err(too_many()),
                found => found,
            };
            responses.push(match found {
                Ok((name, topic_id)) => {
                    // The same topic by name and by id is one deletion.
                    if names.insert(name.clone()) | ids.insert(topic_id) {
                        records.push(RemoveTopicRecord { topic_id, ..Default::default() }.into());
                    }
                    DeletableTopicResult { name: Some(name), topic_id, ..Default::default() }
                }
                Err(fault) => DeletableTopicResult {
                    name,
                    topic_id: id,
                    error_code: fault.code.code(),
                    error_message: fault.text(),
                    ..Default::default()
                },
            });
        }
        let reply = DeleteTopicsResponse { responses, ..Default::default() };
        Decision::atomic(records, ControllerReply::DeleteTopics(reply))
    }

    fn find_to_delete(&self, image: &Image, name: Option<&Str>, id: Uuid) -> Result<(Str, Uuid), Fault> {
        let bad = |text| Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
        let topic = match name {
            Some(_) if !id.is_zero() => return bad("You may not specify both topic name and topic id."),
            None if id.is_zero() => return bad("Neither topic name nor id were specified."),
            _ if !self.topics.delete_enable => return Err(Fault::plain(ErrorCode::TOPIC_DELETION_DISABLED)),
            Some(name) => image.topic(name).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
            None => image.topic_by_id(id).ok_or(ErrorCode::UNKNOWN_TOPIC_ID),
        };
        topic.map(|topic| (topic.name.clone(), topic.id)).map_err(Fault::plain)
    }
}
