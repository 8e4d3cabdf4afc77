//! Which groups may be reset, and which of their partitions are.

use std::collections::{BTreeMap, BTreeSet};

use client::ClientError;
use protocol::error::ErrorCode;

use super::ResetArgs;
use super::target::Target;
use crate::cli::error::CliError;
use crate::cli::group::describe::members;
use crate::cli::group::topics::TopicArg;
use crate::cli::offsets::Place;
use crate::cli::session::{Session, at_coordinator};

/// Refuses a group that somebody is in: its members would overwrite what is set, or never see it. A group that isn't
/// there is made by the first offset that is set.
pub(super) fn must_be_empty(session: &mut Session, group: &str) -> Result<(), CliError> {
    let state = match at_coordinator(session, group, |session| members::describe(session, group)) {
        Err(error) if error.code() == Some(ErrorCode::GROUP_ID_NOT_FOUND) => return Ok(()),
        found => found?,
    };
    if ["Empty", "Dead"].contains(&state.state.as_str()) {
        return Ok(());
    }
    let (members, state) = (state.members.len(), &state.state);
    Err(CliError::Refused(format!(
        "group {group} is {state} with {members} members: stop them first, offsets are set while nobody is in the group"
    )))
}

/// The partitions to reset, those of missing topics left out if only the group's offsets name them.
pub(super) fn places(
    session: &mut Session,
    group: &str,
    args: &ResetArgs,
    target: &Target,
    committed: &BTreeMap<Place, i64>,
) -> Result<BTreeSet<Place>, CliError> {
    if let Target::File(rows) = target {
        let places: BTreeSet<Place> = rows.of(group).into_keys().collect();
        return existing(session, places);
    }
    if args.all_topics {
        return still_there(session, committed);
    }
    let mut places = BTreeSet::new();
    for TopicArg { topic, partitions } in &args.topic {
        let of_topic =
            if partitions.is_empty() { session.partitions_of(topic, false)? } else { partitions.clone() };
        places.extend(of_topic.into_iter().map(|partition| (topic.clone(), partition)));
    }
    existing(session, places)
}

fn existing(session: &mut Session, places: BTreeSet<Place>) -> Result<BTreeSet<Place>, CliError> {
    let topics: BTreeSet<&str> = places.iter().map(|(topic, _)| topic.as_str()).collect();
    for topic in topics {
        session.partitions_of(topic, false)?;
    }
    let cluster = session.client.cluster();
    for (topic, partition) in &places {
        if !cluster.topic(topic)?.partitions.contains_key(partition) {
            return Err(CliError::Usage(format!("{topic} has no partition {partition}")));
        }
    }
    Ok(places)
}

fn still_there(session: &mut Session, committed: &BTreeMap<Place, i64>) -> Result<BTreeSet<Place>, CliError> {
    let topics: BTreeSet<&str> = committed.keys().map(|(topic, _)| topic.as_str()).collect();
    let topics: Vec<&str> = topics.into_iter().collect();
    session.client.refresh(Some(&topics), false)?;
    let cluster = session.client.cluster();
    let mut places = BTreeSet::new();
    for place in committed.keys() {
        match cluster.topic(&place.0) {
            Ok(found) if found.partitions.contains_key(&place.1) => drop(places.insert(place.clone())),
            Ok(_) => {}
            Err(ClientError::Broker { code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, .. }) => {}
            // It may be there, and half a group must not be reset without a word.
            Err(error) => return Err(error.into()),
        }
    }
    Ok(places)
}
