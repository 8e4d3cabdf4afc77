//! CreateTopics.

use std::collections::BTreeMap;

use protocol::error::ErrorCode;
use protocol::internal::{ConfigRecord, MetadataRecord, TopicRecord};
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};
use protocol::types::{Str, Uuid};

use super::assignment::Assignment;
use super::decider::{Decider, Decision, Facts};
use super::dir_loads::DirLoads;
use super::fault::Fault;
use super::once::given_twice;
use super::request::ControllerReply;
use super::topic_name::check_new;
use crate::config::topic::{self, Overrides};
use crate::metadata::image::{Image, RESOURCE_TOPIC, metric_name};
use crate::metadata::limits::RECORDS_PER_OPERATION_MAX;

/// A topic that may be created.
struct NewTopic {
    assignments: Vec<Assignment>,
    configs: Overrides,
}

impl Decider {
    /// Topics of one request don't share their fate, but those that are created appear together.
    pub(super) fn create_topics(
        &self,
        image: &Image,
        request: CreateTopicsRequest,
        facts: &mut Facts<'_>,
    ) -> Decision {
        let (mut records, mut results) = (Vec::new(), Vec::new());
        let (mut taken, mut dirs) = (BTreeMap::new(), DirLoads::new(image));
        let twice = given_twice(request.topics.iter().map(|topic| &topic.name));
        for name in &twice {
            results.push(refusal(name, &Fault::duplicate_topic()));
        }
        for wanted in request.topics.iter().filter(|wanted| !twice.contains(&wanted.name)) {
            let room = RECORDS_PER_OPERATION_MAX - records.len();
            let plan = self.plan_topic(image, wanted, &taken, room, facts);
            results.push(match plan {
                Ok(plan) => {
                    taken.insert(metric_name(&wanted.name).into_owned(), wanted.name.clone());
                    let id = if request.validate_only { Uuid::ZERO } else { new_id(image, facts) };
                    let result = self.acceptance(image, wanted, id, &plan);
                    records.extend(plan.records(&wanted.name, id, &mut dirs));
                    result
                }
                Err(fault) => refusal(&wanted.name, &fault),
            });
        }
        if request.validate_only {
            records.clear();
        }
        let reply = CreateTopicsResponse { topics: results, ..Default::default() };
        Decision::atomic(records, ControllerReply::CreateTopics(reply))
    }

    /// `taken` holds the names of this request's earlier topics, by the name of their metrics.
    fn plan_topic(
        &self,
        image: &Image,
        wanted: &CreatableTopic,
        taken: &BTreeMap<String, Str>,
        room: usize,
        facts: &mut Facts<'_>,
    ) -> Result<NewTopic, Fault> {
        let name = wanted.name.as_str();
        check_new(name)?;
        if image.topic(name).is_some() {
            let text = format!("Topic '{name}' already exists.");
            return Err(Fault::new(ErrorCode::TOPIC_ALREADY_EXISTS, text));
        }
        let metric_name = metric_name(name);
        let other = image.topic_of_metric(&metric_name).or(taken.get(&*metric_name));
        if let Some(other) = other {
            let text = format!("Topic '{name}' collides with existing topic: {other}");
            return Err(Fault::new(ErrorCode::INVALID_TOPIC_EXCEPTION, text));
        }
        let configs = self.plan_configs(image, wanted)?;
        let assignments = if wanted.assignments.is_empty() {
            self.plan_automatic(image, wanted, room, facts)?
        } else {
            plan_manual(image, wanted)?
        };
        if 1 + configs.len() + assignments.len() > room {
            return Err(Fault::too_many());
        }
        Ok(NewTopic { assignments, configs })
    }

    fn plan_configs(&self, image: &Image, wanted: &CreatableTopic) -> Result<Overrides, Fault> {
        let mut configs = Overrides::new();
        for config in &wanted.configs {
            let Some(value) = &config.value else {
                let text = format!("Null value not supported for topic configs: {}", config.name);
                return Err(Fault::new(ErrorCode::INVALID_CONFIG, text));
            };
            if configs.insert(config.name.clone(), value.clone()).is_some() {
                let text = format!("Config {} is given twice.", config.name);
                return Err(Fault::new(ErrorCode::INVALID_CONFIG, text));
            }
        }
        topic::check_all(&configs, &self.values_at(image))?;
        Ok(configs)
    }

    fn plan_automatic(
        &self,
        image: &Image,
        wanted: &CreatableTopic,
        room: usize,
        facts: &mut Facts<'_>,
    ) -> Result<Vec<Assignment>, Fault> {
        let factor = match wanted.replication_factor {
            -1 => self.topics.default_replication_factor,
            factor => factor,
        };
        let factor = usize::try_from(factor).unwrap_or_default();
        if factor == 0 {
            let text = "Replication factor must be larger than 0, or -1 to use the default value.";
            return Err(Fault::new(ErrorCode::INVALID_REPLICATION_FACTOR, text));
        }
        let partitions = match wanted.num_partitions {
            -1 => self.topics.num_partitions,
            partitions => partitions,
        };
        let partitions = usize::try_from(partitions).unwrap_or_default();
        if partitions == 0 {
            let text = "Number of partitions was set to an invalid non-positive value.";
            return Err(Fault::new(ErrorCode::INVALID_PARTITIONS, text));
        }
        if partitions > room {
            return Err(Fault::too_many());
        }
        Assignment::automatic(image, partitions, factor, (facts.start)())
    }

    fn acceptance(
        &self,
        image: &Image,
        wanted: &CreatableTopic,
        topic_id: Uuid,
        plan: &NewTopic,
    ) -> CreatableTopicResult {
        let values = self.values_at(image);
        let configs =
            topic::describe(&plan.configs, &values).into_iter().map(|described| CreatableTopicConfigs {
                name: Str::from_static(described.name),
                value: described.value.map(Str::from),
                config_source: described.source.code(),
                ..Default::default()
            });
        let replicas = plan.assignments.first().map_or(0, |first| first.replicas.len());
        CreatableTopicResult {
            name: wanted.name.clone(),
            topic_id,
            num_partitions: i32::try_from(plan.assignments.len()).unwrap_or(i32::MAX),
            replication_factor: i16::try_from(replicas).unwrap_or(i16::MAX),
            configs: Some(configs.collect()),
            ..Default::default()
        }
    }
}

impl NewTopic {
    fn records(
        self,
        name: &Str,
        topic_id: Uuid,
        dirs: &mut DirLoads<'_>,
    ) -> impl Iterator<Item = MetadataRecord> {
        let topic = TopicRecord { name: name.clone(), topic_id, ..Default::default() };
        let resource_name = name.clone();
        let configs = self.configs.into_iter().map(move |(name, value)| ConfigRecord {
            resource_type: RESOURCE_TOPIC,
            resource_name: resource_name.clone(),
            name,
            value: Some(value),
            ..Default::default()
        });
        let partitions = (0..).zip(self.assignments).map(move |(index, to)| to.record(topic_id, index, dirs));
        std::iter::once(topic.into()).chain(configs.map(Into::into)).chain(partitions.map(Into::into))
    }
}

fn plan_manual(image: &Image, wanted: &CreatableTopic) -> Result<Vec<Assignment>, Fault> {
    let refuse = |code, text: &str| Err(Fault::new(code, text));
    if wanted.replication_factor != -1 {
        let text = "A manual partition assignment was specified, but replication factor was not set to -1.";
        return refuse(ErrorCode::INVALID_REQUEST, text);
    }
    if wanted.num_partitions != -1 {
        let text = "A manual partition assignment was specified, but numPartitions was not set to -1.";
        return refuse(ErrorCode::INVALID_REQUEST, text);
    }
    let mut by_partition = BTreeMap::new();
    let mut factor = None;
    for given in &wanted.assignments {
        let index = given.partition_index;
        let assignment = Assignment::manual(image, index, &given.broker_ids, factor)?;
        factor = Some(assignment.replicas.len());
        if by_partition.insert(index, assignment).is_some() {
            let text = format!("Found multiple manual partition assignments for partition {index}");
            return refuse(ErrorCode::INVALID_REPLICA_ASSIGNMENT, &text);
        }
    }
    if !by_partition.keys().copied().eq((0..).take(by_partition.len())) {
        let text = "partitions should be a consecutive 0-based integer sequence";
        return refuse(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text);
    }
    Ok(by_partition.into_values().collect())
}

/// Ids that Kafka reserves are as unlikely as a collision, and are avoided alike.
fn new_id(image: &Image, facts: &mut Facts<'_>) -> Uuid {
    loop {
        let id = (facts.random_id)();
        if !id.is_zero() && image.topic_by_id(id).is_none() {
            return id;
        }
    }
}

fn refusal(name: &Str, fault: &Fault) -> CreatableTopicResult {
    CreatableTopicResult {
        name: name.clone(),
        error_code: fault.code.code(),
        error_message: fault.text(),
        num_partitions: -1,
        replication_factor: -1,
        configs: None,
        ..Default::default()
    }
}
