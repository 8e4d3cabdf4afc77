//! Two shards of a simulated node, which ask each other.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::join_all;
use rt::sim::Sim;
use rt::sync::Notify;
use rt::{ShardId, TaskSet};

use super::owner::BEGUN_TOGETHER;
use super::*;

const OWNER: ShardId = ShardId(1);

/// What the owner is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// Answers with the number.
    Echo(u32),
    /// Waits for `Owner::go`, as for what others do.
    Wait(u32),
    /// The same, as work that takes long.
    Append(u32),
}

impl MeshPiece for Ask {
    fn waits(&self) -> bool {
        matches!(self, Ask::Wait(_))
    }
}

/// What the owner saw.
#[derive(Default)]
struct Owner {
    begun: RefCell<Vec<Ask>>,
    finished: RefCell<Vec<Ask>>,
    dropped: Cell<usize>,
    go: Notify,
    gone: Cell<bool>,
}

struct Dropped(Rc<Owner>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.set(self.0.dropped.get() + 1);
    }
}

async fn handle(owner: Rc<Owner>, ask: Ask) -> u32 {
    let dropped = Dropped(Rc::clone(&owner));
    owner.begun.borrow_mut().push(ask);
    let (Ask::Echo(number) | Ask::Wait(number) | Ask::Append(number)) = ask;
    if !matches!(ask, Ask::Echo(_)) {
        owner.go.notified().await;
    }
    owner.finished.borrow_mut().push(ask);
    drop(dropped);
    number
}

type TestMesh = Rc<Mesh<Ask, u32>>;
type TestFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Runs `test` on shard 0, with shard 1 as the owner, for `seeds` seeds.
fn two_shards(seeds: u64, test: impl Fn(TestMesh, Rc<Owner>) -> TestFuture + Clone + 'static) {
    rt::sim::for_each_seed(seeds, |seed| {
        let sim = Sim::new(seed);
        let node = sim.node("node");
        let owner = Rc::new(Owner::default());
        let done = Rc::new(Cell::new(false));
        let ports: Vec<_> = mesh::<Ask, u32>(2).into_iter().map(Some).collect();
        let ports = Rc::new(RefCell::new(ports));
        let (test, owner_in, done_in) = (test.clone(), Rc::clone(&owner), Rc::clone(&done));
        node.start(2, move |shard| {
            let ports = ports.borrow_mut()[usize::from(shard.0)].take().unwrap();
            let (test, owner, done) = (test.clone(), Rc::clone(&owner_in), Rc::clone(&done_in));
            async move {
                let (mesh, tasks) = (Rc::new(Mesh::new(ports)), TaskSet::new());
                let handler = Rc::clone(&owner);
                mesh.serve(&tasks, move |ask| handle(Rc::clone(&handler), ask));
                if shard == OWNER {
                    while !owner.gone.get() {
                        rt::sleep(Duration::from_millis(1)).await;
                    }
                    tasks.cancel_all().await;
                    return;
                }
                test(Rc::clone(&mesh), owner).await;
                done.set(true);
                tasks.cancel_all().await;
            }
        });
        sim.run_until(Duration::from_secs(600), || done.get()).unwrap_or_else(|stop| panic!("{stop}"));
    });
}

/// Waits until `condition` holds; there is no end to it but the simulation's.
async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        rt::sleep(Duration::from_micros(50)).await;
    }
}

#[test]
fn answers_find_their_callers_and_pieces_keep_their_order() {
    two_shards(20, |mesh, owner| {
        Box::pin(async move {
            let numbers: Vec<u32> = (0..3 * CREDITS as u32).collect();
            let calls = numbers.iter().map(|number| mesh.call(OWNER, Ask::Echo(*number)));
            let answers = join_all(calls).await;
            assert_eq!(answers, numbers.iter().copied().map(Some).collect::<Vec<_>>());
            let begun: Vec<Ask> = owner.begun.borrow().clone();
            assert_eq!(begun, numbers.iter().copied().map(Ask::Echo).collect::<Vec<_>>());
            assert_eq!((mesh.under_way(OWNER), mesh.stats().remote.get()), (0, numbers.len() as u64));
        })
    });
}

#[test]
fn no_more_pieces_are_under_way_than_there_are_credits() {
    two_shards(3, |mesh, owner| {
        Box::pin(async move {
            let calls: Vec<_> = (0..CREDITS as u32 + 10)
                .map(|number| {
                    let mesh = Rc::clone(&mesh);
                    rt::spawn(async move { mesh.call(OWNER, Ask::Append(number)).await })
                })
                .collect();
            until(|| owner.begun.borrow().len() == CREDITS).await;
            rt::sleep(Duration::from_millis(10)).await;
            assert_eq!((owner.begun.borrow().len(), mesh.under_way(OWNER)), (CREDITS, CREDITS));
            // Those behind begin as answers come, and are let go with the second round.
            owner.go.notify_waiters();
            until(|| owner.begun.borrow().len() == CREDITS + 10).await;
            owner.go.notify_waiters();
            for call in calls {
                assert!(call.await.is_some());
            }
            assert_eq!(mesh.under_way(OWNER), 0);
        })
    });
}

/// They held credits: members waiting for their group, or consumers for records, stopped every append to that shard.
#[test]
fn pieces_that_wait_stand_in_nobodys_way() {
    two_shards(3, |mesh, owner| {
        Box::pin(async move {
            let count = CREDITS + 10;
            let calls: Vec<_> = (0..count as u32)
                .map(|number| {
                    let mesh = Rc::clone(&mesh);
                    rt::spawn(async move { mesh.call(OWNER, Ask::Wait(number)).await })
                })
                .collect();
            until(|| owner.begun.borrow().len() == count).await;
            assert_eq!(mesh.call(OWNER, Ask::Echo(7)).await, Some(7));
            assert_eq!((mesh.under_way(OWNER), mesh.waiting(OWNER)), (0, count));
            owner.go.notify_waiters();
            for (number, call) in (0..).zip(calls) {
                assert_eq!(call.await, Some(number));
            }
            assert_eq!(mesh.waiting(OWNER), 0);
        })
    });
}

#[test]
fn no_more_pieces_wait_than_may() {
    two_shards(1, |mesh, owner| {
        Box::pin(async move {
            let calls: Vec<_> = (0..=WAITS_MAX as u32)
                .map(|number| {
                    let mesh = Rc::clone(&mesh);
                    rt::spawn(async move { mesh.call(OWNER, Ask::Wait(number)).await })
                })
                .collect();
            until(|| owner.begun.borrow().len() == WAITS_MAX).await;
            rt::sleep(Duration::from_millis(10)).await;
            assert_eq!((owner.begun.borrow().len(), mesh.waiting(OWNER)), (WAITS_MAX, WAITS_MAX));
            owner.go.notify_waiters();
            until(|| owner.begun.borrow().len() > WAITS_MAX).await;
            owner.go.notify_waiters();
            for call in calls {
                assert!(call.await.is_some());
            }
        })
    });
}

/// It used to keep its credit until it ended by itself: a long poll for as long as it might wait.
#[test]
fn a_dropped_call_is_cancelled_at_its_owner_and_its_credit_is_back() {
    two_shards(100, |mesh, owner| {
        Box::pin(async move {
            let since = rt::now();
            for round in 1..=20 {
                let call = mesh.call(OWNER, Ask::Wait(round));
                assert!(rt::timeout(Duration::from_millis(5), call).await.is_err());
                until(|| owner.dropped.get() == round as usize).await;
                assert_eq!((mesh.under_way(OWNER), mesh.waiting(OWNER)), (0, 0));
            }
            assert_eq!(owner.finished.borrow().len(), 0);
            assert_eq!(mesh.stats().cancelled.get(), 20);
            // A virtual second is far more than 20 waits of 5 ms and their cancels take.
            assert!(rt::now() - since < Duration::from_secs(1));
        })
    });
}

#[test]
fn a_piece_that_changes_something_is_carried_out_though_nobody_waits() {
    two_shards(100, |mesh, owner| {
        Box::pin(async move {
            let call = mesh.call(OWNER, Ask::Append(1));
            assert!(rt::timeout(Duration::from_millis(5), call).await.is_err());
            rt::sleep(Duration::from_millis(5)).await;
            assert_eq!((mesh.under_way(OWNER), owner.dropped.get()), (1, 0));
            owner.go.notify_waiters();
            until(|| mesh.under_way(OWNER) == 0).await;
            assert_eq!(*owner.finished.borrow(), [Ask::Append(1)]);
            assert_eq!(mesh.stats().cancelled.get(), 0);
        })
    });
}

/// Answers and cancels cross on their way: whichever comes first, each credit returns once, and no call gets another's answer.
#[test]
fn cancels_that_cross_their_answers_do_no_harm() {
    two_shards(200, |mesh, owner| {
        Box::pin(async move {
            let (mut answered, mut given_up) = (0, 0);
            for number in 0..50u32 {
                let go = rt::spawn({
                    let (owner, after) = (Rc::clone(&owner), rt::random_u64() % 200);
                    async move {
                        rt::sleep(Duration::from_micros(after)).await;
                        owner.go.notify_waiters();
                    }
                });
                let within = Duration::from_micros(rt::random_u64() % 200);
                match rt::timeout(within, mesh.call(OWNER, Ask::Wait(number))).await {
                    Ok(answer) => {
                        assert_eq!(answer, Some(number));
                        answered += 1;
                    }
                    Err(rt::Elapsed) => given_up += 1,
                }
                assert_eq!(mesh.call(OWNER, Ask::Echo(number)).await, Some(number));
                until(|| mesh.under_way(OWNER) == 0).await;
                go.await;
            }
            assert!(answered > 0 && given_up > 0, "{answered} answered, {given_up} given up");
            until(|| owner.dropped.get() == owner.begun.borrow().len()).await;
            assert_eq!(mesh.waiting(OWNER), 0);
        })
    });
}

#[test]
fn calls_to_a_shard_that_ends_are_not_answered() {
    two_shards(50, |mesh, owner| {
        Box::pin(async move {
            let waiting = rt::spawn({
                let mesh = Rc::clone(&mesh);
                async move { mesh.call(OWNER, Ask::Append(1)).await }
            });
            until(|| owner.begun.borrow().len() == 1).await;
            owner.gone.set(true);
            assert_eq!(waiting.await, None);
            until(|| mesh.under_way(OWNER) == 0).await;
            assert_eq!(mesh.call(OWNER, Ask::Echo(2)).await, None);
        })
    });
}

/// Each told that it had begun, by a wake-up of the shard that asked.
#[test]
fn credits_of_pieces_that_wait_come_back_together() {
    two_shards(3, |mesh, owner| {
        Box::pin(async move {
            let wait = |number| {
                let mesh = Rc::clone(&mesh);
                rt::spawn(async move { mesh.call(OWNER, Ask::Wait(number)).await })
            };
            let mut calls: Vec<_> = (1..BEGUN_TOGETHER as u32).map(wait).collect();
            rt::sleep(Duration::from_millis(10)).await;
            assert_eq!(mesh.under_way(OWNER), BEGUN_TOGETHER - 1, "nothing else was to be told");
            calls.push(wait(0));
            until(|| mesh.under_way(OWNER) == 0).await;
            calls.push(wait(1000));
            rt::sleep(Duration::from_millis(10)).await;
            assert_eq!(mesh.under_way(OWNER), 1);
            owner.go.notify_waiters();
            for call in calls {
                assert!(call.await.is_some());
            }
            until(|| mesh.under_way(OWNER) == 0).await;
        })
    });
}
