use super::*;
use crate::log::core::LogCore;
use crate::{LogConfig, Offset};

/// Of a log of one batch.
fn sample() -> Bookmark {
    let mut core = LogCore::empty(Offset(7));
    let mut builder = protocol::records::BatchBuilder::new();
    builder.push(5, None, Some(b"value"), &[]);
    let batch = protocol::records::RecordBatch::parse(builder.build().unwrap()).unwrap();
    let origin = crate::log::core::Origin::Leader { epoch: crate::LeaderEpoch(3), now_ms: 9 };
    core.append(&batch, origin, &LogConfig::default(), 0, None).unwrap();
    Bookmark::of(&core).unwrap()
}

fn of(partition: i32) -> TopicPartition {
    TopicPartition::new("orders", partition)
}

fn file(bookmark: &Bookmark) -> Bytes {
    let logs = [of(0), of(1)];
    encode(logs.iter().map(|of| (of, Uuid([3; 16]), bookmark))).unwrap()
}

#[test]
fn what_is_written_is_read() {
    let bookmark = sample();
    let read = decode(&file(&bookmark)).unwrap();
    let expected = [0, 1].map(|partition| (of(partition), (Uuid([3; 16]), bookmark.clone())));
    assert_eq!(read, Bookmarks::from(expected));
    let marked = bookmark.parse().unwrap();
    assert_eq!((marked.next, marked.epochs), (Offset(8), vec![(crate::LeaderEpoch(3), Offset(7))]));
}

#[test]
fn a_file_is_the_same_on_every_machine() {
    let digest = crc32c::crc32c(&file(&sample()));
    assert_eq!(
        digest, 361394298,
        "what other machines, and earlier builds, wrote must stay readable, or VERSION go up"
    );
}

#[test]
fn whatever_is_wrong_is_told_and_never_read() {
    let file = file(&sample());
    for end in 0..file.len() {
        assert!(decode(&file[..end]).is_err(), "cut at {end}");
    }
    for at in (0..file.len()).filter(|at| !(6..8).contains(at) && !(12..16).contains(at)) {
        let mut changed = file.to_vec();
        changed[at] ^= 0x40;
        assert!(decode(&changed).is_err(), "changed at {at}");
    }
    // An archive that isn't one, whatever its CRC says.
    for at in HEAD_BYTES..file.len() {
        let mut changed = file.to_vec();
        changed[at] ^= 0xff;
        let crc = crc32c::crc32c(&changed[HEAD_BYTES..]);
        changed[8..12].copy_from_slice(&crc.to_be_bytes());
        // Sound or not: it is read without harm.
        drop(decode(&changed));
    }
}

#[test]
fn names_tell_the_shard() {
    assert_eq!(file_name(12), "ringlog-bookmarks-12");
    assert!(
        is_bookmarks("ringlog-bookmarks-12") && !is_bookmarks("ringlog-bookmarks-") && !is_bookmarks("x")
    );
}
