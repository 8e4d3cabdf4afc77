//! The answers, and that they are bounded and can be written in every version.

use protocol::error::ErrorCode;
use protocol::header::response_frame;
use protocol::messages::create_acls_request::AclCreation;
use protocol::messages::{
    ConsumerGroupDescribeRequest, CreateAclsRequest, CreateDelegationTokenRequest, DeleteAclsRequest,
    DescribeAclsRequest, delete_acls_request,
};
use protocol::types::Str;

use super::{TEXTS_MAX, acls, delegation_tokens, newer_groups};

#[test]
fn without_an_authorizer_security_is_disabled() {
    let described = acls::describe(3, DescribeAclsRequest::default());
    assert_eq!(described.error_code, ErrorCode::SECURITY_DISABLED.code());
    assert_eq!(described.error_message.as_deref(), Some("No Authorizer is configured on the broker"));
    let filters = vec![delete_acls_request::DeleteAclsFilter::default(); 2];
    let deleted = acls::delete(3, DeleteAclsRequest { filters, ..Default::default() });
    let codes: Vec<i16> = deleted.filter_results.iter().map(|result| result.error_code).collect();
    assert_eq!(codes, [ErrorCode::SECURITY_DISABLED.code(); 2]);
}

#[test]
fn results_beyond_a_number_have_no_text() {
    let creations = vec![AclCreation::default(); TEXTS_MAX + 1];
    let created = acls::create(3, CreateAclsRequest { creations, ..Default::default() });
    assert_eq!(created.results.len(), TEXTS_MAX + 1);
    assert!(created.results[TEXTS_MAX - 1].error_message.is_some());
    assert_eq!(created.results[TEXTS_MAX].error_message, None);
    assert_eq!(created.results[TEXTS_MAX].error_code, ErrorCode::SECURITY_DISABLED.code());
}

#[test]
fn who_is_not_authenticated_gets_no_token() {
    for version in 1..=3 {
        let response = delegation_tokens::create(version, CreateDelegationTokenRequest::default());
        assert_eq!(response.error_code, ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.code());
        assert_eq!((&*response.principal_type, &*response.principal_name), ("User", "ANONYMOUS"));
        response_frame(1, &response, version).unwrap();
    }
    let request = CreateDelegationTokenRequest {
        owner_principal_type: Some(Str::from("User")),
        owner_principal_name: Some(Str::from("alice")),
        ..Default::default()
    };
    assert_eq!(delegation_tokens::create(3, request).principal_name, "alice");
}

#[test]
fn each_group_of_a_newer_kind_is_unsupported() {
    let request =
        ConsumerGroupDescribeRequest { group_ids: vec!["a".into(), "b".into()], ..Default::default() };
    let response = newer_groups::consumer_describe(1, request);
    let groups: Vec<(&str, i16)> =
        response.groups.iter().map(|group| (&*group.group_id, group.error_code)).collect();
    let code = ErrorCode::UNSUPPORTED_VERSION.code();
    assert_eq!(groups, [("a", code), ("b", code)]);
}
