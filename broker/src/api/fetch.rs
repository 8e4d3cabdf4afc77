//! Fetch (key 1): records of partitions, or the wait for them.
//!
//! Planned on the connection's shard: the owners say without I/O what could be read, the request's bytes are dealt in the order of its
//! partitions, then the owners hand over records. The first partition with records always gives a batch (KIP-74).
//!
//! Records are read once there is memory for them, and are counted until they are sent: a client that asks and doesn't read waits for
//! itself and its like.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, FutureExt, join_all, select, select_all};
use protocol::error::ErrorCode;
use protocol::messages::fetch_response::{EpochEndOffset, FetchableTopicResponse, PartitionData};
use protocol::messages::{FetchRequest, FetchResponse};
use protocol::types::Records;
use rt::sync::Permit;
use rt::{Instant, ShardId};
use shards::PartitionKey;

use super::numbered::Numbered;
use super::parts::Parts;
use crate::metadata::limits::TOPIC_NAME_LEN_MAX;
use crate::server::fetch_session::{FetchEntry, FetchName, SESSION_PARTITIONS_MAX, SessionError};
use crate::server::piece::{Answer, FetchPlanned, FetchShare, FetchSpot, FetchedPartition};
use crate::server::{Piece, RequestContext, ShardState};

/// One partition on its way through the fetch.
struct Part {
    entry: FetchEntry,
    target: Result<(ShardId, FetchSpot), ErrorCode>,
    planned: Option<FetchPlanned>,
    fetched: Option<FetchedPartition>,
}

/// What a partition of a Fetch that waits takes, about: its own, and what its owner was asked.
const PART_BYTES: usize = size_of::<Part>() + size_of::<FetchSpot>() + size_of::<usize>();

/// What a Fetch asks of all its partitions together.
struct Asked {
    max_wait_ms: i32,
    min_bytes: i32,
    max_bytes: i32,
    isolation_level: i8,
}

impl Asked {
    fn of(request: &FetchRequest) -> Self {
        let &FetchRequest { max_wait_ms, min_bytes, max_bytes, isolation_level, .. } = request;
        Self { max_wait_ms, min_bytes, max_bytes, isolation_level }
    }
}

/// Answers a Fetch, after `max_wait_ms` at the latest, not counting how long it waits for memory. With the records comes the memory they are
/// counted in, to be held until they are sent.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: Box<FetchRequest>,
) -> (FetchResponse, Option<Permit>) {
    let version = context.api_version;
    let by_id = version >= 13;
    let asked = Asked::of(&request);
    let entries = entries(&request).await;
    let name_bytes = request.topics.iter().map(|topic| topic.topic.len()).sum::<usize>();
    let (session_id, epoch) = (request.session_id, request.session_epoch);
    let sessions = &shard.fetch_sessions;
    let incremental = version >= 7 && epoch > 0;
    let entries = if incremental {
        let forgotten = forgotten(&request).await;
        match sessions.advance(session_id, epoch, entries, &forgotten, by_id) {
            Ok(entries) => entries,
            Err(error) => return (session_error(error), None),
        }
    } else {
        if version >= 7 && session_id != 0 {
            sessions.close(session_id);
        }
        entries
    };
    if incremental && entries.is_empty() {
        // Everything was forgotten: as in Kafka the session ends with it.
        sessions.close(session_id);
        return (FetchResponse::default(), None);
    }
    let wants_session = version >= 7 && epoch == 0 && (1..=SESSION_PARTITIONS_MAX).contains(&entries.len());
    let mut parts = resolve(shard, entries, by_id).await;
    // From here on it may wait for long, and keeps no more than this of the request.
    drop(request);
    context.memory.keep(context.client_id.len() + name_bytes + parts.len() * PART_BYTES);
    plan_until_enough(shard, &mut parts, &asked).await;
    let memory = read(shard, &mut parts, &asked).await;

    let id = match (incremental, wants_session) {
        (true, _) => session_id,
        (false, true) => sessions.open(by_id),
        (false, false) => 0,
    };
    (respond(shard, parts, id, incremental, version, asked.isolation_level), memory)
}

fn session_error(error: SessionError) -> FetchResponse {
    let code = match error {
        SessionError::NotFound => ErrorCode::FETCH_SESSION_ID_NOT_FOUND,
        SessionError::InvalidEpoch => ErrorCode::INVALID_FETCH_SESSION_EPOCH,
        SessionError::TopicId => ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR,
    };
    FetchResponse { error_code: code.code(), ..Default::default() }
}

/// The partitions of a request, each once: of one that is named again the last counts, in the place of the first, as in Kafka.
///
/// Their names outlive the request: all partitions of a topic share one copy.
async fn entries(request: &FetchRequest) -> Vec<FetchEntry> {
    let mut entries: Vec<FetchEntry> = Vec::new();
    let mut names = Numbered::new();
    let mut places: BTreeMap<(usize, i32), usize> = BTreeMap::new();
    for topic in &request.topics {
        let number = names.number((&topic.topic, topic.topic_id));
        let name = topic.topic.detached();
        for partition in &topic.partitions {
            rt::yield_point().await;
            let entry = FetchEntry {
                name: FetchName {
                    topic: name.clone(),
                    topic_id: topic.topic_id,
                    partition: partition.partition,
                },
                offset: partition.fetch_offset,
                bytes_max: usize::try_from(partition.partition_max_bytes).unwrap_or(0),
                leader_epoch: partition.current_leader_epoch,
                last_fetched_epoch: partition.last_fetched_epoch,
                told: None,
            };
            let place = *places.entry((number, partition.partition)).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(named_before) => *named_before = entry,
                None => entries.push(entry),
            }
        }
    }
    entries
}

/// What the session's client reads no more.
async fn forgotten(request: &FetchRequest) -> BTreeSet<FetchName> {
    let mut names = BTreeSet::new();
    // A longer name is in no session, and would be compared for each partition.
    let possible = request.forgotten_topics_data.iter().filter(|topic| can_exist(&topic.topic));
    for topic in possible {
        for partition in &topic.partitions {
            names.insert(FetchName {
                topic: topic.topic.clone(),
                topic_id: topic.topic_id,
                partition: *partition,
            });
            rt::yield_point().await;
        }
    }
    names
}

/// Whether a topic can have that name.
fn can_exist(name: &str) -> bool {
    name.len() <= TOPIC_NAME_LEN_MAX
}

async fn resolve(shard: &Rc<ShardState>, entries: Vec<FetchEntry>, by_id: bool) -> Vec<Part> {
    let mut parts = Vec::with_capacity(entries.len());
    for entry in entries {
        let target = target(shard, &entry, by_id).await;
        parts.push(Part { entry, target, planned: None, fetched: None });
        rt::yield_point().await;
    }
    parts
}

async fn target(
    shard: &Rc<ShardState>,
    entry: &FetchEntry,
    by_id: bool,
) -> Result<(ShardId, FetchSpot), ErrorCode> {
    let key = {
        let image = shard.image.borrow();
        let (topic, unknown) = match by_id {
            true => (image.topic_by_id(entry.name.topic_id), ErrorCode::UNKNOWN_TOPIC_ID),
            false => (image.topic(&entry.name.topic), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        };
        let topic = topic.ok_or(unknown)?;
        topic.partition(entry.name.partition).ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        PartitionKey { topic_id: topic.id, partition: entry.name.partition }
    };
    let spot = FetchSpot {
        key,
        offset: entry.offset,
        bytes_max: entry.bytes_max,
        leader_epoch: entry.leader_epoch,
        last_fetched_epoch: entry.last_fetched_epoch,
    };
    shard.owner(&key).await.map(|owner| (owner, spot)).ok_or(ErrorCode::NOT_LEADER_OR_FOLLOWER)
}

/// Waits of at least this end at a tick.
const LONG_WAIT: Duration = Duration::from_millis(100);
/// Long waits end together, so many at one waking of their shard: each waking costs more than the answer that it is for, and thousands of
/// consumers wait all the time.
const WAIT_TICK: Duration = Duration::from_millis(4);

/// When a wait of at most `max_wait` that begins now is over: a long one at the last tick within it.
fn wait_end(now: Instant, max_wait: Duration) -> Instant {
    let end = now + max_wait;
    if max_wait < LONG_WAIT {
        return end;
    }
    end - Duration::from_nanos(end.as_nanos() % WAIT_TICK.as_nanos() as u64)
}

/// Plans, and plans anew when something moved, until there is enough, an error to tell, or no time left.
async fn plan_until_enough(shard: &Rc<ShardState>, parts: &mut [Part], request: &Asked) {
    let until = wait_end(rt::now(), Duration::from_millis(request.max_wait_ms.max(0) as u64));
    // As in Kafka no more is waited for than the answer may hold.
    let bytes_min = usize::try_from(request.min_bytes).unwrap_or(0).min(answer_bytes_max(shard, request));
    if let Some(owner) = only_owner(parts)
        && request.max_wait_ms > 0
    {
        wait_at(shard, parts, owner, bytes_min, until).await;
    }
    plan(shard, parts).await;
    loop {
        let planned = parts.iter().filter_map(|part| part.planned.as_ref());
        let bytes: usize = planned.clone().map(|planned| planned.bytes).sum();
        // A partition that isn't known is told with the rest, but doesn't end the wait for the others, as in Kafka.
        let news =
            parts.iter().all(|part| part.target.is_err()) || planned.clone().any(FetchPlanned::is_news);
        // A shard that drains answers with what there is: the client gets an empty answer rather than none.
        if bytes >= bytes_min || news || rt::now() >= until || shard.network.is_draining() {
            return;
        }
        wait(shard, parts, until).await;
    }
}

/// The one that has all partitions, if it is one.
fn only_owner(parts: &[Part]) -> Option<ShardId> {
    let mut owners = parts.iter().filter_map(|part| part.target.as_ref().ok()).map(|(owner, _)| *owner);
    let first = owners.next()?;
    owners.all(|owner| owner == first).then_some(first)
}

/// Plans all partitions at their one owner, which waits until there is enough: it knows that by itself, so plan and wait are one piece. None is
/// planned if this shard drains meanwhile.
async fn wait_at(
    shard: &Rc<ShardState>,
    parts: &mut [Part],
    owner: ShardId,
    bytes_min: usize,
    until: Instant,
) {
    let spots = parts.iter().filter_map(|part| part.target.as_ref().ok()).map(|(_, spot)| *spot).collect();
    let planned = pin!(shard.call(owner, Piece::FetchWait { spots, bytes_min, until }));
    if let Either::Left((Answer::FetchPlan(planned), _)) =
        select(planned, pin!(shard.network.draining())).await
    {
        let asked = parts.iter_mut().filter(|part| part.target.is_ok());
        for (part, planned) in asked.zip(planned) {
            part.planned = Some(planned);
        }
    }
}

/// What the answer's records may take together, in bytes; the first batch may be larger.
fn answer_bytes_max(shard: &Rc<ShardState>, request: &Asked) -> usize {
    let asked = usize::try_from(request.max_bytes).unwrap_or(0);
    asked.min(shard.node.config.network.fetch_max_bytes).min(shard.network.answer_bytes_max)
}

/// Plans those that aren't yet.
async fn plan(shard: &Rc<ShardState>, parts: &mut [Part]) {
    let mut by_owner = Parts::new();
    for (index, part) in parts.iter().enumerate() {
        if let (Ok((owner, spot)), None) = (&part.target, &part.planned) {
            by_owner.add(*owner, index, *spot);
        }
    }
    let calls = by_owner.into_iter().map(|(owner, (indexes, spots))| async move {
        (indexes, shard.call(owner, Piece::FetchPlan(spots)).await)
    });
    for (indexes, answer) in join_all(calls.collect::<Vec<_>>()).await {
        note_plan(parts, indexes, answer);
    }
    follow_moved(shard, parts).await;
}

/// Whether it has another owner than the one that was asked.
async fn has_moved(shard: &Rc<ShardState>, part: &Part) -> bool {
    match &part.target {
        Ok((asked, spot)) => shard.owner(&spot.key).await.is_some_and(|owner| owner != *asked),
        Err(_) => false,
    }
}

/// Plans those anew that went to another core.
async fn follow_moved(shard: &Rc<ShardState>, parts: &mut [Part]) {
    for part in parts {
        while let (Ok((owner, spot)), Some(FetchPlanned { error: ErrorCode::NOT_LEADER_OR_FOLLOWER, .. })) =
            (&mut part.target, &part.planned)
        {
            match shard.owner(&spot.key).await {
                Some(moved) if moved != *owner => *owner = moved,
                _ => break,
            }
            if let Answer::FetchPlan(planned) = shard.call(*owner, Piece::FetchPlan(vec![*spot])).await {
                part.planned = planned.first().copied();
            }
        }
    }
}

fn note_plan(parts: &mut [Part], indexes: Vec<usize>, answer: Answer) {
    if let Answer::FetchPlan(planned) = answer {
        for (index, planned) in indexes.into_iter().zip(planned) {
            parts[index].planned = Some(planned);
        }
    }
}

/// Waits until owners have more, or something else to tell, whose partitions are then planned anew: those of all who have answered by then. The others stand as they were
/// planned, and what moves there now is for the next Fetch.
async fn wait(shard: &Rc<ShardState>, parts: &mut [Part], until: Instant) {
    let mut by_owner = Parts::new();
    for (index, part) in parts.iter().enumerate() {
        if let (Ok((owner, spot)), Some(planned)) = (&part.target, &part.planned) {
            by_owner.add(*owner, index, (*spot, planned.bytes));
        }
    }
    let draining = pin!(shard.network.draining());
    if by_owner.count() == 0 {
        select(pin!(rt::sleep_until(until)), draining).await;
        return;
    }
    let calls = by_owner.into_iter().map(|(owner, (indexes, known))| {
        let (spots, bytes): (Vec<FetchSpot>, Vec<usize>) = known.into_iter().unzip();
        let wait = Piece::FetchWait { spots, bytes_min: bytes.iter().sum::<usize>() + 1, until };
        Box::pin(async move { (indexes, shard.call(owner, wait).await) })
    });
    // Whoever answers, or nobody: the waits of the others are cancelled with their calls.
    let answered = pin!(first_and_ready(calls.collect()));
    if let Either::Left((answers, _)) = select(answered, draining).await {
        for (indexes, answer) in answers {
            note_plan(parts, indexes, answer);
        }
        follow_moved(shard, parts).await;
    }
}

/// Waits for the first of `calls`, of which there must be one; its output, and those of the others that are there as well by then. The rest is
/// dropped.
async fn first_and_ready<F: Future + Unpin>(calls: Vec<F>) -> Vec<F::Output> {
    let (first, _, others) = select_all(calls).await;
    let others = others.into_iter().filter_map(FutureExt::now_or_never);
    std::iter::once(first).chain(others).collect()
}

async fn read(shard: &Rc<ShardState>, parts: &mut [Part], request: &Asked) -> Option<Permit> {
    let limit = answer_bytes_max(shard, request);
    let planned = parts.iter().filter_map(|part| part.planned.as_ref());
    let wanted: usize = planned.map(|planned| planned.bytes).sum();
    if wanted == 0 {
        return None;
    }
    let mut memory = shard.network.response_memory.take(wanted.min(limit.max(1))).await;
    let mut left = limit;
    let mut first = true;
    let mut by_owner = Parts::new();
    for (index, part) in parts.iter().enumerate() {
        let (Ok((owner, spot)), Some(planned)) = (&part.target, &part.planned) else { continue };
        if planned.bytes == 0 || (left == 0 && !first) {
            continue;
        }
        let share =
            FetchShare { spot: FetchSpot { bytes_max: spot.bytes_max.min(limit), ..*spot }, min_one: first };
        first = false;
        let dealt = planned.bytes.min(left);
        left -= dealt;
        by_owner.add(*owner, index, (share, dealt));
    }
    // The plan is an estimate for what is in files: what it leaves is for those whose batches turn out larger.
    let spare = left / by_owner.count().max(1);
    let calls = by_owner.into_iter().map(|(owner, (indexes, dealt))| async move {
        let bytes_max = dealt.iter().map(|(_, bytes)| bytes).sum::<usize>() + spare;
        let shares: Vec<FetchShare> = dealt.into_iter().map(|(share, _)| share).collect();
        (indexes, shard.call(owner, Piece::FetchRead { shares, bytes_max }).await)
    });
    for (indexes, answer) in join_all(calls.collect::<Vec<_>>()).await {
        if let Answer::FetchRead(fetched) = answer {
            for (index, fetched) in indexes.into_iter().zip(fetched) {
                // Of one that went to another core meanwhile there are no records this time, and no error: the client asks again.
                let is_gone = fetched.error == ErrorCode::NOT_LEADER_OR_FOLLOWER
                    && has_moved(shard, &parts[index]).await;
                parts[index].fetched = Some(fetched).filter(|_| !is_gone);
            }
        }
    }
    // The plan was an estimate for what is in files, and a first batch may be larger than its share.
    let bufs = parts.iter().filter_map(|part| part.fetched.as_ref()).flat_map(|fetched| &fetched.records);
    memory.adjust_to(bufs.map(Bytes::len).sum());
    Some(memory)
}

fn respond(
    shard: &Rc<ShardState>,
    parts: Vec<Part>,
    session_id: i32,
    incremental: bool,
    version: i16,
    isolation_level: i8,
) -> FetchResponse {
    let mut responses: Vec<FetchableTopicResponse> = Vec::new();
    let mut told = Vec::with_capacity(parts.len());
    for mut part in parts {
        let data = partition_data(&mut part, version, isolation_level);
        let news = (data.error_code, data.high_watermark, data.log_start_offset);
        let has_records = data.records.as_ref().is_some_and(|records| !records.is_empty());
        let silent = incremental
            && !has_records
            && data.error_code == 0
            && data.diverging_epoch.epoch == -1
            && part.entry.told == Some(news);
        part.entry.told = Some(news);
        if !silent {
            push(&mut responses, &part.entry.name, data);
        }
        // A name that no topic can have is told, but not remembered: a session's names would take as much as a request may have.
        if can_exist(&part.entry.name.topic) {
            told.push((part.entry, has_records));
        }
    }
    if session_id != 0 {
        shard.fetch_sessions.put(session_id, told);
    }
    FetchResponse { session_id, responses, ..Default::default() }
}

fn push(responses: &mut Vec<FetchableTopicResponse>, name: &FetchName, data: PartitionData) {
    let same = |topic: &FetchableTopicResponse| topic.topic == name.topic && topic.topic_id == name.topic_id;
    if let Some(last) = responses.last_mut().filter(|topic| same(topic)) {
        last.partitions.push(data);
        return;
    }
    responses.push(FetchableTopicResponse {
        topic: name.topic.clone(),
        topic_id: name.topic_id,
        partitions: vec![data],
        ..Default::default()
    });
}

fn partition_data(part: &mut Part, version: i16, isolation_level: i8) -> PartitionData {
    let planned = part.planned.as_ref();
    let fetched = part.fetched.take();
    let error = match (&part.target, planned, &fetched) {
        (Err(code), _, _) => *code,
        (Ok(_), None, _) => ErrorCode::NOT_LEADER_OR_FOLLOWER,
        (Ok(_), Some(planned), None) => planned.error,
        (Ok(_), Some(_), Some(fetched)) => fetched.error,
    };
    let error = match error {
        ErrorCode::KAFKA_STORAGE_ERROR if version <= 5 => ErrorCode::NOT_LEADER_OR_FOLLOWER,
        error => error,
    };
    let marks = match (&fetched, planned) {
        (Some(fetched), _) if fetched.error.is_none() => (fetched.high_watermark, fetched.log_start_offset),
        (_, Some(planned)) => (planned.high_watermark, planned.log_start_offset),
        (_, None) => (-1, -1),
    };
    let diverging = planned.and_then(|planned| planned.diverging);
    let records = fetched.map(|fetched| fetched.records).unwrap_or_default();
    PartitionData {
        partition_index: part.entry.name.partition,
        error_code: error.code(),
        high_watermark: marks.0,
        // There are no transactions yet, so nothing is undecided below the high watermark.
        last_stable_offset: marks.0,
        log_start_offset: marks.1,
        diverging_epoch: diverging
            .map(|(epoch, end_offset)| EpochEndOffset { epoch, end_offset, ..Default::default() })
            .unwrap_or_default(),
        aborted_transactions: (isolation_level == 1).then(Vec::new),
        preferred_read_replica: -1,
        records: Some(Records::from(records)),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests;
