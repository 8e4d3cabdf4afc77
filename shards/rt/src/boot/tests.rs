//! Tests of what boot decides.

use std::path::Path;

use super::check::version;
use super::plan::plan;
use super::{BootError, ShardsRequest, Status, Verdict, cgroup, memlock, memory, parse_cores, uring};

#[test]
fn core_lists() {
    assert_eq!(parse_cores("0-3,6").unwrap(), [0, 1, 2, 3, 6]);
    assert_eq!(parse_cores("7, 2").unwrap(), [7, 2]);
    for bad in ["", "a", "3-1", "1,1", "0-2,2", "1-", "-1", "4096", "0-18446744073709551615"] {
        assert!(matches!(parse_cores(bad), Err(BootError::CoreList { .. })), "{bad:?}");
    }
}

fn quota(membership: &str, files: &[(&str, &str)]) -> Option<f64> {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    cgroup::quota_of(membership, &read)
}

#[test]
fn quotas_of_both_cgroup_versions() {
    let two = "0::/system.slice/a.service\n";
    assert_eq!(quota(two, &[("/sys/fs/cgroup/system.slice/a.service/cpu.max", "max 100000\n")]), None);
    let files = [
        ("/sys/fs/cgroup/system.slice/a.service/cpu.max", "400000 100000\n"),
        ("/sys/fs/cgroup/system.slice/cpu.max", "250000 100000\n"),
    ];
    assert_eq!(quota(two, &files), Some(2.5), "a level above limits too");
    // In a container only the root is mounted.
    assert_eq!(quota(two, &[("/sys/fs/cgroup/cpu.max", "150000 100000")]), Some(1.5));
    let one = "5:memory:/x\n4:cpu,cpuacct:/x\n";
    let files = [
        ("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
    ];
    assert_eq!(quota(one, &files), Some(3.0));
    assert_eq!(quota("garbage", &[]), None);
}

#[test]
fn memory_limits_of_both_cgroup_versions() {
    let limit = |membership: &str, files: &[(&str, &str)]| {
        let read = |path: &Path| {
            files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
        };
        cgroup::memory_limit_of(membership, &read)
    };
    let two = "0::/system.slice/a.service\n";
    assert_eq!(limit(two, &[("/sys/fs/cgroup/system.slice/a.service/memory.max", "max\n")]), None);
    let files = [
        ("/sys/fs/cgroup/system.slice/a.service/memory.max", "4294967296\n"),
        ("/sys/fs/cgroup/system.slice/memory.max", "1073741824\n"),
    ];
    assert_eq!(limit(two, &files), Some(1 << 30), "a level above limits too");
    let one = "5:cpu:/x\n4:memory:/x\n";
    assert_eq!(
        limit(one, &[("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "3000000\n")]),
        Some(3_000_000)
    );
    assert_eq!(limit("garbage", &[]), None);
}

#[test]
fn the_machines_memory() {
    assert_eq!(memory::total_of("MemFree: 1 kB\nMemTotal:       24684352 kB\n"), Some(24_684_352 * 1024));
    assert_eq!(memory::total_of("MemTotal: much"), None);
    assert!(super::memory_bytes().unwrap() > 64 << 20);
}

fn request(cores: Option<&str>, shards: Option<usize>) -> ShardsRequest {
    ShardsRequest { cores: cores.map(str::to_owned), shards }
}

#[test]
fn shards_by_affinity_and_quota() {
    let cores = [0, 2, 4, 6];
    assert_eq!(plan(&request(None, None), &cores, None).unwrap(), [Some(0), Some(2), Some(4), Some(6)]);
    assert_eq!(plan(&request(None, None), &cores, Some(9.0)).unwrap().len(), 4);
    // The quota says that the cores are shared: nobody is pinned.
    assert_eq!(plan(&request(None, None), &cores, Some(2.9)).unwrap(), [None, None]);
    assert_eq!(plan(&request(None, None), &cores, Some(0.3)).unwrap(), [None]);
    assert_eq!(plan(&request(None, Some(2)), &cores, None).unwrap(), [Some(0), Some(2)]);
    assert_eq!(plan(&request(None, Some(5)), &cores, None).unwrap(), [None; 5]);
    assert_eq!(plan(&request(Some("4,6"), None), &cores, Some(1.0)).unwrap(), [Some(4), Some(6)]);
    assert_eq!(plan(&request(Some("4,6"), Some(1)), &cores, None).unwrap(), [Some(4)]);
    assert!(matches!(plan(&request(Some("1"), None), &cores, None), Err(BootError::CoreList { .. })));
    assert!(matches!(plan(&request(None, Some(0)), &cores, None), Err(BootError::ShardCount(0))));
}

#[test]
fn locked_memory_is_shared_out_or_refused() {
    assert_eq!(memlock::share(8 << 20, false, 2).unwrap(), 1 << 20);
    assert_eq!(memlock::share(2 << 20, false, 2).unwrap(), 256 * 1024);
    assert_eq!(memlock::share(64 << 20, false, 1).unwrap(), 1 << 20);
    assert_eq!(memlock::share(512 * 1024, false, 2).unwrap(), 64 * 1024);
    assert_eq!(memlock::share(512 * 1024, true, 64).unwrap(), 1 << 20);
    let refused = memlock::share(512 * 1024, false, 3).unwrap_err();
    assert!(
        matches!(refused, BootError::Memlock { limit: 524_288, needed: 786_432, shards: 3 }),
        "{refused}"
    );
    assert!(memlock::share(64 * 1024, true, 1).is_err(), "glommio refuses that whatever the capabilities");
}

#[test]
fn kernel_versions() {
    assert_eq!(version("6.18.44-fc-v857"), Some((6, 18)));
    assert_eq!(version("5.8.0"), Some((5, 8)));
    assert_eq!(version("unknown"), None);
}

#[test]
fn a_verdict_is_a_table_and_an_exit_code() {
    let mut verdict = Verdict::default();
    verdict.add("kernel", Status::Ok, "6.18");
    verdict.add("io_uring", Status::Warn, "slow");
    assert_eq!((verdict.is_ok(), verdict.exit_code()), (true, 0));
    verdict.add("memory", Status::Fail, "too little");
    assert_eq!((verdict.is_ok(), verdict.exit_code()), (false, 78));
    let table = verdict.to_string();
    assert!(
        table.starts_with("ok    kernel    6.18\nWARN  io_uring  slow\nFAIL  memory    too little\n"),
        "{table}"
    );
}

#[test]
fn a_refused_io_uring_names_its_likely_cause() {
    let text = |errno: rustix::io::Errno| uring::refused("io_uring_setup", &errno.into()).to_string();
    assert!(text(rustix::io::Errno::PERM).contains("seccomp"));
    assert!(text(rustix::io::Errno::NOSYS).contains("no io_uring"));
    assert!(text(rustix::io::Errno::NOMEM).contains("LimitMEMLOCK"));
}
