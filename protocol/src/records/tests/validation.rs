//! What a producer may and may not send.

use bytes::Bytes;

use super::{NOW_MS, built, three, with_header};
use crate::error::ErrorCode;
use crate::records::{
    BatchBuilder, BatchHeader, Compression, ProduceRules, RECORD_ERRORS_MAX, RecordBatch, TimestampType,
    validate,
};

fn rules() -> ProduceRules {
    ProduceRules::at(NOW_MS)
}

fn code(bytes: Bytes, rules: &ProduceRules) -> ErrorCode {
    validate(bytes, rules).map_or_else(|refused| refused.code, |_| ErrorCode::NONE)
}

fn code_with(change: impl FnOnce(&mut BatchHeader)) -> ErrorCode {
    code(with_header(&built(three(Compression::None)), change), &rules())
}

#[test]
fn a_good_batch_passes_in_every_codec() {
    for codec in Compression::ALL {
        let valid = validate(three(codec).build().unwrap(), &rules()).unwrap();
        assert_eq!(valid.header().max_timestamp, NOW_MS + 5, "{codec}");
        assert_eq!(valid.needs_recompression(), None);
    }
}

#[test]
fn header_faults_have_kafkas_codes() {
    assert_eq!(code_with(|_| ()), ErrorCode::NONE);
    assert_eq!(code_with(|h| h.base_offset = 1), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| h.attributes = h.attributes.with_control(true)), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| h.records_count = 2), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| h.records_count = -1), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| (h.records_count, h.last_offset_delta) = (0, -1)), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| (h.records_count, h.last_offset_delta) = (4, 3)), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| (h.records_count, h.last_offset_delta) = (2, 1)), ErrorCode::INVALID_RECORD);
    assert_eq!(
        code_with(|h| (h.records_count, h.last_offset_delta) = (i32::MAX, i32::MAX - 1)),
        ErrorCode::INVALID_RECORD
    );
    assert_eq!(code_with(|h| h.last_offset_delta = i32::MAX), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| h.base_sequence = -1), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| h.magic = 1), ErrorCode::INVALID_RECORD);
    assert_eq!(code_with(|h| h.magic = 3), ErrorCode::CORRUPT_MESSAGE);
    assert_eq!(code_with(|h| h.attributes.0 |= 0b111), ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
    let as_gzip = |h: &mut BatchHeader| h.attributes = h.attributes.with_compression(Compression::Gzip);
    assert_eq!(code_with(as_gzip), ErrorCode::INVALID_RECORD);
}

#[test]
fn exactly_one_intact_batch() {
    let one = three(Compression::None).build().unwrap();
    assert_eq!(code(Bytes::new(), &rules()), ErrorCode::INVALID_RECORD);
    assert_eq!(code(one.slice(..one.len() - 1), &rules()), ErrorCode::INVALID_RECORD);
    assert_eq!(code([&one[..], &one[..]].concat().into(), &rules()), ErrorCode::INVALID_RECORD);
    assert_eq!(code(vec![0; 200].into(), &rules()), ErrorCode::CORRUPT_MESSAGE);
    let mut damaged = one.to_vec();
    damaged[70] ^= 1;
    assert_eq!(code(damaged.into(), &rules()), ErrorCode::CORRUPT_MESSAGE);
}

#[test]
fn the_size_limit_is_inclusive() {
    let batch = three(Compression::None).build().unwrap();
    let at = |max_message_bytes| ProduceRules { max_message_bytes, ..rules() };
    assert_eq!(code(batch.clone(), &at(batch.len())), ErrorCode::NONE);
    assert_eq!(code(batch.clone(), &at(batch.len() - 1)), ErrorCode::MESSAGE_TOO_LARGE);
}

#[test]
fn zstd_needs_its_version() {
    let old = ProduceRules { zstd_allowed: false, ..rules() };
    assert_eq!(
        code(three(Compression::Zstd).build().unwrap(), &old),
        ErrorCode::UNSUPPORTED_COMPRESSION_TYPE
    );
    assert_eq!(code(three(Compression::Lz4).build().unwrap(), &old), ErrorCode::NONE);
}

#[test]
fn compacted_topics_name_the_records_without_key() {
    for codec in Compression::ALL {
        let compacted = ProduceRules { compacted: true, ..rules() };
        let refused = validate(three(codec).build().unwrap(), &compacted).unwrap_err();
        assert_eq!(refused.code, ErrorCode::INVALID_RECORD);
        let named: Vec<i32> = refused.record_errors.iter().map(|error| error.batch_index).collect();
        assert_eq!(named, [1], "{codec}");
    }
}

#[test]
fn a_refusal_names_only_so_many_records() {
    let mut batch = BatchBuilder::new();
    for _ in 0..=RECORD_ERRORS_MAX {
        batch.push(NOW_MS, None, None, &[]);
    }
    let refused = validate(batch.build().unwrap(), &ProduceRules { compacted: true, ..rules() }).unwrap_err();
    assert_eq!(refused.record_errors.len(), RECORD_ERRORS_MAX);
    assert!(refused.message.contains("101"), "{}", refused.message);
}

#[test]
fn timestamps_must_be_near_now() {
    let bounded = ProduceRules { timestamp_before_max_ms: 1000, timestamp_after_max_ms: 50, ..rules() };
    let at = |timestamp| {
        let mut batch = BatchBuilder::new();
        batch.push(timestamp, None, None, &[]);
        code(batch.build().unwrap(), &bounded)
    };
    for good in [NOW_MS, NOW_MS - 1000, NOW_MS + 50, -1] {
        assert_eq!(at(good), ErrorCode::NONE, "{good}");
    }
    for bad in [NOW_MS - 1001, NOW_MS + 51, 0, i64::MAX, i64::MIN] {
        assert_eq!(at(bad), ErrorCode::INVALID_TIMESTAMP, "{bad}");
    }
}

#[test]
fn under_the_brokers_clock_any_timestamp_passes() {
    let stamping =
        ProduceRules { timestamp_type: TimestampType::LogAppendTime, now_ms: NOW_MS + 1, ..rules() };
    let mut batch = BatchBuilder::new();
    batch.push(5, None, None, &[]);
    batch.push(i64::MAX, None, None, &[]);
    assert_eq!(code(batch.build().unwrap(), &stamping), ErrorCode::NONE);
}

#[test]
fn a_producer_may_not_claim_the_broker_clock() {
    let claimed =
        code_with(|h| h.attributes = h.attributes.with_timestamp_type(TimestampType::LogAppendTime));
    assert_eq!(claimed, ErrorCode::INVALID_TIMESTAMP);
}

#[test]
fn a_producer_may_not_claim_the_broker_clock_unwalked_either() {
    let unwalked = ProduceRules { walk_compressed: false, ..rules() };
    let claimed = with_header(&built(three(Compression::Gzip)), |h| {
        h.attributes = h.attributes.with_timestamp_type(TimestampType::LogAppendTime);
    });
    assert_eq!(code(claimed, &unwalked), ErrorCode::INVALID_TIMESTAMP);
}

#[test]
fn a_false_max_timestamp_is_put_right() {
    for codec in [Compression::None, Compression::Gzip] {
        let lying = with_header(&built(three(codec)), |h| h.max_timestamp = i64::MAX);
        let valid = validate(lying, &rules()).unwrap();
        assert_eq!(valid.header().max_timestamp, NOW_MS + 5);
        let mut stored = valid.batch().bytes().clone();
        assert_eq!(RecordBatch::split_from(&mut stored).unwrap().header().max_timestamp, NOW_MS + 5);
    }
}

#[test]
fn a_topic_codec_asks_for_recompression() {
    let zstd = ProduceRules { compression: Some(Compression::Zstd), ..rules() };
    assert_eq!(
        validate(three(Compression::Zstd).build().unwrap(), &zstd).unwrap().needs_recompression(),
        None
    );
    let valid = validate(three(Compression::Lz4).build().unwrap(), &zstd).unwrap();
    assert_eq!(valid.needs_recompression(), Some(Compression::Zstd));
    let valid = valid.recompressed(Some(1), &zstd).unwrap();
    assert_eq!(valid.batch().records().map(|record| record.unwrap().offset).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn recompression_may_not_exceed_the_limit() {
    let batch = three(Compression::Zstd).build().unwrap();
    let plain =
        ProduceRules { compression: Some(Compression::None), max_message_bytes: batch.len(), ..rules() };
    let refused = validate(batch, &plain).unwrap().recompressed(None, &plain).unwrap_err();
    assert_eq!(refused.code, ErrorCode::MESSAGE_TOO_LARGE);
}

#[test]
fn header_validation_believes_compressed_blocks() {
    let garbage = super::over_block(Compression::Lz4, 3, b"no lz4 at all");
    assert_eq!(code(garbage.clone(), &rules()), ErrorCode::INVALID_RECORD);
    let believing = ProduceRules { walk_compressed: false, ..rules() };
    assert_eq!(code(garbage, &believing), ErrorCode::NONE);
    let plain = super::over_block(Compression::None, 3, b"no records");
    assert_eq!(code(plain, &believing), ErrorCode::INVALID_RECORD);
}
