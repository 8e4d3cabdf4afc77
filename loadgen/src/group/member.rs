//! The life of a member.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use protocol::error::ErrorCode;

use super::calls::{CallError, Seat};
use crate::consumer::{Consumer, ConsumerPlan, Positions, Taker};
use crate::engine::ShardContext;

/// One member of a group, as the shard that runs it sees it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) group: String,
    /// Makes it leave and join again.
    pub(crate) is_to_rejoin: Cell<bool>,
    /// What it reads with now.
    pub(crate) consumer: std::cell::RefCell<Option<Rc<Consumer>>>,
    pub(crate) last_record_ns: Cell<u64>,
}

impl Member {
    pub(crate) fn new(group: String) -> Rc<Self> {
        Rc::new(Self {
            group,
            is_to_rejoin: Cell::new(false),
            consumer: Default::default(),
            last_record_ns: Cell::new(0),
        })
    }
}

/// How often orders are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Heartbeats in a session's time.
const HEARTBEATS: u32 = 3;
/// The longest pause between two of them.
const HEARTBEAT_MAX: Duration = Duration::from_secs(3);
/// Pause after a failure.
const PAUSE: Duration = Duration::from_millis(200);

/// What ends a member's time in a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The line is over.
    Stop,
    /// Another member came or went: join again as who it is.
    Rebalance,
    /// It is to leave, and come back as somebody else.
    Rejoin,
}

/// Runs a member until the line is over: join, read what it gets, commit, and again.
pub(crate) async fn drive(
    context: Rc<ShardContext>,
    plan: Rc<ConsumerPlan>,
    member: Rc<Member>,
    taker: impl Fn() -> Taker,
) {
    let mut seat: Option<Seat> = None;
    // Kept when the coordinator is lost: whoever forgets it leaves a dead member behind, for whom the group waits.
    let mut member_id = String::new();
    while !context.control.is_stopped() {
        let outcome = live(&context, &plan, &member, &taker, &mut seat, &member_id).await;
        member_id = seat.as_ref().map_or(member_id, |seat| seat.member_id.clone());
        let Err(error) = outcome else { continue };
        context.stats.borrow_mut().error(error.name());
        match error {
            // Another member came or went meanwhile: it joins again as who it is.
            CallError::Code(ErrorCode::REBALANCE_IN_PROGRESS | ErrorCode::ILLEGAL_GENERATION) => continue,
            CallError::Code(ErrorCode::UNKNOWN_MEMBER_ID) => {
                seat.iter_mut().for_each(|seat| seat.member_id.clear());
                member_id.clear();
            }
            CallError::Link(error) => {
                tracing::debug!("{error}");
                seat = None;
            }
            CallError::Code(_) => seat = None,
        }
        rt::sleep(PAUSE).await;
    }
    if let Some(seat) = seat {
        // The session's time would end it anyway.
        let _ = rt::timeout(Duration::from_secs(1), seat.leave()).await;
    }
}

/// One generation.
async fn live(
    context: &Rc<ShardContext>,
    plan: &Rc<ConsumerPlan>,
    member: &Member,
    taker: &impl Fn() -> Taker,
    seat: &mut Option<Seat>,
    member_id: &str,
) -> Result<(), CallError> {
    let seated = match seat.take() {
        Some(seated) => seated,
        None => Seat::take(context.clone(), &member.group, member_id).await?,
    };
    let seated = seat.insert(seated);
    let slots = seated.join(plan.spec.session_timeout_ms).await?;
    context.stats.borrow_mut().event("joins");
    let committed = if slots.is_empty() { BTreeMap::new() } else { seated.committed(&slots).await? };
    let mut positions = Positions::default();
    for slot in slots {
        let start = context.plan.starts[slot as usize];
        positions.add(slot, committed.get(&slot).copied().unwrap_or(start), None);
    }
    let consumer = Consumer::new(positions, taker());
    *member.consumer.borrow_mut() = Some(consumer.clone());
    let reading = rt::spawn(consumer.clone().drive(context.clone(), plan.clone()));
    let end = sit(context, plan, member, seated, &consumer).await;
    consumer.is_stopped.set(true);
    let read = reading.await;
    member.last_record_ns.set(member.last_record_ns.get().max(consumer.last_record_ns.get()));
    *member.consumer.borrow_mut() = None;
    read?;
    let end = end?;
    // A generation that is over takes commits of its members until they have joined the next.
    match commit(seated, &consumer).await {
        Err(CallError::Code(ErrorCode::REBALANCE_IN_PROGRESS)) | Ok(()) => {}
        Err(error) => return Err(error),
    }
    if end == End::Rejoin {
        seated.leave().await?;
        context.stats.borrow_mut().event("leaves");
        seated.member_id.clear();
    }
    Ok(())
}

/// Keeps the seat while the consumer reads.
async fn sit(
    context: &ShardContext,
    plan: &ConsumerPlan,
    member: &Member,
    seat: &Seat,
    consumer: &Consumer,
) -> Result<End, CallError> {
    let heartbeat =
        Duration::from_millis(u64::from(plan.spec.session_timeout_ms / HEARTBEATS)).min(HEARTBEAT_MAX);
    let commit_pause = Duration::from_millis(u64::from(plan.spec.commit_ms));
    let mut next_heartbeat = rt::now() + heartbeat;
    let mut next_commit = rt::now() + commit_pause;
    loop {
        rt::sleep(LOOK).await;
        if context.control.is_stopped() {
            return Ok(End::Stop);
        }
        if member.is_to_rejoin.replace(false) {
            return Ok(End::Rejoin);
        }
        if rt::now() >= next_heartbeat {
            next_heartbeat = rt::now() + heartbeat;
            match seat.heartbeat().await {
                Err(CallError::Code(ErrorCode::REBALANCE_IN_PROGRESS)) => return Ok(End::Rebalance),
                outcome => outcome?,
            }
        }
        if rt::now() >= next_commit {
            next_commit = rt::now() + commit_pause;
            match commit(seat, consumer).await {
                Err(CallError::Code(ErrorCode::REBALANCE_IN_PROGRESS)) => return Ok(End::Rebalance),
                outcome => outcome?,
            }
        }
    }
}

async fn commit(seat: &Seat, consumer: &Consumer) -> Result<(), CallError> {
    let positions: Vec<(u32, i64)> = consumer.positions.borrow().iter().collect();
    seat.commit(&positions).await
}
