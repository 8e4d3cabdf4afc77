//! No bytes make a decoder allocate more than they justify, measured with a counting allocator.
//!
//! Alone in its binary: the allocator counts everything the process does.

#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::messages::{FetchRequest, Message, MetadataRequest, ProduceRequest};
use protocol::wire::Reader;
use protocol::{for_each_record, with_request, with_response};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// A global allocator is unsafe by its trait; this one only counts.
#[allow(unsafe_code)]
// SAFETY: every call is passed to `System` unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promises are those `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `ptr` came from `System` with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes held at once while decoding `bytes`, the result included.
fn peak<M: Message>(bytes: &Bytes, version: i16) -> usize {
    let mut r = Reader::new(bytes.clone());
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let decoded = M::decode(&mut r, version);
    let peak = PEAK.load(Relaxed) - before;
    drop(decoded);
    peak
}

/// Bytes of memory a byte of input may take. The most expensive one is the element of an array that is a few
/// empty fields on the wire and a struct of vectors in memory, while that array doubles.
const BYTES_PER_BYTE: usize = 200;
/// What an almost empty message may take: a few elements, or one unknown tag.
const BYTES_FREE: usize = 1_024;

fn check<M: Message>(bytes: &Bytes) -> usize {
    let mut most = 0;
    for version in M::VERSIONS.min..=M::VERSIONS.max {
        let peak = peak::<M>(bytes, version);
        let allowed = BYTES_FREE + BYTES_PER_BYTE * bytes.len();
        assert!(
            peak <= allowed,
            "{} v{version}: {peak} bytes for {} of {:x?}",
            M::NAME,
            bytes.len(),
            &bytes[..8]
        );
        most = most.max(peak);
    }
    most
}

fn check_all(bytes: &Bytes) -> usize {
    let mut most = 0;
    for key in ApiKey::all() {
        most = most.max(with_request!(key, M => check::<M>(bytes), _ => 0));
        most = most.max(with_response!(key, M => check::<M>(bytes), _ => 0));
    }
    for_each_record!(M => most = most.max(check::<M>(bytes)));
    most
}

// One test: a second one would run beside it and be counted.
#[test]
fn decoding_allocates_no_more_than_the_bytes_justify() {
    // Four bytes that claim two thousand million topics.
    assert_eq!(peak::<MetadataRequest>(&Bytes::from_static(b"\x7f\xff\xff\xff"), 1), 0);
    // A million topics in a message of a thousand bytes.
    let mut claim = vec![0; 1_000];
    claim[0..4].copy_from_slice(&[0, 15, 0x42, 0x40]);
    assert_eq!(peak::<MetadataRequest>(&claim.into(), 1), 0);

    // Bytes that repeat make every length and count the same: empty, a few, more than there is, null, negative.
    for len in [8, 100, 4_000] {
        for byte in [0, 1, 2, 3, 5, 0x10, 0x40, 0x7f, 0x80, 0xff] {
            check_all(&vec![byte; len].into());
        }
        for pattern in
            [&[0, 0, 0, 1][..], &[0, 0, 3, 0], &[0, 1], &[1, 2], &[0xff, 0x07], &[0xc0, 0x84, 0x3d]]
        {
            check_all(&pattern.iter().copied().cycle().take(len).collect());
        }
    }

    // Arrays that really are large: what is allocated ahead ends at a thousand elements, the rest follows the
    // bytes. Produce v9: null transactional id, acks, timeout, many topics of an empty name and no partition.
    for topics in [100u32, 10_000, 300_000] {
        let mut bytes = vec![0, 0, 1, 0, 0, 0, 9];
        uvarint(&mut bytes, topics + 1);
        (0..topics).for_each(|_| bytes.extend([1, 1, 0]));
        bytes.push(0);
        let bytes = Bytes::from(bytes);
        assert!(ProduceRequest::decode(&mut Reader::new(bytes.clone()), 9).is_ok());
        check::<ProduceRequest>(&bytes);
        // Cut short at its end: as much work, the same bound.
        check::<ProduceRequest>(&bytes.slice(..bytes.len() - 2));
    }

    // Tagged fields: 2 bytes each.
    let mut bytes = vec![0; 0];
    uvarint(&mut bytes, 10_000);
    (0..10_000u32).for_each(|_| bytes.extend([100, 0]));
    let tags = Bytes::from(bytes);
    check::<FetchRequest>(&tags);
    assert!(peak::<protocol::messages::ListGroupsRequest>(&[&b"\x01\x01"[..], &tags].concat().into(), 5) > 0);
    check::<protocol::messages::ListGroupsRequest>(&[&b"\x01\x01"[..], &tags].concat().into());
}

fn uvarint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
