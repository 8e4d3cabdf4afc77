//! The same logs on a real file system, through the real runtime: direct I/O, exact lengths, `kill -9`.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{append, batch, idempotent, open, read_all, tag_of};
use rt::ShardsConfig;
use storage::{JournalConfig, LogConfig, LogDirConfig, Offset, StorageError};

/// A fresh directory on the file system that holds the build: not a tmpfs, which knows no direct I/O.
fn fresh(name: &str) -> PathBuf {
    let path =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("storage-{name}-{}", std::process::id()));
    assert!(!path.exists(), "left over: {}", path.display());
    path
}

fn on_one_shard<F: Future<Output = ()> + 'static>(test: impl FnOnce() -> F + Clone + Send + Sync + 'static) {
    rt::run(ShardsConfig::unpinned(1), move |_| (test.clone())()).expect("the shard starts");
}

fn small() -> LogConfig {
    LogConfig { segment_bytes: 3 << 20, ..LogConfig::default() }
}

fn journaled() -> LogDirConfig {
    let journal = JournalConfig { bytes: 8 << 20, direct_bytes: 64 << 10, ..JournalConfig::default() };
    LogDirConfig { journal, ..LogDirConfig::default() }
}

/// The directory goes when the test is over, however it ends; with `RINGLOG_KEEP` it stays, for Kafka's tools
/// to look at.
struct Gone(PathBuf);

impl Drop for Gone {
    #[allow(clippy::disallowed_methods, reason = "outside of any shard")]
    fn drop(&mut self) {
        if std::env::var_os("RINGLOG_KEEP").is_none() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

#[test]
fn a_log_lives_on_real_files() {
    let path = fresh("life");
    let gone = Gone(path.clone());
    on_one_shard(move || async move {
        let path = path.to_str().unwrap();
        for round in 0..3u64 {
            let dir_config = if round == 1 { LogDirConfig::default() } else { journaled() };
            let opened = open(path, LogConfig { tail_bytes_max: 100_000, ..small() }, dir_config).await;
            assert_eq!(opened.clean, round > 0);
            let log = &opened.log;
            for tag in 0..500 {
                append(
                    log,
                    batch(round * 500 + tag, 10, [300, 9_000, 40_000][tag as usize % 3], tag as i64),
                    0,
                )
                .await;
            }
            let sequence = round as i32 * 10;
            log.truncate_to(Offset(log.end_offset().0 - 1)).await.unwrap();
            append(log, idempotent(round * 500 + 499, 10, 40_000, 499, (9, 0, sequence)), 0).await;
            log.wait_synced(log.end_offset()).await.unwrap();
            let all = read_all(log, Offset::ZERO, 1 << 20).await;
            assert_eq!(
                all.iter().map(tag_of).collect::<Vec<_>>(),
                (0..(round + 1) * 500).collect::<Vec<_>>()
            );
            assert!(log.segment_count() > 2);
            let found = log.offset_for_timestamp(499, log.end_offset()).await.unwrap().unwrap();
            assert_eq!(found.offset, Offset(4_990));
            assert_eq!(opened.dir.stats().journal_frames.get() > 0, round != 1);
            opened.close().await;
        }
    });
    check_exact_lengths(&gone.0.join("orders-0"));
}

/// Closed files hold batches to their last byte: what Kafka's tools expect.
#[allow(clippy::disallowed_methods, reason = "outside of any shard")]
fn check_exact_lengths(dir: &std::path::Path) {
    let mut segments = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "log") {
            let mut rest = bytes::Bytes::from(std::fs::read(&path).unwrap());
            while !rest.is_empty() {
                protocol::records::RecordBatch::split_from(&mut rest).unwrap();
            }
            let index = std::fs::read(path.with_extension("index")).unwrap();
            assert!(!index.is_empty() && index.len().is_multiple_of(8));
            let times = std::fs::read(path.with_extension("timeindex")).unwrap();
            assert!(!times.is_empty() && times.len().is_multiple_of(12));
            segments += 1;
        }
    }
    assert!(segments > 3);
}

/// Files below a directory that the process has open.
#[allow(clippy::disallowed_methods, reason = "tells nothing of the shard's own files but their number")]
fn open_below(path: &std::path::Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
    targets.filter(|target| target.starts_with(path)).count()
}

/// One handle for each log that is written to, and a bounded number for all that is read: 10,000 partitions stay within
/// 20,000.
#[test]
fn logs_take_one_handle_each_and_readers_take_few() {
    /// More than a shard's read handles, with a segment each.
    const LOGS: u16 = storage::limits::HANDLES_MAX as u16 + 44;
    /// Journal, lock, volume, and what is just being rolled.
    const OTHERS: usize = 24;
    let path = fresh("handles");
    let _gone = Gone(path.clone());
    on_one_shard(move || async move {
        // What is in memory needs no file.
        let config =
            LogConfig { segment_bytes: 64 << 10, tail_bytes_max: 1_000, sync: false, ..LogConfig::default() };
        let home = storage::HomeConfig { node_id: 1, cluster_id: None };
        let (home, facts) = storage::DirHome::open(&path, home).await.unwrap();
        let dir = storage::LogDir::open(&path, facts, journaled()).await.unwrap();
        home.begin_use().await.unwrap();
        let mut logs = Vec::new();
        for number in 0..LOGS {
            let of = storage::TopicPartition::new("handles", i32::from(number));
            let log = dir.create_log(of, protocol::types::Uuid([3; 16]), config.clone()).await.unwrap();
            logs.push(log);
        }
        assert!(open_below(&path) <= OTHERS, "a log that nobody used takes none");
        for log in &logs {
            for tag in 0..3 {
                append(log, batch(tag, 1, 40_000, 5), 0).await;
            }
            log.flush().await.unwrap();
        }
        let written = open_below(&path);
        assert!((logs.len()..=logs.len() + OTHERS).contains(&written), "{written} for {LOGS} logs");
        for log in &logs {
            let all = read_all(log, Offset::ZERO, 1 << 20).await;
            assert_eq!((all.len(), log.segment_count()), (3, 3));
        }
        let read = open_below(&path);
        let bound = logs.len() + storage::limits::HANDLES_MAX + OTHERS;
        assert!((written + 1..=bound).contains(&read), "{read}, at most {bound}");
        let closed = dir.close().await;
        home.close(&[closed], &storage::Offsets::new(), 7).await.unwrap();
        assert!(open_below(&path) <= OTHERS, "logs that were closed keep none");
    });
}

#[test]
fn a_second_user_of_the_directory_is_refused() {
    let path = fresh("lock");
    let _gone = Gone(path.clone());
    on_one_shard(move || async move {
        let config = || storage::HomeConfig { node_id: 1, cluster_id: None };
        let (home, _) = storage::DirHome::open(&path, config()).await.unwrap();
        let Err(StorageError::Refused { reason, .. }) = storage::DirHome::open(&path, config()).await else {
            panic!("two users")
        };
        assert!(reason.contains("another process"), "{reason}");
        drop(home);
        storage::DirHome::open(&path, config()).await.unwrap();
    });
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    if let Some(dir) = std::env::var_os("RINGLOG_TEST_CHILD") {
        return child(PathBuf::from(dir));
    }
    let path = fresh("kill");
    let _gone = Gone(path.clone());
    for round in 0..4u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "what_was_acknowledged_survives_kill_9", "--nocapture"])
            .env("RINGLOG_TEST_CHILD", &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut acknowledged = 0i64;
        let wanted = 300 + round * 431;
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for (seen, line) in lines.map_while(Result::ok).filter(|line| line.starts_with("acked ")).enumerate()
        {
            acknowledged = line[6..].parse().unwrap();
            if seen as u64 > wanted {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(acknowledged > 0, "the child did some work");
        let path = path.clone();
        on_one_shard(move || async move {
            let opened = open(path.to_str().unwrap(), small(), journaled()).await;
            assert!(!opened.clean);
            let end = opened.log.end_offset();
            assert!(end >= Offset(acknowledged), "{acknowledged} was acknowledged, the log ends at {end}");
            let all = read_all(&opened.log, Offset::ZERO, 1 << 20).await;
            let offsets: Vec<i64> =
                all.iter().flat_map(|b| b.header().base_offset..b.header().next_offset()).collect();
            assert_eq!(offsets, (0..end.0).collect::<Vec<_>>(), "every offset once");
            // Dropped, not closed: the next round's child recovers once more.
            drop(opened);
        });
    }
}

fn child(path: PathBuf) {
    on_one_shard(move || async move {
        let config = LogConfig { sync: false, ..small() };
        let opened = open(path.to_str().unwrap(), config, journaled()).await;
        for tag in 0u64.. {
            append(&opened.log, batch(tag, 3, [200, 5_000, 70_000][tag as usize % 3], 5), 0).await;
            if tag % 4 == 0 {
                let end = opened.log.end_offset();
                opened.log.wait_written(end).await.unwrap();
                println!("acked {end}");
            }
            if tag % 64 == 0 {
                rt::sleep(Duration::from_micros(100)).await;
            }
        }
    });
}
