//! Consumer groups of KIP-848, share groups (KIP-932) and streams groups (KIP-1071), as with their features at level 0: UNSUPPORTED_VERSION.

use protocol::error::ErrorCode;
use protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse, ShareGroupDescribeRequest, ShareGroupDescribeResponse,
    ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse, StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse, StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse,
    consumer_group_describe_response, share_group_describe_response, streams_group_describe_response,
};

const CODE: i16 = ErrorCode::UNSUPPORTED_VERSION.code();

/// Answers ConsumerGroupHeartbeat 0-1.
pub fn consumer_heartbeat(_version: i16, _: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse {
    ConsumerGroupHeartbeatResponse { error_code: CODE, ..Default::default() }
}

/// Answers ShareGroupHeartbeat 1.
pub fn share_heartbeat(_version: i16, _: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse {
    ShareGroupHeartbeatResponse { error_code: CODE, ..Default::default() }
}

/// Answers StreamsGroupHeartbeat 0-1.
pub fn streams_heartbeat(_version: i16, _: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse {
    StreamsGroupHeartbeatResponse { error_code: CODE, ..Default::default() }
}

/// Answers ConsumerGroupDescribe 0-1: each group once.
pub fn consumer_describe(
    _version: i16,
    request: ConsumerGroupDescribeRequest,
) -> ConsumerGroupDescribeResponse {
    use consumer_group_describe_response::DescribedGroup;
    let group = |group_id| DescribedGroup { group_id, error_code: CODE, ..Default::default() };
    ConsumerGroupDescribeResponse {
        groups: request.group_ids.into_iter().map(group).collect(),
        ..Default::default()
    }
}

/// Answers ShareGroupDescribe 1: each group once.
pub fn share_describe(_version: i16, request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse {
    use share_group_describe_response::DescribedGroup;
    let group = |group_id| DescribedGroup { group_id, error_code: CODE, ..Default::default() };
    ShareGroupDescribeResponse {
        groups: request.group_ids.into_iter().map(group).collect(),
        ..Default::default()
    }
}

/// Answers StreamsGroupDescribe 0-1: each group once.
pub fn streams_describe(_version: i16, request: StreamsGroupDescribeRequest) -> StreamsGroupDescribeResponse {
    use streams_group_describe_response::DescribedGroup;
    let group = |group_id| DescribedGroup { group_id, error_code: CODE, ..Default::default() };
    StreamsGroupDescribeResponse {
        groups: request.group_ids.into_iter().map(group).collect(),
        ..Default::default()
    }
}
