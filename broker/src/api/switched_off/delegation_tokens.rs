//! Delegation tokens (KIP-48): whoever isn't authenticated may not ask for any, and without SASL and TLS nobody is.

use protocol::error::ErrorCode;
use protocol::messages::{
    CreateDelegationTokenRequest, CreateDelegationTokenResponse, DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse, ExpireDelegationTokenRequest, ExpireDelegationTokenResponse,
    RenewDelegationTokenRequest, RenewDelegationTokenResponse,
};
use protocol::types::Str;

const CODE: i16 = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.code();
/// There is no such time.
const NO_TIME_MS: i64 = -1;
/// Whom a connection without authentication belongs to.
const USER: &str = "User";
const ANONYMOUS: &str = "ANONYMOUS";
/// The first version that names an owner beside who asks (KIP-373).
const OWNER_VERSION: i16 = 3;

/// Answers CreateDelegationToken 1-3.
pub fn create(version: i16, request: CreateDelegationTokenRequest) -> CreateDelegationTokenResponse {
    let (principal_type, principal_name) = match (request.owner_principal_type, request.owner_principal_name)
    {
        (Some(kind), Some(name)) if !name.is_empty() => (kind, name),
        _ => (Str::from_static(USER), Str::from_static(ANONYMOUS)),
    };
    let mut response = CreateDelegationTokenResponse {
        error_code: CODE,
        principal_type,
        principal_name,
        issue_timestamp_ms: NO_TIME_MS,
        expiry_timestamp_ms: NO_TIME_MS,
        max_timestamp_ms: NO_TIME_MS,
        ..Default::default()
    };
    if version >= OWNER_VERSION {
        response.token_requester_principal_type = Str::from_static(USER);
        response.token_requester_principal_name = Str::from_static(ANONYMOUS);
    }
    response
}

/// Answers RenewDelegationToken 1-2.
pub fn renew(_version: i16, _request: RenewDelegationTokenRequest) -> RenewDelegationTokenResponse {
    RenewDelegationTokenResponse { error_code: CODE, expiry_timestamp_ms: NO_TIME_MS, ..Default::default() }
}

/// Answers ExpireDelegationToken 1-2.
pub fn expire(_version: i16, _request: ExpireDelegationTokenRequest) -> ExpireDelegationTokenResponse {
    ExpireDelegationTokenResponse { error_code: CODE, expiry_timestamp_ms: NO_TIME_MS, ..Default::default() }
}

/// Answers DescribeDelegationToken 1-3.
pub fn describe(_version: i16, _request: DescribeDelegationTokenRequest) -> DescribeDelegationTokenResponse {
    DescribeDelegationTokenResponse { error_code: CODE, ..Default::default() }
}
