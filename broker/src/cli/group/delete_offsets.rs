//! `ringlog group delete-offsets`.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::messages::OffsetDeleteRequest;
use protocol::messages::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
use serde_json::{Value, json};

use super::topics::TopicArg;
use crate::cli::error::CliError;
use crate::cli::offsets::{Place, committed};
use crate::cli::output::{Table, or_dash, print};
use crate::cli::session::{Session, all_or_last, at_coordinator};

/// Options of `group delete-offsets`.
#[derive(Debug, Args)]
pub(crate) struct DeleteOffsetsArgs {
    /// The group's id
    group: String,
    /// A topic, or some of its partitions; may be repeated
    #[arg(long, short = 't', required = true, value_name = "TOPIC[:PARTITION,..]")]
    topic: Vec<TopicArg>,
}

/// What became of one partition's offset.
struct Outcome {
    place: Place,
    /// What was committed before.
    committed: Option<i64>,
    failure: Option<ClientError>,
}

pub(crate) fn run(mut session: Session, args: &DeleteOffsetsArgs) -> Result<(), CliError> {
    let group = args.group.as_str();
    let offsets = at_coordinator(&mut session, group, |session| committed(session, group))?;
    let places = places(&args.topic, &offsets);
    if places.is_empty() {
        return Err(CliError::Refused(format!("group {group} has committed nothing for these topics")));
    }
    let outcomes = at_coordinator(&mut session, group, |session| delete(session, group, &places, &offsets))?;
    print(session.output, || table(&outcomes), || outcomes.iter().map(as_json).collect())?;
    all_or_last(outcomes.into_iter().filter_map(|outcome| outcome.failure).collect())
}

/// The partitions named; of a topic without partitions, those that the group has committed for.
fn places(topics: &[TopicArg], offsets: &BTreeMap<Place, i64>) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for TopicArg { topic, partitions } in topics {
        if partitions.is_empty() {
            places.extend(offsets.keys().filter(|(of, _)| of == topic).cloned());
        }
        places.extend(partitions.iter().map(|partition| (topic.clone(), *partition)));
    }
    places
}

/// Highest version filled here.
const OFFSET_DELETE_MAX: i16 = 0;

fn delete(
    session: &mut Session,
    group: &str,
    places: &BTreeSet<Place>,
    offsets: &BTreeMap<Place, i64>,
) -> Result<Vec<Outcome>, ClientError> {
    let mut topics: BTreeMap<&str, Vec<OffsetDeleteRequestPartition>> = BTreeMap::new();
    for (topic, partition) in places {
        let partition = OffsetDeleteRequestPartition { partition_index: *partition };
        topics.entry(topic).or_default().push(partition);
    }
    let topics = topics
        .into_iter()
        .map(|(name, partitions)| OffsetDeleteRequestTopic { name: name.into(), partitions });
    let request = OffsetDeleteRequest { group_id: group.into(), topics: topics.collect() };
    let (_, answer) = session.client.call(Target::Coordinator(group), OFFSET_DELETE_MAX, |_| request)?;
    ClientError::check(answer.error_code, None, || format!("group {group}"))?;
    let mut outcomes = Vec::new();
    for topic in &answer.topics {
        for partition in &topic.partitions {
            let place = (topic.name.to_string(), partition.partition_index);
            let what = || format!("offset of {}-{} in group {group}", place.0, place.1);
            let failure = ClientError::check(partition.error_code, None, what).err();
            outcomes.push(Outcome { committed: offsets.get(&place).copied(), failure, place });
        }
    }
    Ok(outcomes)
}

fn table(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(&["TOPIC", "PARTITION", "COMMITTED", "DELETED"]);
    for Outcome { place, committed, failure } in outcomes {
        let deleted = match failure {
            Some(failure) => failure.code().map_or("no", |code| code.name()),
            None => "yes",
        };
        table.row(vec![place.0.clone(), place.1.to_string(), or_dash(*committed), deleted.to_owned()]);
    }
    table
}

fn as_json(outcome: &Outcome) -> Value {
    let Outcome { place, committed, failure } = outcome;
    let error = failure.as_ref().map(ToString::to_string);
    json!({"topic": place.0, "partition": place.1, "committed": committed, "deleted": error.is_none(), "error": error})
}
