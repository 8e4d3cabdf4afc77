//! DescribeConfigs and IncrementalAlterConfigs for one resource.

use client::ClientError;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::describe_configs_response::DescribeConfigsResourceResult;
use protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use protocol::messages::{DescribeConfigsRequest, IncrementalAlterConfigsRequest};

use super::{ChangeArgs, Resource};
use crate::cli::error::CliError;
use crate::cli::session::Session;

/// Highest versions these requests are filled for.
const DESCRIBE_MAX: i16 = 4;
const ALTER_MAX: i16 = 1;

/// Configs of a resource, by name; all of them if `keys` is empty.
pub(super) fn describe(
    session: &mut Session,
    resource: &Resource,
    keys: &[String],
) -> Result<Vec<DescribeConfigsResourceResult>, CliError> {
    let configuration_keys = (!keys.is_empty()).then(|| keys.iter().map(Into::into).collect::<Vec<_>>());
    session.client.refresh(Some(&[]), false)?;
    let (_, answer) =
        session.client.call(resource.target(), DESCRIBE_MAX, |version| DescribeConfigsRequest {
            resources: vec![DescribeConfigsResource {
                resource_type: resource.kind(),
                resource_name: resource.name().into(),
                configuration_keys: configuration_keys.clone(),
                ..Default::default()
            }],
            include_synonyms: true,
            include_documentation: version >= 3,
            ..Default::default()
        })?;
    let mut configs = Vec::new();
    for result in answer.results {
        let message = result.error_message.as_deref().filter(|text| !text.is_empty());
        ClientError::check(result.error_code, message, || resource.to_string())?;
        configs.extend(result.configs);
    }
    configs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(configs)
}

/// Changes configs of a resource, all or none.
pub(in crate::cli) fn alter(
    session: &mut Session,
    resource: &Resource,
    change: &ChangeArgs,
) -> Result<(), CliError> {
    let operations = change.operations()?;
    session.client.refresh(Some(&[]), false)?;
    let (_, answer) =
        session.client.call(resource.target(), ALTER_MAX, |_| IncrementalAlterConfigsRequest {
            resources: vec![AlterConfigsResource {
                resource_type: resource.kind(),
                resource_name: resource.name().into(),
                configs: operations.clone(),
                ..Default::default()
            }],
            validate_only: change.dry_run,
            ..Default::default()
        })?;
    for result in &answer.responses {
        ClientError::check(result.error_code, result.error_message.as_deref(), || resource.to_string())?;
    }
    Ok(())
}
