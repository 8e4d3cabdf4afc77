//! What a shard tells of its partitions to whoever asks where they are (`ringlog placement show`).

use storage::LogDir;

use super::state::ShardState;

/// Partitions that are looked at before the shard's other work goes on.
const PER_STEP: usize = 256;

/// A partition on its shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedPartition {
    /// Its topic.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// Place of its log directory in `log.dirs`; `None` if it is in none that is online.
    pub dir: Option<usize>,
    /// Whether somebody put it on this shard.
    pub on_purpose: bool,
    /// Since when the counts are, in ms since 1970.
    pub since_ms: i64,
    /// See [`shards::Traffic::records_in`].
    pub records_in: u64,
    /// See [`shards::Traffic::bytes_in`].
    pub bytes_in: u64,
    /// See [`shards::Traffic::records_out`].
    pub records_out: u64,
    /// See [`shards::Traffic::bytes_out`].
    pub bytes_out: u64,
}

/// All partitions that the shard leads.
pub(crate) async fn all(shard: &ShardState) -> Vec<PlacedPartition> {
    let led: Vec<_> = shard.partitions.borrow().values().cloned().collect();
    let mut rows = Vec::with_capacity(led.len());
    for led in led.chunks(PER_STEP) {
        for partition in led {
            let (log, traffic) = (partition.log(), partition.traffic());
            let name = log.partition();
            let holds = |dir: &LogDir| dir.log(name).is_some_and(|found| found.is(&log));
            let mut dirs = shard.log_dirs.all();
            let dir = dirs.find(|(_, dir)| dir.online().is_some_and(holds)).map(|(index, _)| index);
            rows.push(PlacedPartition {
                topic: name.topic.clone(),
                partition: name.partition,
                dir,
                on_purpose: shard.placement.borrow().is_on_purpose(&partition.key()),
                since_ms: partition.led_since_ms(),
                records_in: traffic.records_in.get(),
                bytes_in: traffic.bytes_in.get(),
                records_out: traffic.records_out.get(),
                bytes_out: traffic.bytes_out.get(),
            });
        }
        rt::yield_point().await;
    }
    rows
}
