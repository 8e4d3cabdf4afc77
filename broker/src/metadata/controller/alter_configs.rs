//! AlterConfigs and IncrementalAlterConfigs.

use std::collections::BTreeSet;

use protocol::error::ErrorCode;
use protocol::internal::{ConfigRecord, MetadataRecord};
use protocol::messages::alter_configs_response::AlterConfigsResourceResponse as LegacyResult;
use protocol::messages::incremental_alter_configs_request::AlterableConfig;
use protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use protocol::messages::{
    AlterConfigsRequest, AlterConfigsResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
};
use protocol::types::Str;

use super::create_topics::too_many;
use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::request::ControllerReply;
use crate::config::key::{ConfigKey, Kind, Update};
use crate::config::topic::Overrides;
use crate::config::{ConfigError, keys, topic, value};
use crate::metadata::image::{Image, RESOURCE_BROKER, RESOURCE_TOPIC};
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

type ResourceResult = (i8, Str, Option<Fault>);

impl Decider {
    pub(super) fn incremental_alter_configs(
        &self,
        image: &Image,
        request: IncrementalAlterConfigsRequest,
    ) -> Decision {
        let resources = request.resources.into_iter();
        let resources = resources.map(|r| (r.resource_type, r.resource_name, r.configs)).collect();
        let (records, results) = self.alter(image, resources, request.validate_only, false);
        let responses = results.into_iter().map(|(resource_type, resource_name, fault)| {
            let (error_code, error_message) = code_and_text(fault);
            AlterConfigsResourceResponse {
                error_code,
                error_message,
                resource_type,
                resource_name,
                ..Default::default()
            }
        });
        let reply = IncrementalAlterConfigsResponse { responses: responses.collect(), ..Default::default() };
        Decision::atomic(records, ControllerReply::IncrementalAlterConfigs(reply))
    }

    pub(super) fn alter_configs(&self, image: &Image, request: AlterConfigsRequest) -> Decision {
        let resources = request.resources.into_iter().map(|resource| {
            let sets = resource.configs.into_iter().map(|config| AlterableConfig {
                name: config.name,
                value: config.value,
                config_operation: SET,
                ..Default::default()
            });
            (resource.resource_type, resource.resource_name, sets.collect())
        });
        let (records, results) = self.alter(image, resources.collect(), request.validate_only, true);
        let responses = results.into_iter().map(|(resource_type, resource_name, fault)| {
            let (error_code, error_message) = code_and_text(fault);
            LegacyResult { error_code, error_message, resource_type, resource_name, ..Default::default() }
        });
        let reply = AlterConfigsResponse { responses: responses.collect(), ..Default::default() };
        Decision::atomic(records, ControllerReply::AlterConfigs(reply))
    }

    fn alter(
        &self,
        image: &Image,
        resources: Vec<(i8, Str, Vec<AlterableConfig>)>,
        validate_only: bool,
        replace: bool,
    ) -> (Vec<MetadataRecord>, Vec<ResourceResult>) {
        let mut seen = BTreeSet::new();
        let keys = resources.iter().map(|(kind, name, _)| (*kind, name));
        let twice: BTreeSet<(i8, Str)> =
            keys.filter(|key| !seen.insert(*key)).map(|(kind, name)| (kind, name.clone())).collect();
        let (mut records, mut results) = (Vec::new(), Vec::new());
        for (kind, name, ops) in resources {
            let room = RECORDS_PER_OPERATION_MAX - records.len();
            let outcome = if twice.contains(&(kind, name.clone())) {
                Err(Fault::new(ErrorCode::INVALID_REQUEST, "Each resource must appear at most once."))
            } else {
                self.alter_resource(image, kind, &name, &ops, replace)
            };
            let outcome = outcome.and_then(|new| if new.len() > room { Err(too_many()) } else { Ok(new) });
            results.push((kind, name, outcome.as_ref().err().cloned()));
            records.extend(outcome.into_iter().flatten());
        }
        if validate_only {
            records.clear();
        }
        (records, results)
    }

    fn alter_resource(
        &self,
        image: &Image,
        kind: i8,
        resource: &Str,
        ops: &[AlterableConfig],
        replace: bool,
    ) -> Result<Vec<MetadataRecord>, Fault> {
        let before = set_on(image, kind, resource)?;
        let mut names = BTreeSet::new();
        if ops.iter().any(|op| !names.insert(&op.name)) {
            return Err(Fault::new(ErrorCode::INVALID_REQUEST, "Error due to duplicate config keys"));
        }
        let mut after = if replace { Overrides::new() } else { before.clone() };
        for op in ops {
            self.alter_one(kind, op, &mut after)?;
        }
        if kind == RESOURCE_TOPIC {
            topic::check_all(&after, &self.values)?;
        }
        let gone = before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name, None));
        let set = after.iter().filter(|(name, text)| before.get(*name) != Some(*text));
        let changes = gone.chain(set.map(|(name, text)| (name, Some(text))));
        let record = |(name, value): (&Str, Option<&Str>)| {
            let (resource_type, resource_name) = (kind, resource.clone());
            let (name, value) = (name.clone(), value.cloned());
            ConfigRecord { resource_type, resource_name, name, value, ..Default::default() }.into()
        };
        Ok(changes.map(record).collect())
    }

    fn alter_one(&self, kind: i8, op: &AlterableConfig, set: &mut Overrides) -> Result<(), Fault> {
        let bad = |text: String| Fault::new(ErrorCode::INVALID_REQUEST, text);
        let key = key_of(kind, &op.name)?;
        if op.config_operation == DELETE {
            set.remove(&op.name);
            return Ok(());
        }
        let text = op.value.as_ref();
        let text = text.ok_or_else(|| bad(format!("Null value not supported for : {}", op.name)))?;
        let list = |op_name: &str| match key.filter(|key| key.kind != Kind::List) {
            Some(key) => {
                let text = format!("Can't {op_name} to key {} because its type is not LIST.", key.name);
                Err(Fault::new(ErrorCode::INVALID_CONFIG, text))
            }
            None => Ok(value::list(self.current(kind, &op.name, set))
                .into_iter()
                .map(String::from)
                .collect::<Vec<_>>()),
        };
        let value = match op.config_operation {
            SET => text.clone(),
            APPEND => {
                let mut elements = list("APPEND")?;
                let new = value::list(text).into_iter().filter(|new| !elements.iter().any(|old| old == new));
                let new: Vec<_> = new.map(String::from).collect();
                elements.extend(new);
                Str::from(elements.join(","))
            }
            SUBTRACT => {
                let gone = value::list(text);
                let mut elements = list("SUBTRACT")?;
                elements.retain(|element| !gone.contains(&element.as_str()));
                Str::from(elements.join(","))
            }
            other => return Err(bad(format!("Unknown config operation {other} for {}", op.name))),
        };
        if let Some(key) = key {
            key.check(&value)?;
        }
        set.insert(op.name.clone(), value);
        Ok(())
    }

    /// What APPEND and SUBTRACT start from: what is set, else what holds without it.
    fn current<'a>(&'a self, kind: i8, name: &str, set: &'a Overrides) -> &'a str {
        let default = || match kind {
            RESOURCE_TOPIC => {
                let topic = keys::topic(name);
                let synonyms = topic.map_or(&[][..], |topic| topic.synonyms);
                let of_broker = synonyms.iter().find_map(|synonym| self.values.explicit(synonym.name));
                of_broker
                    .map(|(text, _)| text)
                    .or(topic.and_then(|topic| topic.key.default))
                    .unwrap_or_default()
            }
            _ => self.values.text(name),
        };
        set.get(name).map_or_else(default, Str::as_str)
    }
}

/// What is set on a resource now.
fn set_on(image: &Image, kind: i8, resource: &Str) -> Result<Overrides, Fault> {
    match kind {
        RESOURCE_TOPIC => {
            let topic = image.topic(resource);
            let topic = topic.ok_or_else(|| Fault::plain(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION))?;
            Ok(topic.configs.clone())
        }
        RESOURCE_BROKER => {
            let id = (!resource.is_empty()).then(|| resource.parse::<i32>());
            match id {
                Some(Ok(id)) if !image.brokers.contains_key(&id) => Err(Fault::new(
                    ErrorCode::BROKER_ID_NOT_REGISTERED,
                    format!("No broker with id {id} found."),
                )),
                Some(Err(_)) => {
                    let text = format!("Invalid broker name {}", resource.as_str());
                    Err(Fault::new(ErrorCode::INVALID_REQUEST, text))
                }
                _ => Ok(image.configs(kind, resource).cloned().unwrap_or_default()),
            }
        }
        other => Err(Fault::new(ErrorCode::INVALID_REQUEST, format!("Unsupported resource type {other}"))),
    }
}

/// What is known about the config; none for names that free prefixes allow.
fn key_of(kind: i8, name: &str) -> Result<Option<&'static ConfigKey>, Fault> {
    if kind == RESOURCE_TOPIC {
        let topic = keys::topic(name).ok_or_else(|| ConfigError::UnknownTopicConfig(name.into()))?;
        return Ok(Some(topic.key));
    }
    match keys::broker(name) {
        Some(key) if key.update == Update::ReadOnly => {
            let text = format!("Cannot update these configs dynamically: Set({name})");
            Err(Fault::new(ErrorCode::INVALID_REQUEST, text))
        }
        key => Ok(key),
    }
}

fn code_and_text(fault: Option<Fault>) -> (i16, Option<Str>) {
    fault.map_or((0, None), |fault| (fault.code.code(), fault.text()))
}
