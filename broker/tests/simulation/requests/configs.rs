//! DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, CreatePartitions.

use protocol::messages::create_partitions_request::{CreatePartitionsAssignment, CreatePartitionsTopic};
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::{
    AlterConfigsRequest, CreatePartitionsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest,
    alter_configs_request, incremental_alter_configs_request,
};
use protocol::types::Str;

use super::{Target, nowhere};

/// Numbers of resource types: topics, brokers, a broker's loggers, client metrics, groups, and one that is none.
const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const TYPES: [i8; 6] = [TOPIC, BROKER, 8, 16, 32, 77];

/// Of each type one that is there and one that isn't.
fn resources(target: &Target) -> Vec<(i8, Str)> {
    let named = |kind: i8| match kind {
        TOPIC => [(kind, target.name.clone()), (kind, nowhere().name)],
        _ => [(kind, "1".into()), (kind, "nobody".into())],
    };
    TYPES.into_iter().flat_map(named).collect()
}

pub(crate) fn describe_configs(version: i16, target: &Target) -> Vec<DescribeConfigsRequest> {
    let of = |configuration_keys: Option<Vec<Str>>| {
        let resource = |(resource_type, resource_name)| DescribeConfigsResource {
            resource_type,
            resource_name,
            configuration_keys: configuration_keys.clone(),
            ..Default::default()
        };
        DescribeConfigsRequest {
            resources: resources(target).into_iter().map(resource).collect(),
            include_synonyms: true,
            include_documentation: version >= 3,
            ..Default::default()
        }
    };
    vec![of(None), of(Some(vec!["retention.ms".into(), "no.such.config".into()]))]
}

/// Good values, bad ones, names that are none.
const CHANGES: [(&str, Option<&str>); 3] =
    [("retention.ms", Some("60000")), ("retention.ms", Some("soon")), ("no.such.config", None)];

pub(crate) fn alter_configs(target: &Target) -> Vec<AlterConfigsRequest> {
    let change = |(name, value): (&str, Option<&str>)| {
        let config = alter_configs_request::AlterableConfig {
            name: name.into(),
            value: value.map(Str::from),
            ..Default::default()
        };
        let resource = |(resource_type, resource_name)| alter_configs_request::AlterConfigsResource {
            resource_type,
            resource_name,
            configs: vec![config.clone()],
            ..Default::default()
        };
        let resources = resources(target).into_iter().map(resource).collect();
        AlterConfigsRequest { resources, ..Default::default() }
    };
    CHANGES.into_iter().map(change).collect()
}

pub(crate) fn incremental_alter_configs(target: &Target) -> Vec<IncrementalAlterConfigsRequest> {
    // Set, delete, append, subtract, and one that is none.
    let operations = 0..5;
    let change = |config_operation: i8| {
        let configs = CHANGES.map(|(name, value)| incremental_alter_configs_request::AlterableConfig {
            name: name.into(),
            value: value.map(Str::from),
            config_operation,
            ..Default::default()
        });
        let with = |configs: Vec<_>| {
            let resource =
                |(resource_type, resource_name)| incremental_alter_configs_request::AlterConfigsResource {
                    resource_type,
                    resource_name,
                    configs: configs.clone(),
                    ..Default::default()
                };
            let resources = resources(target).into_iter().map(resource).collect();
            IncrementalAlterConfigsRequest { resources, ..Default::default() }
        };
        configs.map(|config| with(vec![config]))
    };
    operations.flat_map(change).collect()
}

pub(crate) fn create_partitions(target: &Target) -> Vec<CreatePartitionsRequest> {
    let to = |name: &Str, count: i32| CreatePartitionsTopic {
        name: name.clone(),
        count,
        assignments: None,
        ..Default::default()
    };
    let assigned = CreatePartitionsTopic {
        assignments: Some(vec![CreatePartitionsAssignment { broker_ids: vec![9], ..Default::default() }]),
        ..to(&target.name, 3)
    };
    let request = |topics: Vec<CreatePartitionsTopic>, validate_only: bool| CreatePartitionsRequest {
        topics,
        timeout_ms: 1_000,
        validate_only,
        ..Default::default()
    };
    vec![
        request(vec![to(&target.name, 3)], true),
        request(vec![to(&target.name, 1), to(&nowhere().name, 4)], false),
        request(vec![assigned], false),
        request(vec![], false),
    ]
}
