//! The runtime around a decider: loading, waiting, losing.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use protocol::error::ErrorCode;
use protocol::messages::HeartbeatRequest;
use protocol::types::Str;

use super::memory_log::MemoryLog;
use super::{Clock, Coordinator, Now, Phase};
use crate::group::config::GroupConfig;
use crate::group::decider::GroupDecider;
use crate::group::request::{GroupReply, GroupRequest};

/// A clock that a test moves.
#[derive(Clone, Default)]
struct TestClock {
    now_ms: Rc<Cell<i64>>,
    sleepers: Rc<RefCell<Vec<Waker>>>,
}

impl Clock for TestClock {
    fn now(&self) -> Now {
        Now { mono_ms: self.now_ms.get(), unix_ms: self.now_ms.get() }
    }

    fn sleep_until(&self, mono_ms: i64) -> Pin<Box<dyn Future<Output = ()>>> {
        let clock = self.clone();
        Box::pin(poll_fn(move |cx| {
            if clock.now_ms.get() >= mono_ms {
                return Poll::Ready(());
            }
            clock.sleepers.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        }))
    }

    fn yield_point(&self) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(std::future::ready(()))
    }
}

type Groups = Coordinator<GroupDecider, MemoryLog, TestClock>;

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn decider() -> GroupDecider {
    GroupDecider::new(Rc::new(GroupConfig::default()))
}

fn heartbeat() -> GroupRequest {
    GroupRequest::Heartbeat(HeartbeatRequest { group_id: "g".into(), ..Default::default() })
}

fn commit(offset: i64) -> GroupRequest {
    use protocol::messages::OffsetCommitRequest;
    use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
    let partition = OffsetCommitRequestPartition { committed_offset: offset, ..Default::default() };
    let topic =
        OffsetCommitRequestTopic { name: "t".into(), partitions: vec![partition], ..Default::default() };
    let request = OffsetCommitRequest { group_id: "g".into(), topics: vec![topic], ..Default::default() };
    GroupRequest::Commit(Box::new(request), Vec::new(), 9)
}

async fn ask(groups: &Groups, request: GroupRequest) -> super::Answer<GroupDecider> {
    groups.ask(&request).await.await
}

fn offset(groups: &Groups) -> Option<i64> {
    groups.inspect(|decider| decider.group("g")?.offsets.get("t", 0).map(|committed| committed.offset))?
}

#[test]
fn it_refuses_until_loaded_and_loads_what_the_log_holds() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut early = pin!(ask(&groups, heartbeat()));
    assert_eq!(groups.phase(), Phase::Loading);
    assert!(matches!(poll(early.as_mut()), Poll::Ready(Err(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS))));
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    assert_eq!(groups.phase(), Phase::Active);
    for value in 1..=3 {
        let mut reply = pin!(ask(&groups, commit(value)));
        assert!(matches!(poll(reply.as_mut()), Poll::Ready(Ok(GroupReply::Commit(_)))));
    }

    let again = Groups::new(log.next_leadership(), TestClock::default());
    let mut run = pin!(again.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    assert_eq!(offset(&again), Some(3));
}

#[test]
fn replies_leave_with_the_high_watermark_in_order() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    log.hold_commits(true);
    let mut write = pin!(ask(&groups, commit(1)));
    let mut read = pin!(ask(&groups, heartbeat()));
    assert!(poll(write.as_mut()).is_pending() && poll(read.as_mut()).is_pending());
    log.commit();
    assert!(poll(run.as_mut()).is_pending());
    assert!(poll(write.as_mut()).is_ready() && poll(read.as_mut()).is_ready());
}

#[test]
fn a_lost_log_ends_it_for_everyone() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    log.hold_commits(true);
    let mut waits = pin!(ask(&groups, commit(1)));
    assert!(poll(waits.as_mut()).is_pending());
    log.lose();
    assert!(poll(run.as_mut()).is_ready());
    assert!(matches!(poll(waits.as_mut()), Poll::Ready(Err(ErrorCode::NOT_COORDINATOR))));
    let mut late = pin!(ask(&groups, heartbeat()));
    assert!(matches!(poll(late.as_mut()), Poll::Ready(Err(ErrorCode::NOT_COORDINATOR))));
    assert_eq!((groups.phase(), offset(&groups)), (Phase::Lost, None));
}

#[test]
fn resigning_ends_it_too() {
    let groups = Groups::new(MemoryLog::default(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    groups.resign();
    assert!(poll(run.as_mut()).is_ready());
}

#[test]
fn a_dropped_waiter_leaves_nothing_behind() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    log.hold_commits(true);
    {
        let mut write = pin!(ask(&groups, commit(1)));
        assert!(poll(write.as_mut()).is_pending());
    }
    log.commit();
    assert!(poll(run.as_mut()).is_pending());
    assert!(format!("{groups:?}").contains("waiters: 0"));
    assert_eq!(offset(&groups), Some(1), "the request itself was done");
}

#[test]
fn timers_fire_from_the_driver() {
    use crate::group::request::Joiner;
    use protocol::messages::JoinGroupRequest;
    use protocol::messages::join_group_request::JoinGroupRequestProtocol;
    let clock = TestClock::default();
    let groups = Groups::new(MemoryLog::default(), clock.clone());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    let request = JoinGroupRequest {
        group_id: "g".into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 60_000,
        protocol_type: "consumer".into(),
        protocols: vec![JoinGroupRequestProtocol { name: "range".into(), ..Default::default() }],
        ..Default::default()
    };
    let context = Joiner { client_id: "c".into(), client_host: Str::default(), api_version: 3 };
    let join = GroupRequest::Join(Box::new(request), context, protocol::types::Uuid([1; 16]));
    let mut join = pin!(ask(&groups, join));
    assert!(poll(run.as_mut()).is_pending());
    assert!(poll(join.as_mut()).is_pending(), "the initial delay");
    clock.now_ms.set(3_000);
    clock.sleepers.borrow_mut().drain(..).for_each(Waker::wake);
    assert!(poll(run.as_mut()).is_pending());
    assert!(
        matches!(poll(join.as_mut()), Poll::Ready(Ok(GroupReply::Join(response))) if response.error_code == 0)
    );
}

/// A batch that the log had no room for was refused with a code that Java's SyncGroup handler takes for fatal.
#[test]
fn a_request_waits_for_the_room_that_its_records_need() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    log.limit_room(0);
    let mut write = pin!(ask(&groups, commit(1)));
    assert!(poll(write.as_mut()).is_pending());
    assert_eq!(offset(&groups), None, "nothing is decided before there is room");
    assert!(matches!(poll(write.as_mut()), Poll::Ready(Ok(GroupReply::Commit(_)))));
    assert_eq!(offset(&groups), Some(1));

    let mut late = pin!(ask(&groups, commit(2)));
    assert!(poll(late.as_mut()).is_pending());
    groups.resign();
    assert!(matches!(poll(late.as_mut()), Poll::Ready(Err(ErrorCode::NOT_COORDINATOR))), "it doesn't hang");
}

/// One flipped bit took all groups behind it away, in silence.
#[test]
fn a_damaged_batch_is_stepped_over() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    for value in 1..=3 {
        assert!(poll(pin!(ask(&groups, commit(value))).as_mut()).is_ready());
    }
    log.damage(1, protocol::records::HEADER_BYTES + 5);
    let again = Groups::new(log.next_leadership(), TestClock::default());
    let mut run = pin!(again.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    assert_eq!((again.phase(), offset(&again)), (Phase::Active, Some(3)));
}

/// A batch whose header doesn't tell where the next one starts: what is behind it must not be taken for lost.
#[test]
fn a_log_that_cant_be_read_to_its_end_isnt_served() {
    const MAGIC_AT: usize = 16;
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    for value in 1..=2 {
        assert!(poll(pin!(ask(&groups, commit(value))).as_mut()).is_ready());
    }
    let log = log.next_leadership();
    log.damage(0, MAGIC_AT);
    let again = Groups::new(log.clone(), TestClock::default());
    {
        let mut run = pin!(again.run(decider(), ()));
        assert!(matches!(poll(run.as_mut()), Poll::Ready(Err(_))));
    }
    assert_eq!(again.phase(), Phase::Failed);
    let mut refused = pin!(ask(&again, commit(3)));
    assert!(
        matches!(poll(refused.as_mut()), Poll::Ready(Err(ErrorCode::NOT_COORDINATOR))),
        "it doesn't hang"
    );
    log.damage(0, MAGIC_AT);
    let mut run = pin!(again.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    assert_eq!((again.phase(), offset(&again)), (Phase::Active, Some(2)), "run again, it is loaded");
}

#[test]
fn resigning_ends_the_load() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    for value in 1..=2 {
        assert!(poll(pin!(ask(&groups, commit(value))).as_mut()).is_ready());
    }
    let log = log.next_leadership();
    log.hold_reads();
    let again = Groups::new(log.clone(), TestClock::default());
    let turn = Rc::new(());
    let mut run = pin!(again.run(decider(), Rc::clone(&turn)));
    assert!(poll(run.as_mut()).is_pending());
    assert_eq!((log.reads(), Rc::strong_count(&turn)), (1, 2));
    again.resign();
    assert!(matches!(poll(run.as_mut()), Poll::Ready(Ok(()))));
    assert_eq!((log.reads(), Rc::strong_count(&turn)), (1, 1), "not read to its end");
}

/// What was deleted while the groups loaded was forgotten: a topic made anew got the old offsets.
#[test]
fn topics_deleted_while_it_loads_are_dealt_with_after() {
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    assert!(poll(pin!(ask(&groups, commit(1))).as_mut()).is_ready());
    let again = Groups::new(log.next_leadership(), TestClock::default());
    let deleted = || {
        GroupRequest::TopicsDeleted(vec![
            ("t".into(), protocol::types::Uuid([1; 16])),
            ("t".into(), protocol::types::Uuid::ZERO),
        ])
    };
    for _ in 0..=crate::group::limits::TOLD_MAX {
        again.tell(deleted());
    }
    assert!(format!("{again:?}").contains("told: 100000"), "bounded");
    let mut run = pin!(again.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    assert_eq!((again.phase(), offset(&again)), (Phase::Active, None));
}

/// A waker may run anything, the coordinator's own code included.
#[test]
fn wakers_are_called_when_nothing_is_borrowed() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;
    #[derive(Default)]
    struct Counts(AtomicUsize);
    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    log.hold_commits(true);
    let wakes = Arc::new(Counts::default());
    let woken = || wakes.0.load(Ordering::Relaxed);
    let waker = Waker::from(Arc::clone(&wakes));
    let cx = &mut Context::from_waker(&waker);
    let mut waits = [commit(1), commit(2)].map(|request| Box::pin(ask(&groups, request)));
    assert!(waits.iter_mut().all(|wait| wait.as_mut().poll(cx).is_pending()));
    let mut state = groups.inner.state.borrow_mut();
    let wakers = state.settle(1);
    assert_eq!(woken(), 0, "not while it is borrowed");
    drop(state);
    wakers.wake();
    assert_eq!(woken(), 1);
    let mut state = groups.inner.state.borrow_mut();
    let wakers = state.lose();
    assert_eq!(woken(), 1, "nor here");
    drop(state);
    wakers.wake();
    assert_eq!(woken(), 2);
}

#[test]
fn waiters_are_bounded() {
    use crate::group::limits::WAITERS_MAX;
    let log = MemoryLog::default();
    let groups = Groups::new(log.clone(), TestClock::default());
    let mut run = pin!(groups.run(decider(), ()));
    assert!(poll(run.as_mut()).is_pending());
    log.hold_commits(true);
    let request = commit(1);
    let mut waiting = Vec::new();
    let Poll::Ready(first) = poll(pin!(groups.ask(&request)).as_mut()) else { panic!("no room") };
    waiting.push(first);
    let request = heartbeat();
    for _ in 1..WAITERS_MAX {
        let Poll::Ready(reply) = poll(pin!(groups.ask(&request)).as_mut()) else { panic!("no room") };
        waiting.push(reply);
    }
    let mut refused = pin!(ask(&groups, heartbeat()));
    assert!(matches!(poll(refused.as_mut()), Poll::Ready(Err(ErrorCode::COORDINATOR_NOT_AVAILABLE))));
    waiting.pop();
    assert!(poll(pin!(ask(&groups, heartbeat())).as_mut()).is_pending());
}
