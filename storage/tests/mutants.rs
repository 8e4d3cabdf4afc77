//! Six rules broken on purpose, each caught by the crash model within a thousand seeds, of both kinds: it can tell, and the
//! rules are needed.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod crash_model;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crash_model::{Opening, Setup};
use storage::{DirHome, HomeConfig, LogConfig, LogDir, LogDirConfig, Mutant, settle_journals};

const SEEDS: u64 = 1_000;

/// Where the journals wait while the logs are opened.
const ASIDE: &str = "aside-";

/// The first seed whose `run` fails with that rule broken.
fn caught(mutant: Mutant, by: &str, run: impl Fn(u64)) {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let first = (0..SEEDS).find(|seed| catch_unwind(AssertUnwindSafe(|| run(*seed))).is_err());
    std::panic::set_hook(quiet);
    println!("{mutant:?}: caught by {by}, seed {first:?}");
    assert!(first.is_some(), "{mutant:?} wasn't caught by {SEEDS} seeds of {by}");
}

fn by_two_logs(mutant: Mutant, open: Option<fn(LogConfig, LogDirConfig) -> Opening>) {
    caught(mutant, "two logs", |seed| {
        let mut setup: Setup = crash_model::setup(seed);
        setup.dir.mutant = Some(mutant);
        setup.open = open.unwrap_or(setup.open);
        crash_model::run_seed(seed, setup);
    });
}

fn by_many_logs(mutant: Mutant) {
    caught(mutant, "many logs", |seed| crash_model::crowd::run_seed(seed, seed, Some(mutant)));
}

// One after another: the hook of panics is the process's.
#[test]
fn each_broken_rule_is_caught() {
    by_two_logs(Mutant::ReplayAfterScan, Some(|log, dir| Box::pin(replay_after_scan(log, dir))));
    for mutant in [Mutant::FreeEarly, Mutant::NoFloorFrame, Mutant::AckBeforeFlush, Mutant::AnotherPrefix] {
        by_two_logs(mutant, None);
        by_many_logs(mutant);
    }
    // Two logs have no second frame to send while the first is on its way.
    by_many_logs(Mutant::FramesOutOfOrder);
}

/// As [`common::open`], with the journals out of sight until the logs are open.
async fn replay_after_scan(config: LogConfig, dir_config: LogDirConfig) -> common::Open {
    rename_all(ASIDE, "").await;
    rename_all("ringlog-journal-", ASIDE).await;
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let clean = facts.clean;
    let exists = facts.partitions.contains(&common::partition());
    let dir = LogDir::open("/data", facts, dir_config).await.unwrap();
    let log = match exists {
        true => dir.open_logs(vec![(common::partition(), config)]).await.unwrap().remove(0),
        false => {
            let id = protocol::types::Uuid([3; 16]);
            dir.create_log(common::partition(), id, config).await.unwrap()
        }
    };
    rename_all(ASIDE, "").await;
    settle_journals("/data".as_ref(), clean).await.unwrap();
    home.begin_use().await.unwrap();
    common::Open { home, dir, log, clean }
}

/// Gives all files whose name begins with `from` a name with, or without, what is set aside.
async fn rename_all(from: &str, to: &str) {
    for entry in rt::fs::read_dir("/data").await.unwrap_or_default() {
        let name = entry.name.strip_prefix(ASIDE).unwrap_or(&entry.name);
        if entry.name.starts_with(from) {
            rt::fs::rename(format!("/data/{}", entry.name), format!("/data/{to}{name}")).await.unwrap();
        }
    }
    if rt::fs::exists("/data").await {
        rt::fs::sync_dir("/data").await.unwrap();
    }
}
