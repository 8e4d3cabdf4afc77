//! Random keyed appends with compaction at random points: the last value of each key is what a reader sees, offsets
//! never change, order is kept, tombstones stay their time and no longer, and what is compacted away is gone. By seed:
//! `RINGLOG_SEEDS=n` runs n of them, `RINGLOG_SIM_SEED=s` only that one.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod keyed;

use std::time::Duration;

use keyed::{Model, cleaner, config, random};
use rt::sim::Sim;
use storage::{LogDirConfig, Offset};

const SEEDS: u64 = 80;

async fn work(seed: u64) {
    let mut model = Model::default();
    for life in 0..3 {
        let opened = common::open("/data", config(seed), LogDirConfig::default()).await;
        assert_eq!(opened.clean, life > 0);
        let log = &opened.log;
        if life > 0 {
            model.check(log).await;
            model.check_producer(log);
            assert_eq!(log.cleaned_offset().map_or(0, |cleaned| cleaned.0), model.cleaned, "a stop keeps it");
        }
        for _ in 0..60 {
            match random(100) {
                0..60 => model.append(log).await,
                60..70 => model.end_txn(log).await,
                70..75 => log.roll().await.unwrap(),
                75..88 => {
                    keyed::close_segment(log).await;
                    model.compact(log, cleaner(seed)).await;
                    model.check(log).await;
                }
                88..90 => {
                    model.check(log).await;
                    let end = log.end_offset().0;
                    log.truncate_to(Offset(end - (random(30) as i64).min(end - log.start_offset().0)))
                        .await
                        .unwrap();
                    model.cut(log).await;
                }
                _ => rt::sleep(Duration::from_millis(random(1_500))).await,
            }
        }
        while model.end_all(log).await {}
        keyed::close_segment(log).await;
        while model.compact(log, cleaner(seed)).await.is_some() {}
        model.check(log).await;
        model.check_producer(log);
        assert_eq!(model.state(log).await, model.expected_state(log.start_offset().0));
        for (offset, known) in model.records.iter().take(20) {
            let found = log.offset_for_timestamp(known.timestamp_ms, log.end_offset()).await.unwrap();
            assert!(found.is_none_or(|found| found.timestamp_ms >= known.timestamp_ms), "{offset}");
        }
        opened.close().await;
    }
}

fn run(seed: u64) {
    let (sim, node) = Sim::with_node(seed);
    sim.block_on(&node, work(seed));
}

#[test]
fn the_last_value_of_each_key_is_what_a_reader_sees() {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(only) = read("RINGLOG_SIM_SEED") {
        return run(only);
    }
    for seed in 0..read("RINGLOG_SEEDS").unwrap_or(SEEDS) {
        run(seed);
    }
}
