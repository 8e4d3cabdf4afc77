//! Kafka's error codes, as the table they are.

use super::ErrorCode;

/// One row: code, name, whether trying again may help, and a message for those who get no better one.
pub(super) type Row = (i16, &'static str, bool, &'static str);

macro_rules! codes {
    ($($code:literal $name:ident $retriable:literal $message:literal;)*) => {
        impl ErrorCode {
            $(#[doc = concat!($message, " (", $code, ").")]
            pub const $name: ErrorCode = ErrorCode($code);)*
        }

        /// By code; the first is -1.
        pub(super) static ROWS: &[Row] = &[$(($code, stringify!($name), $retriable, $message)),*];
    };
}

codes! {
    -1 UNKNOWN_SERVER_ERROR false "The server met an error it has no code for";
    0 NONE false "No error";
    1 OFFSET_OUT_OF_RANGE false "The offset is outside the range this log holds";
    2 CORRUPT_MESSAGE true "The record batch is damaged: its CRC, size or format is wrong";
    3 UNKNOWN_TOPIC_OR_PARTITION true "This server doesn't host this topic or partition";
    4 INVALID_FETCH_SIZE false "The fetch size is invalid";
    5 LEADER_NOT_AVAILABLE true "There is no leader for this partition right now";
    6 NOT_LEADER_OR_FOLLOWER true "This broker isn't the leader, or for fetches no replica, of this partition";
    7 REQUEST_TIMED_OUT true "The request timed out";
    8 BROKER_NOT_AVAILABLE false "The broker is not available";
    9 REPLICA_NOT_AVAILABLE true "The replica is not available on this broker";
    10 MESSAGE_TOO_LARGE false "The batch is larger than the topic allows";
    11 STALE_CONTROLLER_EPOCH false "The controller moved to another broker";
    12 OFFSET_METADATA_TOO_LARGE false "The metadata of the committed offset is too large";
    13 NETWORK_EXCEPTION true "The server disconnected before a response arrived";
    14 COORDINATOR_LOAD_IN_PROGRESS true "The coordinator is loading and can't answer yet";
    15 COORDINATOR_NOT_AVAILABLE true "The coordinator is not available";
    16 NOT_COORDINATOR true "This broker is not the coordinator";
    17 INVALID_TOPIC_EXCEPTION false "The topic name is invalid, or the topic may not be used so";
    18 RECORD_LIST_TOO_LARGE false "The batch is larger than a segment";
    19 NOT_ENOUGH_REPLICAS true "Fewer replicas are in sync than required";
    20 NOT_ENOUGH_REPLICAS_AFTER_APPEND true "Written, but to fewer in-sync replicas than required";
    21 INVALID_REQUIRED_ACKS false "acks must be -1, 0 or 1";
    22 ILLEGAL_GENERATION false "The group generation is not the current one";
    23 INCONSISTENT_GROUP_PROTOCOL false "No protocol, or protocol type, in common with the group";
    24 INVALID_GROUP_ID false "The group id is invalid";
    25 UNKNOWN_MEMBER_ID false "The group doesn't know this member";
    26 INVALID_SESSION_TIMEOUT false "The session timeout is outside what the broker allows";
    27 REBALANCE_IN_PROGRESS false "The group is rebalancing: rejoin";
    28 INVALID_COMMIT_OFFSET_SIZE false "The committed offset data is too large";
    29 TOPIC_AUTHORIZATION_FAILED false "Not authorized to access the topic";
    30 GROUP_AUTHORIZATION_FAILED false "Not authorized to access the group";
    31 CLUSTER_AUTHORIZATION_FAILED false "Not authorized to do this on the cluster";
    32 INVALID_TIMESTAMP false "The timestamp is outside the range the topic allows";
    33 UNSUPPORTED_SASL_MECHANISM false "The broker doesn't support this SASL mechanism";
    34 ILLEGAL_SASL_STATE false "The request doesn't fit the state of authentication";
    35 UNSUPPORTED_VERSION false "The version of the API, or a feature it needs, is not supported";
    36 TOPIC_ALREADY_EXISTS false "A topic of this name exists";
    37 INVALID_PARTITIONS false "The number of partitions is invalid";
    38 INVALID_REPLICATION_FACTOR false "The replication factor is below 1 or above the number of brokers";
    39 INVALID_REPLICA_ASSIGNMENT false "The replica assignment is invalid";
    40 INVALID_CONFIG false "The configuration is invalid";
    41 NOT_CONTROLLER true "This is not the active controller";
    42 INVALID_REQUEST false "The request is not one this version allows";
    43 UNSUPPORTED_FOR_MESSAGE_FORMAT false "The record format of this partition doesn't support this";
    44 POLICY_VIOLATION false "The request violates a policy";
    45 OUT_OF_ORDER_SEQUENCE_NUMBER false "The producer's sequence number is not the next one";
    46 DUPLICATE_SEQUENCE_NUMBER false "The sequence number was used before";
    47 INVALID_PRODUCER_EPOCH false "The producer epoch is older than the current one";
    48 INVALID_TXN_STATE false "The transaction's state doesn't allow this";
    49 INVALID_PRODUCER_ID_MAPPING false "The producer id doesn't belong to this transactional id";
    50 INVALID_TRANSACTION_TIMEOUT false "The transaction timeout is above transaction.max.timeout.ms";
    51 CONCURRENT_TRANSACTIONS true "Another transaction operation of this producer is still under way";
    52 TRANSACTION_COORDINATOR_FENCED false "A newer transaction coordinator has taken over";
    53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED false "Not authorized to use the transactional id";
    54 SECURITY_DISABLED false "Security features are disabled";
    55 OPERATION_NOT_ATTEMPTED false "Not attempted, because another operation of the batch failed";
    56 KAFKA_STORAGE_ERROR true "A disk error: the log is offline";
    57 LOG_DIR_NOT_FOUND false "The broker has no such log directory";
    58 SASL_AUTHENTICATION_FAILED false "SASL authentication failed";
    59 UNKNOWN_PRODUCER_ID false "The broker has no state of this producer id";
    60 REASSIGNMENT_IN_PROGRESS false "A partition reassignment is in progress";
    61 DELEGATION_TOKEN_AUTH_DISABLED false "Delegation tokens are not enabled";
    62 DELEGATION_TOKEN_NOT_FOUND false "There is no such delegation token";
    63 DELEGATION_TOKEN_OWNER_MISMATCH false "The principal is neither owner nor renewer of the token";
    64 DELEGATION_TOKEN_REQUEST_NOT_ALLOWED false "Delegation token requests are not allowed on this connection";
    65 DELEGATION_TOKEN_AUTHORIZATION_FAILED false "Not authorized to access the delegation token";
    66 DELEGATION_TOKEN_EXPIRED false "The delegation token has expired";
    67 INVALID_PRINCIPAL_TYPE false "The principal type is not supported";
    68 NON_EMPTY_GROUP false "The group is not empty";
    69 GROUP_ID_NOT_FOUND false "There is no such group";
    70 FETCH_SESSION_ID_NOT_FOUND true "There is no such fetch session";
    71 INVALID_FETCH_SESSION_EPOCH true "The fetch session epoch is not the next one";
    72 LISTENER_NOT_FOUND true "The leader has no listener of the name the request came in on";
    73 TOPIC_DELETION_DISABLED false "Topic deletion is disabled";
    74 FENCED_LEADER_EPOCH true "The leader epoch is older than the broker's";
    75 UNKNOWN_LEADER_EPOCH true "The leader epoch is newer than the broker's";
    76 UNSUPPORTED_COMPRESSION_TYPE false "The client doesn't support the compression type";
    77 STALE_BROKER_EPOCH false "The broker epoch is not the current one";
    78 OFFSET_NOT_AVAILABLE true "The new leader's high watermark has not caught up yet";
    79 MEMBER_ID_REQUIRED false "Join again with the member id given";
    80 PREFERRED_LEADER_NOT_AVAILABLE true "The preferred leader is not available";
    81 GROUP_MAX_SIZE_REACHED false "The group has its maximum number of members";
    82 FENCED_INSTANCE_ID false "Another member has taken over this group.instance.id";
    83 ELIGIBLE_LEADERS_NOT_AVAILABLE true "No eligible leader is available";
    84 ELECTION_NOT_NEEDED true "The partition needs no leader election";
    85 NO_REASSIGNMENT_IN_PROGRESS false "No partition reassignment is in progress";
    86 GROUP_SUBSCRIBED_TO_TOPIC false "A live group is subscribed to the topic";
    87 INVALID_RECORD false "A record failed the broker's validation";
    88 UNSTABLE_OFFSET_COMMIT true "A transaction still has offsets to commit here";
    89 THROTTLING_QUOTA_EXCEEDED true "The quota is exceeded: try again later";
    90 PRODUCER_FENCED false "A newer producer of the same transactional id has taken over";
    91 RESOURCE_NOT_FOUND false "There is no such resource";
    92 DUPLICATE_RESOURCE false "The resource is named twice";
    93 UNACCEPTABLE_CREDENTIAL false "The credential doesn't meet the criteria";
    94 INCONSISTENT_VOTER_SET false "Sender and receiver don't agree on the set of voters";
    95 INVALID_UPDATE_VERSION false "The version of the update is invalid";
    96 FEATURE_UPDATE_FAILED false "The features could not be updated";
    97 PRINCIPAL_DESERIALIZATION_FAILURE false "The principal of a forwarded request can't be read";
    98 SNAPSHOT_NOT_FOUND false "There is no such snapshot";
    99 POSITION_OUT_OF_RANGE false "The position is outside the snapshot";
    100 UNKNOWN_TOPIC_ID true "This server doesn't host this topic id";
    101 DUPLICATE_BROKER_REGISTRATION false "This broker id is already registered";
    102 BROKER_ID_NOT_REGISTERED false "This broker id is not registered";
    103 INCONSISTENT_TOPIC_ID true "The topic id doesn't match the topic's";
    104 INCONSISTENT_CLUSTER_ID false "The cluster id doesn't match";
    105 TRANSACTIONAL_ID_NOT_FOUND false "There is no such transactional id";
    106 FETCH_SESSION_TOPIC_ID_ERROR true "The fetch session uses topic ids and names by turns";
    107 INELIGIBLE_REPLICA false "A new in-sync replica is not eligible";
    108 NEW_LEADER_ELECTED false "The in-sync set was altered, and with it the leader";
    109 OFFSET_MOVED_TO_TIERED_STORAGE false "The offset has moved to tiered storage";
    110 FENCED_MEMBER_EPOCH false "The member epoch is fenced: rejoin";
    111 UNRELEASED_INSTANCE_ID false "Another member still holds this instance id";
    112 UNSUPPORTED_ASSIGNOR false "The group doesn't support the assignor";
    113 STALE_MEMBER_EPOCH false "The member epoch is old: ask again with the current one";
    114 MISMATCHED_ENDPOINT_TYPE false "The request went to the wrong type of endpoint";
    115 UNSUPPORTED_ENDPOINT_TYPE false "The endpoint type is not supported";
    116 UNKNOWN_CONTROLLER_ID false "There is no such controller";
    117 UNKNOWN_SUBSCRIPTION_ID false "The telemetry subscription has changed";
    118 TELEMETRY_TOO_LARGE false "The telemetry is larger than allowed";
    119 INVALID_REGISTRATION false "The controller refuses the broker's registration";
    120 TRANSACTION_ABORTABLE false "The transaction met an error and must be aborted";
    121 INVALID_RECORD_STATE false "The delivery state of the record doesn't allow the acknowledgement";
    122 SHARE_SESSION_NOT_FOUND true "There is no such share session";
    123 INVALID_SHARE_SESSION_EPOCH true "The share session epoch is not the next one";
    124 FENCED_STATE_EPOCH false "The share coordinator has a newer state epoch";
    125 INVALID_VOTER_KEY false "The voter key is not the receiver's";
    126 DUPLICATE_VOTER false "The voter is already in the set";
    127 VOTER_NOT_FOUND false "The voter is not in the set";
    128 INVALID_REGULAR_EXPRESSION false "The regular expression is invalid";
    129 REBOOTSTRAP_REQUIRED false "The client must bootstrap again";
    130 STREAMS_INVALID_TOPOLOGY false "The topology is invalid";
    131 STREAMS_INVALID_TOPOLOGY_EPOCH false "The topology epoch is invalid";
    132 STREAMS_TOPOLOGY_FENCED false "The topology epoch is outdated";
    133 SHARE_SESSION_LIMIT_REACHED true "There are as many share sessions as allowed";
    134 GROUP_DELETION_FAILED false "The group could not be deleted";
    135 STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED false "The topology description could not be stored";
    136 CONTROLLER_ID_NOT_REGISTERED false "This controller id is not registered";
}
