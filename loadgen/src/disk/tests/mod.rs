//! Tests of the disk suite.
#![allow(clippy::disallowed_methods, reason = "the test looks at the directory from outside")]

use std::path::PathBuf;
use std::time::Duration;

use crate::compare::Summary;
use crate::disk::fio;
use crate::disk::write::write;
use crate::disk::{DiskArgs, DiskLine, DiskLineResult, LINES, Pattern, Reached, disk};

/// A directory beside the build: a tmpfs knows no direct I/O.
fn scratch(name: &str) -> PathBuf {
    let target = crate::peer::target_dir().unwrap();
    crate::process::temp_dir(&target.join("tmp"), name).unwrap()
}

fn line(pattern: Pattern, block_bytes: u64, depth: u32) -> DiskLine {
    DiskLine { pattern, block_bytes, depth }
}

#[test]
fn each_block_is_written_once_in_the_pattern_s_order() {
    assert_eq!(line(Pattern::Sequential, 4096, 1).order(8 * 4096), [0, 1, 2, 3, 4, 5, 6, 7]);
    let random = line(Pattern::Random, 4096, 1);
    let order = random.order(1000 * 4096);
    let steps = order.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
    assert!(steps < 20, "{steps} blocks follow their neighbour");
    assert_eq!(order, random.order(1000 * 4096), "both sides meet the same");
    let mut sorted = order;
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<u32>>());
}

#[test]
fn lines_fit_what_the_facade_writes_in_one_piece() {
    for line in LINES {
        assert!(
            line.block_bytes.is_multiple_of(rt::fs::BLOCK as u64) && line.block_bytes <= 1 << 20,
            "{line}"
        );
    }
    assert_eq!(LINES[2].to_string(), "sequential 64 KiB x 8");
}

#[test]
fn a_line_is_written_and_its_file_removed() {
    let dir = scratch("disk-write");
    for line in [line(Pattern::Sequential, 65_536, 4), line(Pattern::Random, 4096, 8)] {
        let reached = write(&dir, line, 16 << 20, Duration::from_secs(20)).unwrap();
        assert!(reached.mb_per_s > 0.1 && reached.writes_per_s > 1.0, "{reached:?}");
        let bytes_per_s = reached.writes_per_s * line.block_bytes as f64;
        assert!((bytes_per_s / 1e6 - reached.mb_per_s).abs() < reached.mb_per_s / 100.0);
        assert!(reached.p50_us > 0.0 && reached.p99_us >= reached.p50_us, "{reached:?}");
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_directory_that_is_none_is_an_error() {
    let nowhere = PathBuf::from("/proc/nowhere");
    let refused = write(&nowhere, LINES[0], 1 << 20, Duration::from_secs(1)).unwrap_err();
    assert!(refused.to_string().contains("/proc/nowhere"), "{refused}");
}

#[test]
fn the_suite_runs_with_what_is_installed() {
    let dir = scratch("disk-suite");
    let json = dir.join("out.json");
    let args = DiskArgs {
        data_dir: dir.join("data"),
        file_mib: 16,
        seconds: 0.3,
        rounds: 2,
        only: Some("64 KiB".into()),
        no_fio: false,
        json: Some(json.clone()),
    };
    let result = disk(&args).unwrap();
    assert_eq!(result.lines.len(), 3);
    for line in &result.lines {
        assert_eq!(line.ours_mb_per_s.values.len(), 2);
        assert_eq!(line.fio_mb_per_s.is_some(), result.fio_not_measured.is_none());
    }
    let written = std::fs::read_to_string(&json).unwrap();
    let read: crate::disk::DiskResult = serde_json::from_str(&written).unwrap();
    assert_eq!((read.lines.len(), &read.machine), (3, &result.machine));
    assert_eq!(read.lines[2].line, result.lines[2].line);
    assert!(result.to_string().contains("sequential 64 KiB x 8"));
    assert!(disk(&DiskArgs { only: Some("none such".into()), ..args }).is_err());
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn fio_s_words_are_read() {
    let text = r#"note: both iodepth >= 1 and synchronous I/O engine are selected
        {"jobs": [{"write": {"bw_bytes": 250000000, "iops": 61035.2,
          "clat_ns": {"percentile": {"50.000000": 14000, "99.000000": 90000}}}}]}"#;
    let reached = fio::parse(text).unwrap();
    assert_eq!(reached, Reached { mb_per_s: 250.0, writes_per_s: 61_035.2, p50_us: 14.0, p99_us: 90.0 });
    assert_eq!((fio::parse("{}"), fio::parse("fio: bad option")), (None, None));
    let options = fio::options(LINES[8], 1 << 30, Duration::from_millis(1500)).join(" ");
    for wanted in
        ["--rw=randwrite", "--bs=4096", "--iodepth=32", "--size=1073741824", "--runtime=1500ms", "--direct=1"]
    {
        assert!(options.contains(wanted), "{wanted} in {options}");
    }
}

#[test]
fn the_share_of_fio_is_of_the_medians() {
    let mut result = DiskLineResult {
        line: LINES[0],
        ours_mb_per_s: Summary::of(vec![90.0, 45.0, 100.0]).unwrap(),
        fio_mb_per_s: Summary::of(vec![100.0]),
        ours: Reached::default(),
        fio: None,
    };
    assert_eq!(result.share_of_fio(), Some(0.9));
    result.fio_mb_per_s = None;
    assert_eq!(result.share_of_fio(), None);
}
