use crate::sim::disk::{File, sync_dir};
use crate::sim::{Crash, Sim};
use bytes::Bytes;
use std::path::Path;

#[test]
#[ignore = "prints how many crash seeds a second go"]
fn crash_seeds_per_second() {
    #[allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "measures the simulator itself")]
    let start = std::time::Instant::now();
    let seeds = 2_000;
    for seed in 0..seeds {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, async {
            let file = File::open(Path::new("/log"), true).await.unwrap();
            sync_dir(Path::new("/")).await.unwrap();
            let data = Bytes::from(vec![7; 8192]);
            for n in 0..50_u64 {
                file.write_at(n * 8192, data.clone()).await.unwrap();
                file.sync_data().await.unwrap();
            }
        });
        node.crash(Crash::PowerCut);
    }
    println!("{} seeds/s of 50 writes and syncs", seeds as f64 / start.elapsed().as_secs_f64());
}
