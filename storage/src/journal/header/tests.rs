use super::*;

fn block() -> Vec<u8> {
    let mut block = vec![0; 4096];
    FileHeader { shard: 3, number: 9, journal: 0x1122_3344_5566_7788, start: 77 }.encode(&mut block);
    block
}

#[test]
fn a_header_is_read_as_it_was_written() {
    let read = FileHeader::decode(&block()).unwrap();
    assert_eq!(read, Some(FileHeader { shard: 3, number: 9, journal: 0x1122_3344_5566_7788, start: 77 }));
}

#[test]
fn what_is_no_header_is_none() {
    assert_eq!(FileHeader::decode(&[0; 4096]).unwrap(), None);
    assert_eq!(FileHeader::decode(&[]).unwrap(), None);
    for at in 0..HEADER_BYTES {
        let mut block = block();
        block[at] ^= 1;
        assert_eq!(FileHeader::decode(&block), Ok(None), "byte {at}");
    }
}

/// As it was before there were starts to tell.
#[test]
fn version_1_tells_no_start() {
    let mut block = vec![0; 4096];
    block[..12].copy_from_slice(b"RLJH\x01\x01\x00\x03\x00\x00\x00\x09");
    block[12..20].copy_from_slice(&5u64.to_be_bytes());
    let crc = crc32c::crc32c(&block[..20]);
    block[20..24].copy_from_slice(&crc.to_be_bytes());
    let header = FileHeader { shard: 3, number: 9, journal: 5, start: 0 };
    assert_eq!(FileHeader::decode(&block), Ok(Some(header)));
}

#[test]
fn a_later_version_is_refused() {
    let mut block = block();
    block[5] = VERSION + 1;
    let crc = crc32c::crc32c(&block[..HEADER_BYTES - 4]);
    block[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&crc.to_be_bytes());
    assert!(FileHeader::decode(&block).unwrap_err().contains("later release"));
}
