use super::*;
use crate::config::{self, Inputs};

fn plan(memory_max_bytes: Option<u64>, cache_max_bytes: Option<u64>, shards: u16) -> MemoryPlan {
    let config = config::load(Inputs::default()).unwrap().config.ringlog;
    MemoryPlan::of_shard(&RinglogConfig { memory_max_bytes, cache_max_bytes, ..config }, shards)
}

#[test]
fn without_config_a_shard_has_512_mib() {
    let plan = plan(None, None, 7);
    assert_eq!((plan.small_request_bytes, plan.large_request_bytes), (128 << 20, 128 << 20));
    assert_eq!((plan.response_bytes, plan.answer_bytes_max), (128 << 20, 32 << 20));
    assert_eq!((plan.unplaced_bytes, plan.tail_bytes, plan.cache_bytes), (64 << 20, 56 << 20, 8 << 20));
}

#[test]
fn the_config_is_shared_out_and_nothing_is_counted_twice() {
    let plan = plan(Some(1 << 30), Some(2 << 30), 4);
    let parts =
        [plan.small_request_bytes, plan.large_request_bytes, plan.response_bytes, plan.unplaced_bytes];
    assert_eq!(parts.iter().sum::<usize>(), 224 << 20, "the rest is for what isn't counted");
    assert_eq!(plan.response_bytes, 64 << 20);
    assert_eq!(plan.tail_bytes + plan.cache_bytes, 512 << 20);
}

#[test]
fn too_little_is_raised() {
    let least = plan(Some(1), Some(1), 8);
    assert_eq!(least, plan(Some(SHARD_BYTES_MIN), Some(SHARD_CACHE_BYTES_MIN), 1));
    assert!(least.small_request_bytes >= 2 * SMALL_REQUEST_BYTES_MAX);
}
