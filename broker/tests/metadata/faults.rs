//! Disks that fail or are full.

use rt::sim::{FaultOp, Sim};

use super::common::{block, config, create, register, start};

const STORAGE_ERROR: i16 = 56;

#[test]
fn a_failed_write_or_sync_ends_the_quorum_and_loses_nothing() {
    for op in [FaultOp::Write, FaultOp::Sync] {
        for seed in 0..20 {
            let (sim, node) = Sim::with_node(seed);
            let disk = node.disk();
            let failing = sim.block_on(&node, async move {
                let (controller, _updates) = start(config("/data".as_ref(), 1 << 20, true)).await.unwrap();
                let epoch = register(&controller).await.unwrap();
                create(&controller, "kept", 1).await.unwrap();
                let first = block(&controller, epoch).await.unwrap();
                disk.fail(op, "ringlog-raft.log", 1);
                assert_eq!(create(&controller, "unsure", 1).await, Err(STORAGE_ERROR));
                // Nothing is tried again as if nothing had happened.
                assert_eq!(create(&controller, "late", 1).await, Err(STORAGE_ERROR));
                controller.ended().await;
                first
            });
            node.crash(rt::sim::Crash::Kill);
            sim.block_on(&node, async move {
                let (controller, _updates) = start(config("/data".as_ref(), 1 << 20, true)).await.unwrap();
                controller.with_image(|image| {
                    assert!(image.topic("kept").is_some() && image.topic("late").is_none());
                });
                let epoch = register(&controller).await.unwrap();
                assert!(block(&controller, epoch).await.unwrap() > failing);
            });
        }
    }
}

#[test]
fn a_full_disk_refuses_and_recovers() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (controller, mut updates) = start(config("/data".as_ref(), 64 << 10, true)).await.unwrap();
        register(&controller).await.unwrap();
        // No byte more than the log has now.
        disk.set_capacity(Some((1 << 20) + 4096));
        let mut made = 0;
        let full = loop {
            match create(&controller, &format!("t{made}"), 100).await {
                Ok(_) => made += 1,
                Err(code) => break code,
            }
        };
        assert_eq!(full, STORAGE_ERROR);
        assert!(made > 10, "{made}");
        controller.with_image(|image| assert_eq!(image.topic_count(), made));
        // Two at a time: the second was decided on top of the first, and goes with it.
        let other = controller.clone();
        let second = rt::spawn(async move { create(&other, "y", 100).await });
        let first = create(&controller, "x", 100).await;
        assert_eq!((first, second.await), (Err(STORAGE_ERROR), Err(STORAGE_ERROR)));
        disk.set_capacity(None);
        create(&controller, "x", 1).await.expect("there is space again");
        controller.with_image(|image| assert_eq!(image.topic_count(), made + 1));
        controller.stop().await;
        drop(controller);
        while updates.recv().await.is_some() {}
    });
}

#[test]
fn requests_that_wait_their_turn_are_answered() {
    let (sim, node) = Sim::with_node(4);
    sim.block_on(&node, async {
        let (controller, updates) = start(config("/data".as_ref(), 1 << 20, true)).await.unwrap();
        register(&controller).await.unwrap();
        drop(updates);
        let many = broker::metadata::limits::PROPOSALS_MAX + 100;
        let tasks: Vec<_> = (0..many)
            .map(|i| {
                let controller = controller.clone();
                rt::spawn(async move { create(&controller, &format!("t{i}"), 1).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        controller.with_image(|image| assert_eq!(image.topic_count(), many));
        controller.stop().await;
        assert_eq!(create(&controller, "late", 1).await, Err(41));
    });
}
