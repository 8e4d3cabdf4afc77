//! Crashes at any point: what was answered stays, in order, and no producer id is given out twice.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use broker::metadata::{Controller, Delta, Image, MetadataUpdate};
use protocol::types::{Str, Uuid};
use rt::sim::{Crash, Sim, for_each_seed};

use super::common::{block, config, create, delete, register, start};

const SEEDS: u64 = 300;
const STARTS: u64 = 6;
const CLIENTS: u64 = 3;
const REQUESTS: u64 = 12;
/// Small, so that logs are replaced by snapshots many times.
const SNAPSHOT_BYTES: u64 = 6 * 4096;

/// What the outside knows, across all crashes.
#[derive(Default)]
struct Model {
    /// Topics whose creation was answered and whose deletion wasn't asked for.
    topics: RefCell<BTreeMap<Str, Uuid>>,
    /// Topics whose deletion was answered.
    deleted: RefCell<BTreeSet<Uuid>>,
    blocks: RefCell<BTreeSet<i64>>,
    /// What subscribers were told, one delta after the other.
    told: RefCell<Vec<Delta>>,
    names: Cell<u64>,
    starts: Cell<i32>,
}

impl Model {
    /// What a start recovered, before it takes requests.
    fn check(&self, image: &Image) {
        for (name, id) in &*self.topics.borrow() {
            let topic = image.topic(name).unwrap_or_else(|| panic!("topic {name} is lost"));
            assert_eq!(topic.id, *id, "topic {name} is another one");
        }
        for id in &*self.deleted.borrow() {
            assert!(image.topic_by_id(*id).is_none(), "deleted topic {id} is back");
        }
        if let Some(last) = self.blocks.borrow().last() {
            assert!(image.next_producer_id >= last + 1000, "producer ids from {last} on are free again");
        }
        for topic in image.topics() {
            for partition in &topic.partitions {
                assert!(partition.leader_epoch <= self.starts.get(), "more than one bump a start");
            }
        }
        self.check_told(image);
    }

    /// Replays what was told before: the recovered image must continue it.
    fn check_told(&self, image: &Image) {
        let mut replayed = Image::empty(image.cluster_id.clone());
        for delta in &*self.told.borrow() {
            replayed.apply_delta(delta).expect("deltas follow each other");
        }
        assert!(image.offset >= replayed.offset, "told {}, recovered {}", replayed.offset, image.offset);
        if image.offset == replayed.offset {
            replayed.epoch = image.epoch;
            assert_eq!(*image, replayed, "recovered something else than was told");
        }
    }
}

/// One life of the node: recover, check, then requests until the crash.
async fn life(model: Rc<Model>) {
    let (controller, mut updates) =
        start(config("/data".as_ref(), SNAPSHOT_BYTES, true)).await.expect("it starts");
    let Some(MetadataUpdate::Image(image)) = updates.recv().await else { panic!("the image comes first") };
    model.check(&image);
    // Entries that nobody was told of may have survived: the history goes on from the image.
    if model.told.borrow().last().map_or(-1, Delta::last_offset) < image.offset {
        *model.told.borrow_mut() = vec![whole(&image)];
    }
    let following = rt::spawn(follow(model.clone(), *image, updates));
    model.starts.set(model.starts.get() + 1);
    let before: BTreeMap<_, _> = controller.with_image(leader_epochs);
    let epoch = register(&controller).await.expect("it registers");
    let after: BTreeMap<_, _> = controller.with_image(leader_epochs);
    assert!(before.iter().all(|(id, epochs)| after[id].iter().zip(epochs).all(|(new, old)| *new == old + 1)));
    let clients: Vec<_> =
        (0..CLIENTS).map(|_| rt::spawn(client(model.clone(), controller.clone(), epoch))).collect();
    for client in clients {
        client.await;
    }
    controller.stop().await;
    let followed = following.await;
    controller.with_image(|image| assert_eq!(*image, followed, "a shard's image is the controller's"));
}

fn leader_epochs(image: &Image) -> BTreeMap<Uuid, Vec<i32>> {
    let epochs =
        |topic: &broker::metadata::image::Topic| topic.partitions.iter().map(|p| p.leader_epoch).collect();
    image.topics().map(|topic| (topic.id, epochs(topic))).collect()
}

/// An image as one delta from nothing.
fn whole(image: &Image) -> Delta {
    let mut records: Vec<_> = image.to_records().collect();
    let missing = image.offset + 1 - records.len() as i64;
    // Offsets that left no trace.
    let no_op = protocol::internal::NoOpRecord::default();
    records.extend((0..missing).map(|_| no_op.clone().into()));
    Delta {
        base_offset: image.offset + 1 - records.len() as i64,
        epoch: image.epoch,
        records: records.into(),
    }
}

/// What each shard does.
async fn follow(
    model: Rc<Model>,
    mut image: Image,
    mut updates: rt::lane::Receiver<MetadataUpdate>,
) -> Image {
    while let Some(update) = updates.recv().await {
        let MetadataUpdate::Delta(delta) = update else { panic!("the image comes once") };
        image.apply_delta(&delta).expect("deltas follow each other");
        model.told.borrow_mut().push(delta);
    }
    image
}

async fn client(model: Rc<Model>, controller: Controller, epoch: i64) {
    for _ in 0..REQUESTS {
        match rt::random_u64() % 4 {
            0 | 1 => {
                let name = format!("t{}", model.names.replace(model.names.get() + 1));
                let id =
                    create(&controller, &name, 1 + (rt::random_u64() % 5) as i32).await.expect("it is new");
                model.topics.borrow_mut().insert(Str::from(name), id);
            }
            2 => {
                let first = model.topics.borrow_mut().pop_first();
                if let Some((_, id)) = first {
                    delete(&controller, id).await.expect("it is there");
                    model.deleted.borrow_mut().insert(id);
                }
            }
            _ => {
                let block = block(&controller, epoch).await.expect("there are ids left");
                assert!(model.blocks.borrow_mut().insert(block), "block {block} is given out twice");
            }
        }
    }
}

#[test]
fn nothing_answered_is_lost_at_any_crash() {
    for_each_seed(SEEDS, |seed| {
        let (sim, node) = Sim::with_node(seed);
        let model = Rc::new(Model::default());
        for _ in 0..STARTS {
            node.spawn(life(model.clone())).detach();
            // Often soon after the start: what one crash leaves is what the next one meets.
            let steps = [60, 300, 1_500][sim.choose(3) as usize];
            sim.run_steps(sim.choose(steps));
            node.crash(if sim.choose(2) == 0 { Crash::Kill } else { Crash::PowerCut });
        }
        sim.block_on(&node, life(model.clone()));
        sim.block_on(&node, life(model));
    });
}

#[test]
fn the_same_seed_takes_the_same_way() {
    let trace = |seed| {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, life(Rc::default()));
        sim.trace_hash()
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}
