//! DescribeAcls, CreateAcls and DeleteAcls without an authorizer: SECURITY_DISABLED.

use protocol::error::ErrorCode;
use protocol::messages::create_acls_response::AclCreationResult;
use protocol::messages::delete_acls_response::DeleteAclsFilterResult;
use protocol::messages::{
    CreateAclsRequest, CreateAclsResponse, DeleteAclsRequest, DeleteAclsResponse, DescribeAclsRequest,
    DescribeAclsResponse,
};
use protocol::types::Str;

use super::TEXTS_MAX;

const CODE: i16 = ErrorCode::SECURITY_DISABLED.code();
const ON_BROKER: &str = "No Authorizer is configured on the broker";
const TEXT: &str = "No Authorizer is configured.";

/// Answers DescribeAcls 1-3.
pub fn describe(_version: i16, _request: DescribeAclsRequest) -> DescribeAclsResponse {
    DescribeAclsResponse {
        error_code: CODE,
        error_message: Some(Str::from_static(ON_BROKER)),
        ..Default::default()
    }
}

/// Answers CreateAcls 1-3: one result for each.
pub fn create(_version: i16, request: CreateAclsRequest) -> CreateAclsResponse {
    let result = |text| AclCreationResult { error_code: CODE, error_message: text, ..Default::default() };
    CreateAclsResponse { results: texts(request.creations.len()).map(result).collect(), ..Default::default() }
}

/// Answers DeleteAcls 1-3: one result for each filter.
pub fn delete(_version: i16, request: DeleteAclsRequest) -> DeleteAclsResponse {
    let result =
        |text| DeleteAclsFilterResult { error_code: CODE, error_message: text, ..Default::default() };
    DeleteAclsResponse {
        filter_results: texts(request.filters.len()).map(result).collect(),
        ..Default::default()
    }
}

fn texts(count: usize) -> impl Iterator<Item = Option<Str>> {
    (0..count).map(|nth| (nth < TEXTS_MAX).then_some(Str::from_static(TEXT)))
}
