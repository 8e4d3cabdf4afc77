//! Each checker notices what it is there for.

use bytes::Bytes;
use protocol::records::{Compression, RecordBatch, patch_offset_and_epoch};
use protocol::types::Str;

use super::{AckedRecords, CommittedOffsets, OneOwner, ProducerIds, ReadRecords};
use crate::batch::{RecordId, named};
use crate::topics::{Place, Topic};

fn place(topic: Topic) -> Place {
    Place { topic, partition: 0 }
}

fn record(number: u64) -> RecordId {
    RecordId { producer: 1, number }
}

/// Records 0, 1, 2 of which the first two were acknowledged at 0 and 1.
fn acked(topic: Topic) -> AckedRecords {
    let mut records = AckedRecords::default();
    let asked = records.ask();
    (0..3).for_each(|number| records.sent(place(topic), record(number)));
    (0..2).for_each(|number| records.acked(asked, place(topic), record(number), Some(number as i64)));
    records
}

#[test]
fn what_was_sent_and_is_there_is_good() {
    let records = acked(Topic::Synced);
    records.check(place(Topic::Synced), &[(0, record(0)), (1, record(1))]);
    records.check(place(Topic::Synced), &[(0, record(0)), (1, record(1)), (2, record(2))]);
    assert_eq!(records.end_min(place(Topic::Synced)), 2);
}

#[test]
#[should_panic(expected = "synced-0: p1/1 was acknowledged")]
fn a_lost_record_is_noticed() {
    let mut records = acked(Topic::Synced);
    records.power_cut();
    records.check(place(Topic::Synced), &[(0, record(0))]);
}

#[test]
fn what_only_the_leader_had_may_go_with_the_power() {
    let mut records = acked(Topic::Leader);
    records.power_cut();
    records.check(place(Topic::Leader), &[(0, record(0))]);
}

#[test]
#[should_panic(expected = "leader-0: p1/1 was acknowledged")]
fn but_not_with_the_process() {
    acked(Topic::Leader).check(place(Topic::Leader), &[(0, record(0))]);
}

#[test]
#[should_panic(expected = "p1/2 is there twice, at 2 and 3")]
fn a_duplicate_is_noticed() {
    let log = [(0, record(0)), (1, record(1)), (2, record(2)), (3, record(2))];
    acked(Topic::Synced).check(place(Topic::Synced), &log);
}

#[test]
#[should_panic(expected = "p1/1 at 3 comes after number")]
fn another_order_is_noticed() {
    acked(Topic::Synced).check(place(Topic::Synced), &[(0, record(0)), (2, record(2)), (3, record(1))]);
}

#[test]
#[should_panic(expected = "p1/9 at 2 was sent by nobody")]
fn an_invented_record_is_noticed() {
    let log = [(0, record(0)), (1, record(1)), (2, record(9))];
    acked(Topic::Synced).check(place(Topic::Synced), &log);
}

/// A batch of one record at an offset.
fn batch(number: u64, offset: i64, epoch: i32) -> RecordBatch {
    let bytes = named(0, record(number), 1, 20, Compression::None, (1, 0, 0));
    let mut bytes = bytes.to_vec();
    patch_offset_and_epoch(&mut bytes, offset, epoch);
    RecordBatch::parse(Bytes::from(bytes)).expect("a good batch")
}

/// Has consumers read these batches from 0 on, one answer each.
fn read(answers: &[&[(u64, i64, i32)]]) {
    let mut reads = ReadRecords::default();
    let mut from = 0;
    for answer in answers {
        let batches: Vec<_> =
            answer.iter().map(|(number, offset, epoch)| batch(*number, *offset, *epoch)).collect();
        let asked = reads.ask(place(Topic::Synced));
        let first = batches.first().map_or(from, |batch| batch.header().base_offset.min(from));
        (_, from) = reads.fetched(asked, place(Topic::Synced), first, 10, &batches);
    }
}

#[test]
fn what_follows_is_good_and_may_be_read_again() {
    read(&[&[(0, 0, 0), (1, 1, 0)], &[(2, 2, 3)], &[(0, 0, 0), (1, 1, 0), (2, 2, 3)]]);
}

#[test]
#[should_panic(expected = "a gap within an answer")]
fn a_gap_is_noticed() {
    read(&[&[(0, 0, 0), (1, 2, 0)]]);
}

#[test]
#[should_panic(expected = "another record at 0 than was read before")]
fn a_changed_record_is_noticed() {
    read(&[&[(0, 0, 0)], &[(5, 0, 0)]]);
}

#[test]
#[should_panic(expected = "epoch 1 at 1 between 2")]
fn a_falling_epoch_is_noticed() {
    read(&[&[(0, 0, 2), (1, 1, 1)]]);
}

#[test]
#[should_panic(expected = "above the high watermark 10")]
fn reading_above_the_high_watermark_is_noticed() {
    let far: Vec<_> = (0..11).map(|number| (number as u64, number, 0)).collect();
    read(&[&far]);
}

#[test]
#[should_panic(expected = "the high watermark went back from 10 to 9")]
fn a_high_watermark_that_goes_back_is_noticed() {
    let mut reads = ReadRecords::default();
    for high_watermark in [10, 9] {
        let asked = reads.ask(place(Topic::Synced));
        reads.told_high_watermark(asked, place(Topic::Synced), high_watermark);
    }
}

#[test]
#[should_panic(expected = "commits went back from 7 to 5")]
fn a_lost_commit_is_noticed() {
    let mut commits = CommittedOffsets::default();
    commits.trying(0, 7);
    commits.acked(0, 7);
    commits.told(0, commits.sure(0), 5);
}

#[test]
#[should_panic(expected = "a commit of 5 was taken after 7")]
fn a_stale_commit_is_noticed() {
    let mut commits = CommittedOffsets::default();
    commits.trying(0, 7);
    commits.acked(0, 7);
    commits.acked(0, 5);
}

#[test]
#[should_panic(expected = "partition 1 has two owners in generation 4")]
fn two_owners_are_noticed() {
    let mut owners = OneOwner::default();
    owners.assigned(3, &Str::from("a"), &[0, 1]);
    owners.assigned(4, &Str::from("b"), &[0, 1]);
    owners.assigned(4, &Str::from("a"), &[1]);
}

#[test]
#[should_panic(expected = "producer id 5 is given out twice")]
fn a_producer_id_given_twice_is_noticed() {
    let mut ids = ProducerIds::default();
    ids.given(5);
    ids.given(5);
}
