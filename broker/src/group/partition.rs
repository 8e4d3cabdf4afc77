//! Which partition of `__consumer_offsets` a group belongs to.

/// Java's `String.hashCode`: over UTF-16 units, wrapping.
pub fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// The partition of `group_id` among `partition_count`, as Kafka's `abs(hashCode) % count`, where the one number without an absolute
/// value counts as 0. A count below 1 counts as 1.
pub fn partition_for_group(group_id: &str, partition_count: i32) -> i32 {
    let hash = java_hash(group_id);
    let positive = if hash == i32::MIN { 0 } else { hash.abs() };
    positive % partition_count.max(1)
}
