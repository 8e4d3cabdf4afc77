//! SaslHandshake and SaslAuthenticate on a listener without SASL: ILLEGAL_SASL_STATE.

use protocol::error::ErrorCode;
use protocol::messages::{
    SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};
use protocol::types::Str;

const CODE: i16 = ErrorCode::ILLEGAL_SASL_STATE.code();

/// Answers SaslHandshake 0-1.
pub fn handshake(_version: i16, _request: SaslHandshakeRequest) -> SaslHandshakeResponse {
    SaslHandshakeResponse { error_code: CODE, ..Default::default() }
}

/// Answers SaslAuthenticate 0-2.
pub fn authenticate(_version: i16, _request: SaslAuthenticateRequest) -> SaslAuthenticateResponse {
    let text = Str::from_static("SaslAuthenticate request received after successful authentication");
    SaslAuthenticateResponse { error_code: CODE, error_message: Some(text), ..Default::default() }
}
