//! Metadata and disks that agree, and that don't.

use std::collections::{BTreeMap, BTreeSet};

use protocol::internal::{PartitionRecord, TopicRecord};
use protocol::types::{Str, Uuid};
use shards::PartitionKey;
use storage::{DirFacts, Offsets, TopicPartition};

use super::{Found, Place, find};
use crate::metadata::Image;

const NODE: i32 = 1;
const TOPIC: Uuid = Uuid([7; 16]);
const UNASSIGNED: u8 = 0;
const A: u8 = 10;
const B: u8 = 11;
const GONE: u8 = 12;

/// A topic with a partition in each of these directories, by what the metadata say.
fn image(directories: &[u8]) -> Image {
    let mut image = Image::empty(Str::from("cluster"));
    let topic = TopicRecord { name: "t".into(), topic_id: TOPIC, ..Default::default() };
    image.apply(&topic.into()).unwrap();
    for (partition_id, directory) in (0..).zip(directories) {
        let record = PartitionRecord {
            partition_id,
            topic_id: TOPIC,
            replicas: vec![NODE],
            isr: vec![NODE],
            leader: NODE,
            directories: vec![Uuid([*directory; 16])],
            ..Default::default()
        };
        image.apply(&record.into()).unwrap();
    }
    image
}

fn name(partition: i32) -> TopicPartition {
    TopicPartition::new("t", partition)
}

fn key(partition: i32) -> PartitionKey {
    PartitionKey { topic_id: TOPIC, partition }
}

fn dir(id: u8, partitions: &[i32]) -> DirFacts {
    DirFacts {
        clean: true,
        clean_broker_epoch: -1,
        cluster_id: "cluster".into(),
        directory_id: Uuid([id; 16]),
        partitions: partitions.iter().map(|partition| name(*partition)).collect(),
        futures: Vec::new(),
        unrecovered: BTreeSet::new(),
        log_starts: Offsets::new(),
        cleaned: None,
        recovery_points: Offsets::new(),
        high_watermarks: Offsets::new(),
        unreplayed: BTreeMap::new(),
        start: 0,
    }
}

fn places(found: &Found) -> Vec<(i32, Option<usize>)> {
    let place = |place: &Place| match place {
        Place::In(index) => Some(*index),
        Place::Offline(_) => None,
    };
    found.places.iter().map(|(key, found)| (key.partition, place(found))).collect()
}

#[test]
fn what_the_metadata_say_needs_no_word() {
    let (a, b) = (dir(A, &[0]), dir(B, &[1]));
    // The third isn't made yet.
    assert_eq!(find(&image(&[A, B, B]), NODE, &[Some(&a), Some(&b)]), Found::default());
}

#[test]
fn the_disk_counts_where_the_metadata_know_no_better() {
    let (a, b) = (dir(A, &[0, 1]), dir(B, &[2]));
    let found = find(&image(&[UNASSIGNED, B, GONE]), NODE, &[Some(&a), Some(&b)]);
    assert_eq!(places(&found), [(0, Some(0)), (1, Some(0)), (2, Some(1))]);
    assert_eq!(found.copies, []);
}

#[test]
fn what_is_nowhere_goes_where_the_fewest_are() {
    let (a, b) = (dir(A, &[0]), dir(B, &[]));
    let found = find(&image(&[A, UNASSIGNED, UNASSIGNED, UNASSIGNED]), NODE, &[Some(&a), Some(&b)]);
    assert_eq!(places(&found), [(1, Some(1)), (2, Some(0)), (3, Some(1))]);
}

/// A disk that isn't mounted leaves an empty directory, which becomes a new one: its partitions used to be made anew, empty.
#[test]
fn what_was_in_a_directory_that_isnt_among_them_is_offline() {
    let (a, new) = (dir(A, &[0]), dir(B, &[]));
    let found = find(&image(&[A, GONE, UNASSIGNED]), NODE, &[Some(&a), Some(&new)]);
    assert_eq!(places(&found), [(1, None), (2, Some(1))]);
    let Some(Place::Offline(why)) = found.places.get(&key(1)) else { panic!("{found:?}") };
    assert!(why.contains(&Uuid([GONE; 16]).to_string()) && why.contains("none of log.dirs"), "{why}");
}

/// The metadata name the new place already, and the old one, which lacks nothing, is offline or gone: the new one used to be made anew, empty.
#[test]
fn what_a_move_left_on_its_way_isnt_made_anew() {
    let mut b = dir(B, &[]);
    b.futures = vec![(name(0), "t-0.0123-future".into())];
    for (dirs, named) in [(vec![None, Some(&b)], B), (vec![Some(&b)], B), (vec![Some(&b)], UNASSIGNED)] {
        let found = find(&image(&[named]), NODE, &dirs);
        assert_eq!(places(&found), [(0, None)], "{dirs:?}");
    }
    // With the old one there it is served from there.
    let a = dir(A, &[0]);
    assert_eq!(places(&find(&image(&[B]), NODE, &[Some(&a), Some(&b)])), [(0, Some(0))]);
}

#[test]
fn of_two_copies_the_metadatas_counts() {
    let (a, b) = (dir(A, &[0, 1]), dir(B, &[0, 1]));
    let found = find(&image(&[B, GONE]), NODE, &[Some(&a), Some(&b)]);
    assert_eq!(found.copies, [(0, name(0))]);
    let Some(Place::Offline(why)) = found.places.get(&key(1)) else { panic!("{found:?}") };
    assert!(why.contains("several log directories"), "{why}");
}

/// It would be made anew, empty, and its records be gone when the directory is back; or an old copy be served.
#[test]
fn what_may_be_in_an_offline_directory_is_offline() {
    let a = dir(A, &[2, 3]);
    let found = find(&image(&[B, UNASSIGNED, UNASSIGNED, B, A]), NODE, &[Some(&a), None]);
    assert_eq!(places(&found), [(0, None), (1, None), (2, Some(0)), (3, None)]);
}
