//! A piece to another shard and its answer back: what a request pays whose partition lives on another core.
//!
//! On two real shards. `one at a time` is the round trip with the shards asleep in between; `64 under way` is what
//! one costs while both are busy.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use rt::{ShardId, ShardsConfig, lane};

/// Items a lane holds.
const CAPACITY: usize = 1024;

/// One shard's ends of both lanes.
type Ends = (lane::Sender<u64>, lane::Receiver<u64>);

/// Time of `count` round trips with `depth` under way.
fn timed(count: u64, depth: u64) -> Duration {
    let (there, arrives) = lane::channel(CAPACITY);
    let (back, answers) = lane::channel(CAPACITY);
    // Every shard runs the same function and takes its part from here.
    let (hand_out, parts) = flume::bounded::<Ends>(2);
    let (answerers, answering) = flume::bounded::<Ends>(1);
    hand_out.send((there, answers)).expect("there is room");
    answerers.send((back, arrives)).expect("there is room");
    let (give, took) = flume::bounded(1);
    rt::run(ShardsConfig::unpinned(2), move |shard| {
        let (parts, answering, give) = (parts.clone(), answering.clone(), give.clone());
        async move {
            if shard == ShardId(0) {
                let ends = parts.try_recv().expect("handed out before");
                give.send(call(ends, count, depth).await).expect("there is room");
            } else {
                answer(answering.try_recv().expect("handed out before")).await;
            }
        }
    })
    .expect("two shards start");
    took.recv().expect("the first shard gave its time")
}

async fn call((mut there, mut answers): Ends, count: u64, depth: u64) -> Duration {
    let begin = rt::now();
    let mut sent = 0;
    for received in 0..count {
        while sent < count && sent < received + depth {
            there.send(sent).await.expect("the other shard answers until the end");
            sent += 1;
        }
        assert_eq!(answers.recv().await, Some(received));
    }
    rt::now() - begin
}

async fn answer((mut back, mut arrives): Ends) {
    while let Some(item) = arrives.recv().await {
        back.send(item).await.expect("the caller waits for it");
    }
}

fn round_trip(c: &mut Criterion) {
    let mut group = c.benchmark_group("lane round trip");
    // Each sample starts two shards.
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for (name, depth) in [("one at a time", 1), ("64 under way", 64)] {
        group.bench_function(name, |b| b.iter_custom(|count| timed(count, depth)));
    }
    group.finish();
}

criterion_group!(benches, round_trip);
criterion_main!(benches);
