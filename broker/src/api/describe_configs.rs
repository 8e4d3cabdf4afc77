//! DescribeConfigs: what holds for topics, brokers, groups and client metrics subscriptions, and why (KIP-226, KIP-569).

use std::collections::BTreeSet;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};
use protocol::types::Str;

use crate::config::describe::{
    Entry, describe_all_brokers, describe_broker, describe_client_metrics, describe_group, describe_topic,
};
use crate::metadata::controller::check_topic_name;
use crate::metadata::image::{
    RESOURCE_BROKER, RESOURCE_BROKER_LOGGER, RESOURCE_CLIENT_METRICS, RESOURCE_GROUP, RESOURCE_TOPIC,
};
use crate::server::{RequestContext, ShardState};

/// Answers DescribeConfigs 1-4. Resources are described one after the other; a request can't hold up the shard for longer than one of
/// them takes. A resource takes ten bytes of the request and its configs are kilobytes, with their documentation tens of them: beyond what one
/// answer may take together, resources are refused. The default of 32 MiB is enough for some thousand topics.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: DescribeConfigsRequest,
) -> DescribeConfigsResponse {
    let (with_synonyms, with_documentation) = (request.include_synonyms, request.include_documentation);
    let mut results = Vec::with_capacity(request.resources.len());
    let mut room_bytes = shard.network.answer_bytes_max;
    for resource in request.resources {
        let described = match room_bytes {
            0 => invalid("Too many configs are asked for in one request."),
            _ => describe(shard, &resource),
        };
        let answered = match described {
            Ok(entries) => {
                let wanted = wanted(&resource);
                let is_shown =
                    |entry: &&Entry| wanted.as_ref().is_none_or(|wanted| wanted.contains(&entry.name));
                let shown = entries.iter().filter(is_shown);
                let configs: Vec<_> =
                    shown.map(|entry| told(entry, with_synonyms, with_documentation)).collect();
                room_bytes = room_bytes.saturating_sub(configs.iter().map(bytes).sum());
                DescribeConfigsResult { error_message: Some(Str::default()), configs, ..Default::default() }
            }
            Err((code, message)) => DescribeConfigsResult {
                error_code: code.code(),
                error_message: Some(message),
                ..DescribeConfigsResult::default()
            },
        };
        let (resource_type, resource_name) = (resource.resource_type, resource.resource_name);
        results.push(DescribeConfigsResult { resource_type, resource_name, ..answered });
        rt::yield_point().await;
    }
    DescribeConfigsResponse { results, ..DescribeConfigsResponse::default() }
}

/// What a config takes in an answer and until it is sent, about.
fn bytes(config: &DescribeConfigsResourceResult) -> usize {
    let len = |text: &Option<Str>| text.as_ref().map_or(0, |text| text.len());
    let synonyms = config.synonyms.iter();
    let synonyms = synonyms.map(|synonym| size_of_val(synonym) + synonym.name.len() + len(&synonym.value));
    size_of_val(config)
        + config.name.len()
        + len(&config.value)
        + len(&config.documentation)
        + synonyms.sum::<usize>()
}

/// The names asked for; all if there are none.
fn wanted(resource: &DescribeConfigsResource) -> Option<BTreeSet<&Str>> {
    let keys = resource.configuration_keys.as_ref()?;
    (!keys.is_empty()).then(|| keys.iter().collect())
}

fn describe(
    shard: &Rc<ShardState>,
    resource: &DescribeConfigsResource,
) -> Result<Vec<Entry>, (ErrorCode, Str)> {
    let name = &resource.resource_name;
    let image = shard.image.borrow();
    let values = shard.broker_values();
    match resource.resource_type {
        RESOURCE_TOPIC => {
            check_topic_name(name).map_err(|why| (ErrorCode::INVALID_TOPIC_EXCEPTION, Str::from(why)))?;
            let topic = image.topic(name).ok_or((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, Str::default()))?;
            Ok(describe_topic(&topic.configs, &values))
        }
        RESOURCE_BROKER if name.is_empty() => Ok(describe_all_brokers(&values)),
        RESOURCE_BROKER => {
            check_node(shard, name, " or empty string,")?;
            Ok(describe_broker(&values))
        }
        // Kafka names the loggers of its own classes, which don't exist here.
        RESOURCE_BROKER_LOGGER if name.is_empty() => invalid("Broker id must not be empty"),
        RESOURCE_BROKER_LOGGER => check_node(shard, name, "").map(|()| Vec::new()),
        RESOURCE_GROUP if name.is_empty() => invalid("Group name must not be empty"),
        RESOURCE_GROUP => {
            let set = image.configs(RESOURCE_GROUP, name).cloned().unwrap_or_default();
            Ok(describe_group(&set, &values))
        }
        RESOURCE_CLIENT_METRICS if name.is_empty() => {
            invalid("Client metrics subscription name must not be empty")
        }
        RESOURCE_CLIENT_METRICS => {
            let set = image.configs(RESOURCE_CLIENT_METRICS, name).cloned().unwrap_or_default();
            Ok(describe_client_metrics(&set))
        }
        other => invalid(format!("Unsupported resource type: {other}")),
    }
}

/// A broker tells about itself only; its clients ask each.
fn check_node(shard: &Rc<ShardState>, name: &str, or: &str) -> Result<(), (ErrorCode, Str)> {
    let own = shard.node.config.node_id;
    match name.parse::<i32>() {
        Ok(id) if id == own => Ok(()),
        Ok(id) => invalid(format!("Unexpected broker id, expected {own}{or} but received {id}")),
        Err(_) => invalid(format!("Broker id must be an integer, but it is: {name}")),
    }
}

fn invalid<T>(message: impl Into<String>) -> Result<T, (ErrorCode, Str)> {
    Err((ErrorCode::INVALID_REQUEST, Str::from(message.into())))
}

fn told(entry: &Entry, with_synonyms: bool, with_documentation: bool) -> DescribeConfigsResourceResult {
    let synonyms = entry.synonyms.iter().filter(|_| with_synonyms).map(|synonym| DescribeConfigsSynonym {
        name: synonym.name.clone(),
        value: synonym.value.clone(),
        source: synonym.source.code(),
        ..DescribeConfigsSynonym::default()
    });
    DescribeConfigsResourceResult {
        name: entry.name.clone(),
        value: entry.value.clone(),
        read_only: entry.read_only,
        config_source: entry.source.code(),
        is_sensitive: entry.sensitive,
        synonyms: synonyms.collect(),
        config_type: entry.kind,
        documentation: entry.documentation().filter(|_| with_documentation).map(Str::from),
        ..DescribeConfigsResourceResult::default()
    }
}
