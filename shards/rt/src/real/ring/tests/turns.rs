//! Sleeping, waking, and nobody waiting for long.

use std::time::Duration;

use crate::real::ring::remote::Remote;
use crate::{TaskSet, now, sleep, spawn};

on_both_rings![
    no_wake_up_from_another_thread_is_lost,
    constant_work_holds_up_no_timer,
    constant_work_holds_up_no_other_thread,
];

/// Rounds of all threads together. Mostly the shard is just falling asleep.
const ROUNDS: u32 = 200_000;

/// A lone thread, whom no other saves, and several.
async fn no_wake_up_from_another_thread_is_lost() {
    for threads in [1, 4] {
        ask_from(threads).await;
    }
}

async fn ask_from(threads: u32) {
    let tasks: Vec<_> = (0..threads)
        .map(|_| {
            let (there, asked) = flume::bounded(1);
            let (answer, back) = flume::bounded(1);
            let thread = std::thread::spawn(move || {
                for round in 0..ROUNDS / threads {
                    // At another moment of the shard's way to sleep each time.
                    (0..round % 256).for_each(|_| std::hint::spin_loop());
                    there.send(round).unwrap();
                    assert_eq!(back.recv().unwrap(), round);
                }
            });
            let task = spawn(async move {
                while let Ok(round) = asked.recv_async().await {
                    answer.send_async(round).await.unwrap();
                }
            });
            (thread, task)
        })
        .collect();
    for (thread, task) in tasks {
        task.await;
        thread.join().unwrap();
    }
}

/// Loose: the cores are shared with whatever else is being built.
const LATE_MAX: Duration = Duration::from_millis(50);

/// Tasks that are always ready, and pass no yield point.
fn busy() -> TaskSet {
    let tasks = TaskSet::new();
    for _ in 0..10 {
        tasks.spawn(async {
            loop {
                std::hint::black_box((0..1_000).sum::<u64>());
                futures_lite::future::yield_now().await;
            }
        });
    }
    tasks
}

async fn constant_work_holds_up_no_timer() {
    let busy = busy();
    let mut late = Vec::new();
    for _ in 0..21 {
        let due = now() + Duration::from_millis(5);
        sleep(Duration::from_millis(5)).await;
        late.push(now() - due);
    }
    late.sort();
    assert!(late[10] < LATE_MAX, "{late:?}");
    busy.cancel_all().await;
}

async fn constant_work_holds_up_no_other_thread() {
    let busy = busy();
    let mut took = Vec::new();
    for _ in 0..21 {
        let began = now();
        crate::blocking(|| ()).await;
        took.push(now() - began);
    }
    took.sort();
    assert!(took[10] < LATE_MAX, "{took:?}");
    busy.cancel_all().await;
}

/// The two ways a wake-up meets a shard that falls asleep, which the rounds above hit only by chance.
#[test]
fn a_wake_up_stops_the_sleep_or_rings() {
    let remote = Remote::new().unwrap();
    let wake = || {
        let (woken, task) = async_task::spawn_local(async {}, |_| {});
        remote.push(woken);
        task.detach();
    };
    wake();
    assert!(!remote.fall_asleep(), "slept on a woken task");
    while let Some(task) = remote.pop() {
        task.run();
    }
    assert!(remote.fall_asleep());
    for _ in 0..3 {
        wake();
    }
    let mut count = [0; 8];
    rustix::io::read(remote.bell(), &mut count).unwrap();
    assert_eq!(u64::from_ne_bytes(count), 1, "one ring a sleep");
    while let Some(task) = remote.pop() {
        task.run();
    }
}
