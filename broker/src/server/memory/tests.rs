use storage::LogDirConfig;

use super::*;

#[test]
fn without_config_a_shard_has_512_mib() {
    let plan = MemoryPlan::of_shard(None, 7);
    assert_eq!((plan.small_request_bytes, plan.large_request_bytes), (128 << 20, 128 << 20));
    assert_eq!((plan.response_bytes, plan.answer_bytes_max), (128 << 20, 32 << 20));
    let log = LogDirConfig::default();
    assert_eq!(plan.unplaced_bytes, log.unplaced_bytes_max);
    assert_eq!(plan.tail_bytes, log.tail_bytes_max);
    assert_eq!(plan.cache_bytes, log.cache_bytes_max);
}

#[test]
fn the_config_is_shared_out_and_nothing_is_counted_twice() {
    let plan = MemoryPlan::of_shard(Some(1 << 30), 4);
    let parts = [
        plan.small_request_bytes,
        plan.large_request_bytes,
        plan.response_bytes,
        plan.unplaced_bytes,
        plan.tail_bytes,
        plan.cache_bytes,
    ];
    assert_eq!(parts.iter().sum::<usize>(), 256 << 20);
    assert_eq!(plan.response_bytes, 64 << 20);
}

#[test]
fn too_little_is_raised() {
    let least = MemoryPlan::of_shard(Some(1), 8);
    assert_eq!(least, MemoryPlan::of_shard(Some(SHARD_BYTES_MIN), 1));
    assert!(least.small_request_bytes >= 2 * SMALL_REQUEST_BYTES_MAX);
}
