use protocol::records::{BatchBuilder, RecordBatch};
use protocol::types::Uuid;
use rt::sim::{Crash, Sim};

use crate::limits::BLOCK_BYTES;
use crate::{
    DirHome, HomeConfig, JournalConfig, LeaderEpoch, LogConfig, LogDir, LogDirConfig, Offset, Offsets,
    TopicPartition,
};

/// A batch of exactly one block.
fn block() -> RecordBatch {
    let of = |value_bytes: usize| {
        let mut builder = BatchBuilder::new();
        builder.push(5, None, Some(&vec![7; value_bytes]), &[]);
        RecordBatch::parse(builder.build().unwrap()).unwrap()
    };
    let found = (3_900..4_096).map(of).find(|batch| batch.total_bytes() == BLOCK_BYTES);
    found.expect("one value's size gives it")
}

/// Its segment was placed, durable by the journal alone, and of the very length that closing leaves: so it wasn't synced.
#[test]
fn a_log_at_rest_of_exactly_its_allocated_size_is_synced_when_it_is_closed() {
    for seed in 0..20 {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, async {
            let journal = JournalConfig {
                shard: 0,
                bytes: 1 << 20,
                direct_bytes: 3 * BLOCK_BYTES,
                ..Default::default()
            };
            let config = LogDirConfig { journal, ..LogDirConfig::default() };
            let (home, facts) =
                DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
            let dir = LogDir::open("/data", facts, config).await.unwrap();
            let of = TopicPartition::new("orders", 0);
            let log = dir.create_log(of, Uuid([3; 16]), LogConfig::default()).await.unwrap();
            home.begin_use().await.unwrap();
            // The first ones are written past the journal, which has no file yet.
            for _ in 0..16 {
                let reservation = log.reserve(BLOCK_BYTES).await.unwrap();
                log.append(reservation, block(), LeaderEpoch(0), 5).unwrap();
                log.flush().await.unwrap();
                rt::sleep(std::time::Duration::from_millis(20)).await;
            }
            log.0.place_blocks().await.unwrap();
            assert!(dir.shared().journal.is_needed_by(log.0.id));
            assert!(log.0.cool_down(), "it is at rest");
            {
                let core = log.0.core.borrow();
                assert_eq!(core.active.preset_bytes, core.active.build.bytes);
            }
            let closed = dir.close().await;
            home.close(&[closed], &Offsets::new(), 1).await.unwrap();
        });
        node.crash(Crash::PowerCut);
        sim.block_on(&node, async {
            let (_home, facts) =
                DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
            assert!(facts.clean);
            let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
            let log = dir.open_log(TopicPartition::new("orders", 0), LogConfig::default()).await.unwrap();
            assert_eq!(log.end_offset(), Offset(16));
        });
    }
}
