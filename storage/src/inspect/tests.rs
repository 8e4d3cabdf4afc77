//! Tests of what files say, damaged ones too.

use super::*;
use crate::{FilePos, LeaderEpoch, Offset, TopicPartition};

#[test]
fn names_tell_what_is_inside() {
    for (name, kind) in [
        ("00000000000000000012.log", FileKind::Log(Offset(12))),
        ("00000000000000000012.index", FileKind::OffsetIndex(Offset(12))),
        ("00000000000000000012.timeindex", FileKind::TimeIndex(Offset(12))),
        ("00000000000000000012.txnindex", FileKind::TxnIndex(Offset(12))),
        ("00000000000000000012.snapshot", FileKind::Snapshot(Offset(12))),
        ("00000000000000000012-0000000003.checkpoint", FileKind::MetadataSnapshot),
        ("00000000000000000012.log.deleted", FileKind::Leftover),
        ("00000000000000000012.log.swap", FileKind::Swap(Offset(12))),
        ("00000000000000000012.index.swap", FileKind::Leftover),
        ("meta.properties.swap", FileKind::Other),
        ("ringlog-damaged-00000000000000000012-77", FileKind::Damaged),
        ("ringlog-adopting", FileKind::Adopting),
        ("leader-epoch-checkpoint", FileKind::Epochs),
        ("partition.metadata", FileKind::PartitionMetadata),
        ("ringlog-checkpoint", FileKind::Checkpoint),
        ("recovery-point-offset-checkpoint", FileKind::Offsets),
        ("cleaner-offset-checkpoint", FileKind::Offsets),
        ("meta.properties", FileKind::MetaProperties),
        (".kafka_cleanshutdown", FileKind::CleanMarker),
        (".lock", FileKind::Lock),
        ("ringlog-journal-1-23", FileKind::Journal { shard: 1, number: 23 }),
        ("ringlog-unrecovered", FileKind::Unrecovered),
        ("ringlog-start", FileKind::Start),
        ("ringlog-log-starts", FileKind::Offsets),
        ("ringlog-kept-0123456789abcdef-0123456789abcdef0123456789abcdef-3", FileKind::Kept),
        ("ringlog-foreign-0123456789abcdef-0123456789abcdef0123456789abcdef-3", FileKind::Foreign),
        ("12.log", FileKind::Other),
        ("ringlog-journal-1", FileKind::Other),
    ] {
        assert_eq!(file_kind(name), kind, "{name}");
    }
    assert_eq!(dir_kind("a-b-3"), DirKind::Partition(TopicPartition::new("a-b", 3)));
    assert_eq!(dir_kind("a-0.0123456789abcdef0123456789abcdef-delete"), DirKind::Deleted);
    assert_eq!(dir_kind("a-0.0123456789abcdef0123456789abcdef-stray"), DirKind::Stray);
    assert_eq!(dir_kind("lost+found"), DirKind::Other);
}

#[test]
fn indexes_show_entries_that_make_no_sense() {
    let file = [0, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let found = offset_index(Offset(100), &file);
    let entry = |offset, position| OffsetEntry { offset: Offset(offset), position: FilePos(position) };
    assert_eq!(found.entries, [entry(109, 256), entry(103, 7)]);
    assert_eq!((found.unused_bytes, found.odd_bytes), (8, 1));
    let file = [0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5];
    let found = time_index(Offset(100), &file);
    assert_eq!(found.entries, [TimeEntry { timestamp_ms: 768, offset: Offset(105) }]);
    assert_eq!((found.unused_bytes, found.odd_bytes), (0, 0));
    assert_eq!(time_index(Offset(0), &[0; 24]).entries, []);
}

#[test]
fn epochs_show_lines_that_contradict_each_other() {
    assert_eq!(
        epochs("0\n2\n5 10\n3 2\n"),
        Ok(vec![(LeaderEpoch(5), Offset(10)), (LeaderEpoch(3), Offset(2))])
    );
    for (text, why) in [
        ("1\n0\n", "version"),
        ("0\n", "count"),
        ("0\n2\n1 0\n", "instead of"),
        ("0\n1\nx 0\n", "isn't an epoch"),
    ] {
        assert!(epochs(text).unwrap_err().contains(why), "{text:?}");
    }
}

#[test]
fn offsets_may_be_empty() {
    assert_eq!(offsets(""), Ok(crate::Offsets::new()), "as Kafka makes the file");
    assert_eq!(offsets("0\n1\nt 3 7\n").unwrap()[&TopicPartition::new("t", 3)], Offset(7));
    assert!(offsets("0\n2\nt 3 7\n").is_err());
}

#[test]
fn aborted_transactions_are_read() {
    let mut file = vec![0, 0];
    for number in [7_i64, 10, 12, 10] {
        file.extend(number.to_be_bytes());
    }
    let aborted = AbortedTxn {
        producer_id: 7,
        first_offset: Offset(10),
        last_offset: Offset(12),
        last_stable_offset: Offset(10),
    };
    assert_eq!(txn_index(&file), Ok(vec![aborted]));
    assert!(txn_index(&file[1..]).unwrap_err().contains("33 bytes"));
    file[1] = 9;
    assert!(txn_index(&file).unwrap_err().contains("version 9"));
}

#[test]
fn a_journal_ends_where_its_chain_does() {
    use crate::journal::frame::{Entry, EntryKind, FrameHeader, frame_bytes};
    use crate::journal::header::FileHeader;
    use crate::limits::BLOCK_BYTES;

    let mut file = vec![0; 5 * BLOCK_BYTES];
    FileHeader { shard: 3, number: 4, journal: 77, start: 5 }.encode(&mut file[..BLOCK_BYTES]);
    // The third frame is of an earlier lap.
    for (block, sequence, lap) in [(1, 9, 2), (2, 10, 2), (3, 6, 1)] {
        let frame = &mut file[block * BLOCK_BYTES..(block + 1) * BLOCK_BYTES];
        let entry = Entry {
            kind: EntryKind::Data,
            topic_id: protocol::types::Uuid([1; 16]),
            partition: 5,
            leader_epoch: LeaderEpoch(8),
            base: Offset(100),
            segment: Offset(90),
            position: FilePos(4000),
            bytes: 10,
        };
        entry.encode(frame, 0);
        let bytes = frame_bytes(1, 10) as u32;
        FrameHeader { journal: 77, lap, sequence, floor: 9, entries: 1, bytes }.seal(frame);
    }
    let found = journal(&file).unwrap().unwrap();
    assert_eq!((found.shard, found.number, found.journal, found.start), (3, 4, 77, 5));
    assert_eq!(found.frames.iter().map(|frame| frame.sequence).collect::<Vec<_>>(), [9, 10]);
    let entry = found.frames[0].entries[0];
    assert_eq!((entry.is_floor, entry.partition, entry.base, entry.bytes), (false, 5, Offset(100), 10));
    // A frame that was torn isn't one.
    file[BLOCK_BYTES + 60] ^= 1;
    assert_eq!(journal(&file).unwrap().unwrap().frames, []);
    assert_eq!(journal(&[0; 100]), Ok(None));
}

#[test]
fn indexes_are_made_as_appending_makes_them() {
    use protocol::records::{BatchBuilder, BatchHeader};

    let batch = |base: i64| {
        let mut builder = BatchBuilder::new().base_offset(base);
        builder.push(1_000 - base, None, Some(&[7; 600]), &[]);
        BatchHeader::parse(&builder.build().unwrap()).unwrap()
    };
    let mut indexes = SegmentIndexes::new(Offset(100), 1_000);
    for base in [100, 101, 105, 106, 107] {
        assert!(indexes.holds(&batch(base)));
        indexes.push(&batch(base));
    }
    assert!(!indexes.holds(&batch(99)) && !indexes.holds(&batch(100 + (1 << 31))));
    let (offsets, times) = indexes.finish();
    let bytes = batch(100).total_bytes() as u64;
    let entry = |offset, position| OffsetEntry { offset: Offset(offset), position: FilePos(position) };
    assert_eq!(offset_index(Offset(100), &offsets).entries, [entry(105, 2 * bytes), entry(107, 4 * bytes)]);
    let largest = TimeEntry { timestamp_ms: 900, offset: Offset(100) };
    assert_eq!(time_index(Offset(100), &times).entries, [largest], "the first is the youngest");
}

#[test]
fn what_is_written_is_what_is_read() {
    let known = Checkpoint { start: Offset(3), recovery_point: Offset(9) };
    assert_eq!(checkpoint(&checkpoint_file(known)), Ok(known));
    assert_eq!(cleaned(&cleaned_file(Offset(8))), Some(Offset(8)));
    let of = TopicPartition::new("t", 3);
    let all = crate::Offsets::from([(of.clone(), Offset(7))]);
    assert_eq!(offsets(&offsets_text(&all)), Ok(all));
    assert_eq!(dir_kind(&dir_name(&of)), DirKind::Partition(of));
    for kind in [FileKind::Log(Offset(5)), FileKind::TimeIndex(Offset(5)), FileKind::Snapshot(Offset(5))] {
        assert_eq!(file_kind(&file_name(kind).unwrap()), kind);
    }
    assert_eq!(file_name(FileKind::Lock), None);
    assert_eq!(file_kind(&damaged_part_name(Offset(5), 9)), FileKind::Damaged);
    for name in ["leader-epoch-checkpoint", "00000000000000000005.log.swap", "00000000000000000005.index"] {
        let damaged = damaged_file_name(name);
        assert_eq!(file_kind(&damaged), FileKind::Damaged);
        assert!(!damaged.contains('.'), "Kafka takes {damaged} for a segment's file");
    }
}
