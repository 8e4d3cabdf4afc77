//! Headers, frames, scans: bytes.

use bytes::Bytes;
use protocol::internal::{MetadataRecord, NoOpRecord, TopicRecord};
use protocol::types::{Str, Uuid};
use rt::fs::BLOCK;

use super::super::batch;
use super::super::frame::{Frame, frame_bytes};
use super::super::header::{HeaderError, LogHeader, SnapshotHeader, VERSION};
use super::super::scan::{Scanned, scan};
use super::{entry, frame};

const FILE_ID: u64 = 99;

fn header(start_index: u64) -> LogHeader {
    let (start_term, first_seq) = (u64::from(start_index > 0), 5);
    let cluster_id = Str::from("cluster");
    LogHeader { file_id: FILE_ID, raft_id: 2, start_index, start_term, first_seq, cluster_id }
}

/// A file of these frames.
fn file(start_index: u64, frames: &[Frame]) -> Vec<u8> {
    let mut bytes = header(start_index).encode();
    for (seq, frame) in (5..).zip(frames) {
        bytes.extend_from_slice(&frame.encode(FILE_ID, seq));
    }
    bytes
}

fn scanned(bytes: Vec<u8>, start_index: u64) -> Result<Scanned, String> {
    scan(&Bytes::from(bytes), &header(start_index))
}

fn frames() -> Vec<Frame> {
    vec![
        frame(1, vec![entry(1, 1, b""), entry(2, 1, b"two")]),
        frame(1, vec![entry(3, 1, &[7; 5000])]),
        frame(1, vec![entry(4, 1, b"four")]),
    ]
}

#[test]
fn headers_come_back() {
    assert_eq!(LogHeader::decode(&header(7).encode().into()), Ok(header(7)));
    let snapshot = SnapshotHeader {
        raft_id: 2,
        index: 10,
        term: 3,
        offset: 100,
        epoch: 3,
        records: 5,
        body_bytes: 50,
        body_crc: u32::MAX,
        cluster_id: Str::from("c"),
    };
    assert_eq!(SnapshotHeader::decode(&snapshot.encode().into()), Ok(snapshot));
}

#[test]
fn headers_of_something_else() {
    let refused = |change: fn(&mut Vec<u8>)| {
        let mut bytes = header(0).encode();
        change(&mut bytes);
        match LogHeader::decode(&bytes.into()) {
            Err(HeaderError::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|bytes| bytes[0] = b'X'), "it is no file of Ringlog");
    assert_eq!(refused(|bytes| bytes[9] = 2), "it is a file of kind 2, not 1");
    assert_eq!(
        refused(|bytes| bytes[11] += 1),
        format!(
            "it was written in format {} by a newer version of Ringlog; this one reads formats up to {VERSION}",
            VERSION + 1
        )
    );
}

#[test]
fn damaged_headers() {
    let whole = header(0).encode();
    for at in 10..60 {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x80;
        let damaged = matches!(
            LogHeader::decode(&bytes.into()),
            Err(HeaderError::Damaged(_) | HeaderError::Refused(_))
        );
        assert!(damaged, "byte {at}");
    }
    assert!(matches!(LogHeader::decode(&whole[..100].to_vec().into()), Err(HeaderError::Damaged(_))));
}

#[test]
fn frames_come_back() {
    for (seq, frame) in (1..).zip(frames()) {
        let bytes = Bytes::from(frame.encode(FILE_ID, seq));
        assert_eq!(bytes.len() % BLOCK, 0);
        let data = frame.entries.iter().map(|entry| entry.data.len()).sum();
        assert!(bytes.len() as u64 <= frame_bytes(frame.entries.len(), data));
        assert_eq!(Frame::decode(&bytes, FILE_ID), Some((frame, seq, bytes.len())));
        assert_eq!(Frame::decode(&bytes, FILE_ID + 1), None, "a frame of another file");
    }
}

#[test]
fn a_frame_with_any_bit_wrong_is_none() {
    let bytes = frames()[0].encode(FILE_ID, 1);
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    for at in 0..=used {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert_eq!(Frame::decode(&bytes.into(), FILE_ID), None, "byte {at}");
    }
}

#[test]
fn a_whole_log_is_read() {
    let bytes = file(0, &frames());
    let end = bytes.len() as u64;
    let found = scanned(bytes.clone(), 0).unwrap();
    assert_eq!((found.end, found.next_seq, found.torn), (end, 8, false));
    let indexes: Vec<_> = found.entries.iter().map(|entry| entry.index).collect();
    assert_eq!(indexes, [1, 2, 3, 4]);
    // Space allocated ahead changes nothing.
    let mut preset = bytes;
    preset.resize(preset.len() + 3 * BLOCK, 0);
    assert_eq!(scanned(preset, 0), Ok(found));
}

#[test]
fn an_empty_log_is_read() {
    let found = scanned(file(0, &[]), 0).unwrap();
    assert_eq!((found.end, found.next_seq, found.entries.len()), (BLOCK as u64, 5, 0));
}

#[test]
fn a_torn_tail_is_cut() {
    let whole = file(0, &frames());
    let last = whole.len() - BLOCK;
    for cut in [last + 1, last + 30, last + 511] {
        let mut torn = whole.clone();
        torn[cut..].fill(0);
        torn[last + 40..last + 44].fill(1);
        let found = scanned(torn, 0).unwrap();
        assert_eq!((found.end, found.torn, found.entries.len()), (last as u64, true, 3));
    }
    let short = whole[..last + 100].to_vec();
    assert_eq!(scanned(short, 0).unwrap().end, last as u64);
}

#[test]
fn damage_before_the_end_is_refused() {
    let mut bytes = file(0, &frames());
    bytes[BLOCK + 25] ^= 1;
    let why = scanned(bytes, 0).unwrap_err();
    assert_eq!(why, "no sound frame is at byte 4096, but frame 6 at byte 8192 is sound");
    // A frame that vanished.
    let mut bytes = file(0, &frames());
    bytes.drain(BLOCK..2 * BLOCK);
    assert_eq!(scanned(bytes, 0).unwrap_err(), "frame 6 is at byte 4096, where 5 belongs");
    let gap = [frame(1, vec![entry(1, 1, b"")]), frame(1, vec![entry(3, 1, b"")])];
    assert!(scanned(file(0, &gap), 0).unwrap_err().starts_with("entry 3 doesn't follow entry 1"));
}

#[test]
fn later_entries_replace_earlier_ones() {
    let frames = [
        frame(1, vec![entry(11, 1, b"a"), entry(12, 1, b"b"), entry(13, 1, b"c")]),
        frame(2, vec![entry(12, 2, b"B")]),
    ];
    let found = scanned(file(10, &frames), 10).unwrap();
    let entries: Vec<_> =
        found.entries.iter().map(|entry| (entry.index, entry.term, &entry.data[..])).collect();
    assert_eq!(entries, [(11, 1, &b"a"[..]), (12, 2, &b"B"[..])]);
    assert_eq!(found.hard_state.term, 2);
}

#[test]
fn batches_come_back() {
    let topic = TopicRecord { name: "t".into(), topic_id: Uuid([1; 16]), ..Default::default() };
    let records: Vec<MetadataRecord> = vec![topic.into(), NoOpRecord::default().into()];
    let data = batch::encode(&records).unwrap();
    assert_eq!(batch::decode(data.clone()).unwrap(), records);
    let mut newer = data.to_vec();
    newer[0] = 1;
    assert!(batch::decode(newer.into()).is_err());
    assert!(batch::decode(data.slice(..data.len() - 1)).is_err());
}

#[test]
fn an_entry_has_a_limit() {
    let name = Str::from("x".repeat(30_000));
    let record: MetadataRecord = TopicRecord { name, ..Default::default() }.into();
    let records = vec![record; 300];
    assert!(batch::encode(&records[..270]).is_ok());
    assert!(batch::encode(&records).is_err());
}
