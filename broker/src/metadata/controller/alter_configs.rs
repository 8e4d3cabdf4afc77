//! AlterConfigs and IncrementalAlterConfigs.

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

use super::config_resource::ConfigResource;
use super::decider::{Decider, Decision};
use super::fault::Fault;
use super::once::given_twice;
use super::request::ControllerReply;
use crate::config::topic::Overrides;
use crate::config::{BrokerValues, value};
use crate::metadata::image::Image;
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
        let twice = given_twice(resources.iter().map(|(kind, name, _)| (*kind, name.clone())));
        let (mut records, mut results) = (Vec::new(), Vec::new());
        for (kind, name, ops) in resources {
            let room = RECORDS_PER_OPERATION_MAX - records.len();
            let outcome = if twice.contains(&(kind, name.clone())) {
                Err(Fault::new(ErrorCode::INVALID_REQUEST, "Each resource must appear at most once."))
            } else {
                self.alter_resource(image, kind, &name, &ops, replace)
            };
            let outcome =
                outcome.and_then(|new| if new.len() > room { Err(Fault::too_many()) } else { Ok(new) });
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
        if !given_twice(ops.iter().map(|op| &op.name)).is_empty() {
            return Err(Fault::new(ErrorCode::INVALID_REQUEST, "Error due to duplicate config keys"));
        }
        if let Some(op) = ops.iter().find(|op| op.value.is_none() && op.config_operation != DELETE) {
            let text = format!("Null value not supported for : {}", op.name);
            return Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
        }
        let (found, before) = ConfigResource::find(image, kind, resource)?;
        let values = self.values_at(image);
        let mut after = if replace { Overrides::new() } else { before.clone() };
        for op in ops {
            alter_one(found, &values, op, &mut after)?;
        }
        found.check(&after, &values)?;
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
}

fn alter_one(
    resource: ConfigResource,
    values: &BrokerValues,
    op: &AlterableConfig,
    set: &mut Overrides,
) -> Result<(), Fault> {
    let (name, text) = (&op.name, op.value.as_ref().map_or("", Str::as_str));
    let elements = |operation: &str| {
        resource.check_is_list(operation, name)?;
        let now = set.get(name).map_or_else(|| resource.inherited(name, values), Str::to_string);
        Ok::<Vec<String>, Fault>(value::list(&now).into_iter().map(String::from).collect())
    };
    let new = match op.config_operation {
        SET => text.to_string(),
        DELETE => {
            set.remove(name);
            return Ok(());
        }
        APPEND => {
            let mut elements = elements("APPEND")?;
            for new in value::list(text) {
                if !elements.iter().any(|old| old == new) {
                    elements.push(new.to_string());
                }
            }
            elements.join(",")
        }
        SUBTRACT => {
            let mut elements = elements("SUBTRACT")?;
            elements.retain(|element| !value::list(text).contains(&element.as_str()));
            elements.join(",")
        }
        other => {
            let text = format!("Unknown config operation {other} for {name}");
            return Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
        }
    };
    set.insert(name.clone(), Str::from(new));
    Ok(())
}

fn code_and_text(fault: Option<Fault>) -> (i16, Option<Str>) {
    fault.map_or((0, None), |fault| (fault.code.code(), fault.text()))
}
