//! What the generated code owes its callers: ignorable and other fields, tags across versions, sharing.

use bytes::Bytes;

use super::*;
use crate::types::{Records, Str, Uuid};
use crate::wire::{DecodeError, EncodeError, Reader, Writer};

fn encoded<M: Message>(message: &M, version: i16) -> Result<Bytes, EncodeError> {
    let mut w = Writer::new();
    message.encode(&mut w, version).map(|()| w.into_bytes())
}

fn decoded<M: Message>(bytes: &Bytes, version: i16) -> Result<M, DecodeError> {
    M::decode(&mut Reader::new(bytes.clone()), version)
}

#[test]
fn a_field_the_version_lacks_is_an_error_unless_ignorable() {
    let static_member = HeartbeatRequest { group_instance_id: Some("i".into()), ..Default::default() };
    let field = "HeartbeatRequest.GroupInstanceId";
    assert_eq!(encoded(&static_member, 2), Err(EncodeError::NotInVersion { field, version: 2 }));
    assert!(encoded(&static_member, 3).is_ok());
    // The topic id of a metadata response is ignorable: older clients don't get it.
    let topic = metadata_response::MetadataResponseTopic { topic_id: Uuid([1; 16]), ..Default::default() };
    let response = MetadataResponse { topics: vec![topic], ..Default::default() };
    let old: MetadataResponse = decoded(&encoded(&response, 9).unwrap(), 9).unwrap();
    assert_eq!(old.topics[0].topic_id, Uuid::ZERO);
}

#[test]
fn null_is_refused_where_a_version_has_none() {
    let all_topics = MetadataRequest { topics: None, ..Default::default() };
    let field = "MetadataRequest.Topics";
    assert_eq!(encoded(&all_topics, 0), Err(EncodeError::Null { field, version: 0 }));
    assert_eq!(decoded::<MetadataRequest>(&encoded(&all_topics, 1).unwrap(), 1).unwrap().topics, None);
    let null_at_0 = Bytes::from_static(b"\xff\xff\xff\xff");
    assert_eq!(decoded::<MetadataRequest>(&null_at_0, 0), Err(DecodeError::Null { at: 4 }));
}

#[test]
fn defaults_are_the_schemas() {
    assert_eq!(FetchRequest::default().max_bytes, i32::MAX);
    assert_eq!(FetchRequest::default().session_epoch, -1);
    assert_eq!(MetadataRequest::default().topics, Some(vec![]));
    assert!(MetadataRequest::default().allow_auto_topic_creation);
    assert_eq!(ProduceRequest::default().transactional_id, None);
    assert_eq!(fetch_response::PartitionData::default().records, None);
    assert_eq!(JoinGroupResponse::default().protocol_name, Some(Str::default()));
}

#[test]
fn a_tagged_field_at_its_default_is_not_written() {
    let plain = ApiVersionsResponse::default();
    let bytes = encoded(&plain, 3).unwrap();
    assert_eq!(bytes, &b"\0\0\x01\0\0\0\0\0"[..]);
    let tagged = ApiVersionsResponse { finalized_features_epoch: 3, ..Default::default() };
    assert_eq!(encoded(&tagged, 3).unwrap(), &b"\0\0\x01\0\0\0\0\x01\x01\x08\0\0\0\0\0\0\0\x03"[..]);
}

#[test]
fn a_known_tag_at_a_lower_version_is_kept_as_unknown() {
    // Fetch v12 with tag 1 of v15 (ReplicaState) after the fields.
    let mut bytes = encoded(&FetchRequest::default(), 12).unwrap().to_vec();
    assert_eq!(bytes.pop(), Some(0));
    bytes.extend(b"\x01\x01\x02hi");
    let bytes = Bytes::from(bytes);
    let request: FetchRequest = decoded(&bytes, 12).unwrap();
    assert_eq!(request.replica_state, Default::default());
    assert_eq!(request.unknown_tags.iter().collect::<Vec<_>>(), [(1, &Bytes::from_static(b"hi"))]);
    assert_eq!(encoded(&request, 12), Ok(bytes));
}

#[test]
fn unknown_tags_have_no_place_in_a_classic_version() {
    let mut request = HeartbeatRequest::default();
    request.unknown_tags.insert(3, Bytes::new());
    assert_eq!(encoded(&request, 3), Err(EncodeError::TagsNotAllowed { version: 3 }));
    assert!(encoded(&request, 4).is_ok());
}

#[test]
fn record_bytes_pass_through_both_ways() {
    let batch = Bytes::from(vec![9; 4_096]);
    let partition =
        fetch_response::PartitionData { records: Some(Records::from(batch.clone())), ..Default::default() };
    let topic = fetch_response::FetchableTopicResponse { partitions: vec![partition], ..Default::default() };
    let mut w = Writer::new();
    FetchResponse { responses: vec![topic], ..Default::default() }.encode(&mut w, 18).unwrap();
    let bufs = w.into_bufs();
    assert!(bufs.iter().any(|buf| buf.as_ptr() == batch.as_ptr()), "copied on the way out");

    let partition =
        produce_request::PartitionProduceData { index: 0, records: Some(batch), ..Default::default() };
    let topic = produce_request::TopicProduceData { partition_data: vec![partition], ..Default::default() };
    let bytes = encoded(&ProduceRequest { topic_data: vec![topic], ..Default::default() }, 13).unwrap();
    let request: ProduceRequest = decoded(&bytes, 13).unwrap();
    let records = request.topic_data[0].partition_data[0].records.as_ref().unwrap();
    assert!(bytes.as_ptr_range().contains(&records.as_ptr()), "copied on the way in");
}

#[test]
fn version_ranges() {
    let range = VersionRange::new(2, 5);
    assert!(range.contains(2) && range.contains(5) && !range.contains(1) && !range.contains(6));
    assert_eq!(range.intersect(VersionRange::new(4, 9)), Some(VersionRange::new(4, 5)));
    assert_eq!(range.intersect(VersionRange::new(6, 9)), None);
}

fn codes(response: &impl Response) -> Vec<i16> {
    let mut codes = Vec::new();
    response.visit_error_codes(&mut |code| codes.push(code.code()));
    codes
}

#[test]
fn every_error_code_of_a_response_is_visited() {
    use produce_response::{PartitionProduceResponse, TopicProduceResponse};
    assert_eq!(codes(&HeartbeatResponse { error_code: 27, ..Default::default() }), [27]);
    assert_eq!(codes(&ProduceResponse::default()), [], "a response without topics has no code of its own");
    let partition = |error_code| PartitionProduceResponse { error_code, ..Default::default() };
    let topic = |codes: &[i16]| TopicProduceResponse {
        partition_responses: codes.iter().map(|code| partition(*code)).collect(),
        ..Default::default()
    };
    let response = ProduceResponse { responses: vec![topic(&[0, 6]), topic(&[87])], ..Default::default() };
    assert_eq!(codes(&response), [0, 6, 87]);
}

#[test]
fn error_codes_at_every_depth_and_under_other_names_are_visited() {
    use describe_log_dirs_response::DescribeLogDirsResult;
    use share_fetch_response::{PartitionData, ShareFetchableTopicResponse};
    let result = DescribeLogDirsResult { error_code: 56, ..Default::default() };
    let response = DescribeLogDirsResponse { error_code: 31, results: vec![result], ..Default::default() };
    assert_eq!(codes(&response), [31, 56]);
    let partition = PartitionData { error_code: 3, acknowledge_error_code: 121, ..Default::default() };
    let topic = ShareFetchableTopicResponse { partitions: vec![partition], ..Default::default() };
    let response = ShareFetchResponse { responses: vec![topic], ..Default::default() };
    assert_eq!(codes(&response), [0, 3, 121]);
}
