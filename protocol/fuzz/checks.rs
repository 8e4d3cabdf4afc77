//! What must hold for any bytes: the bodies of the fuzz targets, and of the test that replays their corpus.

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::header::RequestHeader;
use protocol::messages::Message;
use protocol::records::{ProduceRules, validate};
use protocol::wire::{Reader, Writer};
use protocol::with_request;

/// A request without its size, as a connection gets it. What decodes must encode, and to the same value.
pub(crate) fn request_decode(data: &[u8]) {
    let mut r = Reader::new(Bytes::copy_from_slice(data));
    let Ok(header) = RequestHeader::decode(&mut r) else { return };
    let mut w = Writer::new();
    header.encode(&mut w).expect("a decoded header encodes");
    let Some(key) = ApiKey::from_code(header.api_key) else { return };
    with_request!(key, M => body::<M>(&mut r, header.api_version), _ => ());
}

fn body<M: Message>(r: &mut Reader, version: i16) {
    let Ok(message) = M::decode(r, version) else { return };
    let mut w = Writer::new();
    message.encode(&mut w, version).expect("a decoded message encodes");
    let len = w.len();
    let bytes = w.into_bytes();
    assert_eq!(bytes.len(), len);
    let mut again = Reader::new(bytes);
    let decoded = M::decode(&mut again, version).expect("an encoded message decodes");
    assert_eq!(again.remaining(), 0);
    // Through text: a float may be NaN, which isn't itself.
    assert_eq!(format!("{decoded:?}"), format!("{message:?}"));
}

/// The records of one partition of a produce request; the first byte picks the topic's rules. What is accepted
/// must be readable to its last record.
pub(crate) fn batch_validate(data: &[u8]) {
    let Some((&choice, batch)) = data.split_first() else { return };
    let mut rules = ProduceRules::at(1_700_000_000_000);
    rules.compacted = choice & 1 != 0;
    rules.zstd_allowed = choice & 2 == 0;
    rules.walk_compressed = choice & 4 == 0;
    rules.decompressed_max = 1 << 20;
    let Ok(valid) = validate(Bytes::copy_from_slice(batch), &rules) else { return };
    let header = valid.header();
    let count = header.records_count as usize;
    // Records nobody has walked may still be anything; reading them must end all the same.
    let walked =
        rules.walk_compressed || header.attributes.compression() == Ok(protocol::records::Compression::None);
    let mut read = 0;
    for record in valid.batch().records_within(rules.decompressed_max) {
        match record {
            Ok(_) => read += 1,
            Err(error) if walked => panic!("accepted and unreadable: {error}"),
            Err(_) => return,
        }
        assert!(read <= count, "more records than the header says");
    }
    assert!(!walked || read == count, "{read} records of {count}");
}
