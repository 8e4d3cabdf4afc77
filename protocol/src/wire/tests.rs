//! Primitive encodings at their edges, limits, sharing, tagged fields.

use bytes::Bytes;

use super::*;
use crate::limits::{ARRAY_LEN_MAX, SHARE_BYTES_MIN, STRING_BYTES_MAX, TAGS_LEN_MAX};
use crate::types::{Records, Str};

fn reader(bytes: &[u8]) -> Reader {
    Reader::new(Bytes::copy_from_slice(bytes))
}

fn written<T: Wire>(value: &T, flexible: bool) -> Vec<u8> {
    let mut w = Writer::new();
    value.write(&mut w, 0, flexible).unwrap();
    w.into_bytes().to_vec()
}

#[test]
fn uvarints_at_every_width() {
    for (value, bytes) in [
        (0, &[0][..]),
        (127, &[0x7f]),
        (128, &[0x80, 1]),
        (16_383, &[0xff, 0x7f]),
        (16_384, &[0x80, 0x80, 1]),
        (u32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
    ] {
        let mut w = Writer::new();
        w.put_uvarint(value);
        assert_eq!(w.into_bytes(), bytes);
        assert_eq!(reader(bytes).uvarint(), Ok(value));
    }
}

#[test]
fn a_uvarint_over_32_bits_or_without_an_end_is_refused() {
    for bytes in [&[0xff, 0xff, 0xff, 0xff, 0x10][..], &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80]] {
        assert_eq!(reader(bytes).uvarint(), Err(DecodeError::Varint { at: 0 }));
    }
    assert!(matches!(reader(&[0x80]).uvarint(), Err(DecodeError::Truncated { at: 1, .. })));
}

#[test]
fn a_padded_uvarint_is_read_as_kafka_does() {
    assert_eq!(reader(&[0x81, 0x00]).uvarint(), Ok(1));
}

#[test]
fn strings_and_nulls() {
    assert_eq!(written(&Str::from("ab"), false), b"\0\x02ab");
    assert_eq!(written(&Str::from("ab"), true), b"\x03ab");
    assert_eq!(reader(b"\xff\xff").opt_string(false), Ok(None));
    assert_eq!(reader(b"\x80\x00").opt_string(false), Ok(None), "any negative length is null");
    assert_eq!(reader(b"\0").opt_string(true), Ok(None));
    assert_eq!(Str::read(&mut reader(b"\0"), 0, true), Err(DecodeError::Null { at: 1 }));
    assert_eq!(reader(b"\0\x01\xff").opt_string(false), Err(DecodeError::Utf8 { at: 2 }));
}

#[test]
fn strings_end_at_their_limit_both_ways() {
    let longest = Str::from("x".repeat(STRING_BYTES_MAX));
    for flexible in [false, true] {
        assert_eq!(Str::read(&mut reader(&written(&longest, flexible)), 0, flexible), Ok(longest.clone()));
    }
    let len = STRING_BYTES_MAX + 1;
    let over = Str::from("x".repeat(len));
    for flexible in [false, true] {
        let error = over.write(&mut Writer::new(), 0, flexible);
        assert_eq!(error, Err(EncodeError::TooLong { len, max: STRING_BYTES_MAX }));
    }
    let mut bytes = Writer::new();
    bytes.put_uvarint(len as u32 + 1);
    bytes.put_slice(over.as_bytes());
    let error = reader(&bytes.into_bytes()).opt_string(true);
    assert_eq!(error, Err(DecodeError::StringTooLong { at: 3, len }));
}

#[test]
fn decoded_strings_and_bytes_share_the_buffer() {
    let buf = Bytes::from_static(b"\x05abcd");
    let bytes = Bytes::read(&mut Reader::new(buf.clone()), 0, true).unwrap();
    assert_eq!(bytes.as_ptr(), buf[1..].as_ptr());
    let text = Str::read(&mut Reader::new(buf.clone()), 0, true).unwrap();
    assert_eq!(text.as_bytes().as_ptr(), buf[1..].as_ptr());
}

#[test]
fn a_count_is_held_against_the_bytes_there_are() {
    let count = |n: u32| [&n.to_be_bytes()[..], &[0; 64]].concat();
    assert_eq!(Vec::<i32>::read(&mut reader(&count(16)), 0, false).unwrap().len(), 16);
    let error = Vec::<i32>::read(&mut reader(&count(17)), 0, false);
    assert_eq!(error, Err(DecodeError::Truncated { at: 4, needed: 68, left: 64 }));
    assert_eq!(Vec::<i32>::read(&mut reader(&count(u32::MAX)), 0, false), Err(DecodeError::Null { at: 4 }));
    let error = Vec::<i8>::read(&mut reader(&count(i32::MAX as u32)), 0, false);
    assert_eq!(error, Err(DecodeError::TooMany { at: 4, len: i32::MAX as usize, max: ARRAY_LEN_MAX }));
}

#[test]
fn arrays_count_what_they_take_in_memory_and_end_at_the_readers_limit() {
    // Two arrays of 3 empty strings.
    let arrays = [0, 0, 0, 3, 0, 0, 0, 0, 0, 0].repeat(2);
    let bytes = 6 * size_of::<Str>();
    let read = |max| {
        let mut r = reader(&arrays).with_array_bytes_max(max);
        let read = (0..2).try_for_each(|_| Vec::<Str>::read(&mut r, 0, false).map(drop));
        read.map(|()| r.array_bytes())
    };
    assert_eq!(read(bytes), Ok(bytes));
    assert_eq!(read(bytes - 1), Err(DecodeError::ArraysTooLarge { at: 14, max: bytes - 1 }));
}

#[test]
fn an_array_reaches_its_limit() {
    let mut bytes = (ARRAY_LEN_MAX as u32).to_be_bytes().to_vec();
    bytes.resize(4 + ARRAY_LEN_MAX, 7);
    assert_eq!(Vec::<i8>::read(&mut reader(&bytes), 0, false).unwrap().len(), ARRAY_LEN_MAX);
    bytes[..4].copy_from_slice(&(ARRAY_LEN_MAX as u32 + 1).to_be_bytes());
    bytes.push(7);
    assert!(matches!(Vec::<i8>::read(&mut reader(&bytes), 0, false), Err(DecodeError::TooMany { .. })));
}

#[test]
fn large_shared_bytes_are_not_copied_and_small_ones_are() {
    let large = Bytes::from(vec![7; SHARE_BYTES_MIN]);
    let mut w = Writer::new();
    w.put_i16(1);
    w.put_shared(large.clone());
    w.put_shared(Bytes::from_static(b"small"));
    w.put_i8(2);
    w.put_shared(large.clone());
    assert_eq!(w.len(), 2 + 5 + 1 + 2 * SHARE_BYTES_MIN);
    let bufs = w.into_bufs();
    assert_eq!(bufs.len(), 4);
    assert_eq!(&bufs[0][..], b"\0\x01");
    assert_eq!(bufs[1].as_ptr(), large.as_ptr());
    assert_eq!(&bufs[2][..], b"small\x02");
    assert_eq!(bufs[3].as_ptr(), large.as_ptr());
}

#[test]
fn a_size_written_last_lands_in_front_of_shared_bytes() {
    let mut w = Writer::new();
    w.put_i32(0);
    w.put_shared(vec![7; 1_000].into());
    w.set_i32(0, 1_000);
    assert_eq!(w.into_bytes()[..5], [0, 0, 3, 0xe8, 7]);
}

#[test]
fn records_in_pieces_are_one_field() {
    let records = Records::from(vec![Bytes::from(vec![1; 600]), Bytes::new(), Bytes::from(vec![2; 3])]);
    let bytes = written(&records, false);
    assert_eq!(bytes[..4], 603u32.to_be_bytes());
    assert_eq!(Records::read(&mut reader(&bytes), 0, false), Ok(records));
}

#[test]
fn a_writer_without_bytes_has_no_pieces() {
    assert!(Writer::new().is_empty());
    assert!(Writer::new().into_bufs().is_empty());
    assert!(Writer::new().into_bytes().is_empty());
}

#[test]
fn tags_are_written_by_rising_number_known_or_not() {
    let mut unknown = UnknownTags::default();
    unknown.insert(9, Bytes::from_static(b"n"));
    unknown.insert(1, Bytes::from_static(b"o"));
    let mut tags = TagWriter::default();
    tags.field(5).put_i8(6);
    tags.field(0).put_i8(7);
    let mut w = Writer::new();
    tags.finish(&unknown, &mut w).unwrap();
    assert_eq!(&w.into_bytes()[..], b"\x04\0\x01\x07\x01\x01o\x05\x01\x06\x09\x01n");
}

#[test]
fn an_unknown_tag_can_not_shadow_a_known_one() {
    let mut unknown = UnknownTags::default();
    unknown.insert(5, Bytes::new());
    let mut tags = TagWriter::default();
    tags.field(5).put_i8(6);
    assert_eq!(tags.finish(&unknown, &mut Writer::new()), Err(EncodeError::TagClash { tag: 5 }));
}

#[test]
fn a_tagged_field_ends_where_its_size_says() {
    // One tag of size 3: a reader of it sees 3 bytes and no more.
    let mut r = reader(b"\x01\x00\x03abcd");
    let mut tags = TagReader::new(&mut r).unwrap();
    assert_eq!(tags.next(&mut r), Ok(Some(0)));
    assert_eq!(r.remaining(), 3);
    assert!(matches!(r.i32(), Err(DecodeError::Truncated { left: 3, .. })));
    r.i16().unwrap();
    assert_eq!(tags.end(&mut r), Err(DecodeError::TagSize { tag: 0, at: 5, left: 1 }));
}

#[test]
fn a_section_of_too_many_tags_or_too_large_a_one_is_refused() {
    let section = |len: usize| {
        let mut w = Writer::new();
        w.put_uvarint(len as u32);
        (0..len).for_each(|tag| {
            w.put_uvarint(tag as u32);
            w.put_uvarint(0);
        });
        UnknownTags::read(&mut reader(&w.into_bytes()))
    };
    assert_eq!(section(TAGS_LEN_MAX).unwrap().iter().count(), TAGS_LEN_MAX);
    assert!(matches!(section(TAGS_LEN_MAX + 1), Err(DecodeError::TooMany { max: TAGS_LEN_MAX, .. })));
    assert!(matches!(
        UnknownTags::read(&mut reader(b"\x01\x00\x05abcd")),
        Err(DecodeError::Truncated { .. })
    ));
}

#[test]
fn tags_that_fall_are_kept_sorted() {
    let unknown = UnknownTags::read(&mut reader(b"\x03\x09\x01a\x02\x01b\x09\x01c")).unwrap();
    let tags: Vec<_> = unknown.iter().map(|(tag, bytes)| (tag, bytes[0])).collect();
    assert_eq!(tags, [(2, b'b'), (9, b'a'), (9, b'c')]);
}

/// They weren't counted: 100 MB of them were 3 GB in memory.
#[test]
fn unknown_fields_count_as_what_they_take_in_memory() {
    let sections = b"\x05\x01\0\x02\0\x03\0\x04\0\x05\0".repeat(100);
    let read = |max| {
        let mut r = reader(&sections).with_array_bytes_max(max);
        let read: Result<Vec<_>, _> = (0..100).map(|_| UnknownTags::read(&mut r)).collect();
        read.map(|_| r.array_bytes())
    };
    let bytes = read(usize::MAX).unwrap();
    assert!(bytes >= 500 * size_of::<(u32, Bytes)>(), "{bytes}");
    assert_eq!(read(bytes), Ok(bytes));
    assert!(matches!(read(bytes - 1), Err(DecodeError::ArraysTooLarge { .. })));
}
