//! A real disk and real rings.

use std::path::PathBuf;

use broker::metadata::MetadataUpdate;
use rt::ShardsConfig;

use super::common::{block, config, create, register, start};

/// Runs one shard to its end.
fn run<T, F, Fut>(main: F) -> T
where
    T: Send + 'static,
    F: Fn() -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = T> + 'static,
{
    let (sender, receiver) = flume::bounded(1);
    rt::run(ShardsConfig::unpinned(1), move |_| {
        let (result, sender) = (main(), sender.clone());
        async move { sender.send(result.await).expect("the test waits") }
    })
    .expect("it boots");
    receiver.recv().expect("the shard ran")
}

#[test]
fn metadata_survives_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("data");
    let mut last_block = -1;
    for start_number in 0..3_i32 {
        let path = path.clone();
        let (topics, first) = run(move || {
            let path = path.clone();
            async move {
                let (controller, mut updates) = start(config(&path, 16 << 10, true)).await.unwrap();
                let Some(MetadataUpdate::Image(image)) = updates.recv().await else {
                    panic!("the image comes first")
                };
                let epoch = register(&controller).await.unwrap();
                create(&controller, &format!("t{start_number}"), 3).await.unwrap();
                let first = block(&controller, epoch).await.unwrap();
                for i in 0..5 {
                    create(&controller, &format!("more-{start_number}-{i}"), 1).await.unwrap();
                }
                controller.with_image(|image| {
                    let partition = &image.topic("t0").unwrap().partitions[2];
                    assert_eq!(partition.leader_epoch, start_number);
                });
                controller.stop().await;
                (image.topic_count(), first)
            }
        });
        assert_eq!(topics, 6 * start_number as usize);
        assert!(first > last_block);
        last_block = first;
    }
    assert!(path.join("ringlog-raft.snapshot").exists());
}
