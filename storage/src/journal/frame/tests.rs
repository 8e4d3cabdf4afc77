use super::*;

/// A frame of two partitions and a floor.
pub(crate) fn frame(header: FrameHeader, payloads: &[&[u8]]) -> Vec<u8> {
    let payload_bytes = payloads.iter().map(|payload| payload.len()).sum();
    let bytes = frame_bytes(payloads.len(), payload_bytes);
    let mut frame = vec![0; bytes.next_multiple_of(BLOCK_BYTES)];
    let mut at = frame_bytes(payloads.len(), 0);
    for (index, payload) in payloads.iter().enumerate() {
        entry(index, payload.len()).encode(&mut frame, index);
        frame[at..at + payload.len()].copy_from_slice(payload);
        at += payload.len();
    }
    FrameHeader { entries: payloads.len() as u32, bytes: bytes as u32, ..header }.seal(&mut frame);
    frame
}

fn entry(index: usize, bytes: usize) -> Entry {
    Entry {
        kind: if bytes == 0 { EntryKind::Floor } else { EntryKind::Data },
        topic_id: Uuid([index as u8 + 1; 16]),
        partition: 7,
        leader_epoch: LeaderEpoch(3),
        base: Offset(1 << 40),
        segment: Offset(1 << 39),
        position: FilePos(1 << 33),
        bytes: bytes as u32,
    }
}

fn header() -> FrameHeader {
    FrameHeader { journal: 42, lap: 2, sequence: 1_000, floor: 900, entries: 0, bytes: 0 }
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let frame = frame(header(), &[b"first", b"", &[9; 5_000]]);
    assert_eq!(frame.len(), 2 * BLOCK_BYTES);
    let read = FrameHeader::peek(&frame).unwrap();
    assert_eq!((read.journal, read.lap, read.sequence, read.floor, read.entries), (42, 2, 1_000, 900, 3));
    assert_eq!(read.padded_bytes(), frame.len() as u64);
    let entries = read.open(&frame).unwrap();
    let (payloads, found): (Vec<&[u8]>, Vec<Entry>) =
        entries.iter().map(|(entry, at)| (&frame[*at..*at + entry.bytes as usize], *entry)).unzip();
    assert_eq!(payloads, [&b"first"[..], b"", &[9; 5_000]]);
    assert_eq!(found, [entry(0, 5), entry(1, 0), entry(2, 5_000)]);
}

#[test]
fn a_frame_with_an_old_sector_is_none() {
    let frame = frame(header(), &[&[7; 2_000], &[8; 3_000]]);
    let read = FrameHeader::peek(&frame).unwrap();
    for sector in 0..(read.bytes as usize).div_ceil(512) {
        let mut torn = frame.clone();
        torn[sector * 512..(sector + 1) * 512].fill(0);
        let opened = FrameHeader::peek(&torn).and_then(|header| header.open(&torn));
        assert_eq!(opened, None, "sector {sector}");
    }
}

#[test]
fn no_changed_byte_goes_unseen() {
    let frame = frame(header(), &[b"payload"]);
    let whole = FrameHeader::peek(&frame).unwrap();
    for at in 0..whole.bytes as usize {
        let mut changed = frame.clone();
        changed[at] ^= 0x10;
        let opened = FrameHeader::peek(&changed).and_then(|header| header.open(&changed));
        // The zeros in the header say nothing.
        assert!(opened.is_none() || (6..8).contains(&at), "byte {at}");
    }
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let mut frame = frame(header(), &[b"payload"]);
    frame[CRC_FROM..CRC_FROM + 4].copy_from_slice(&60u32.to_be_bytes());
    assert_eq!(FrameHeader::peek(&frame), None, "an entry doesn't fit");
    frame[CRC_FROM..CRC_FROM + 4].copy_from_slice(&u32::MAX.to_be_bytes());
    let huge = FrameHeader::peek(&frame).unwrap();
    assert_eq!(huge.open(&frame), None, "longer than what was read");
    assert_eq!(FrameHeader::peek(&frame[..HEADER_BYTES - 1]), None);
}
