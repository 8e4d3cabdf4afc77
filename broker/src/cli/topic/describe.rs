//! `ringlog topic describe`.

use clap::Args;
use client::blocking::Target;
use client::{ClientError, PartitionInfo, SendError};
use protocol::messages::DescribeConfigsRequest;
use protocol::messages::describe_configs_request::DescribeConfigsResource;
use serde_json::{Value, json};

use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::offsets::{EARLIEST, LATEST, at_timestamp};
use crate::cli::output::{Table, list, or_dash, topic_id};
use crate::cli::session::Session;

/// Options of `topic describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// The topics' names
    #[arg(required = true)]
    names: Vec<String>,
}

const DESCRIBE_CONFIGS_MAX: i16 = 4;
/// Resource type of topics.
const TOPIC: i8 = 2;
/// Config source of values set on the topic itself.
const SET_ON_TOPIC: i8 = 1;

struct Described {
    name: String,
    id: Option<String>,
    /// None from a broker that doesn't tell them.
    configs: Option<Vec<(String, String)>>,
    partitions: Vec<Partition>,
}

struct Partition {
    index: i32,
    info: PartitionInfo,
    start: Option<i64>,
    end: Option<i64>,
}

pub(crate) fn run(mut session: Session, args: &DescribeArgs) -> Result<(), CliError> {
    let names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    session.client.refresh(Some(&names), false)?;
    let mut described = Vec::new();
    for name in names {
        described.push(describe(&mut session, name)?);
    }
    let mut out = std::io::stdout().lock();
    match session.output {
        OutputFormat::Json => {
            let all: Value = described.iter().map(as_json).collect();
            std::io::Write::write_all(&mut out, format!("{all:#}\n").as_bytes())?;
        }
        OutputFormat::Table => {
            for topic in &described {
                write_table(topic, &mut out)?;
            }
        }
    }
    Ok(())
}

fn describe(session: &mut Session, name: &str) -> Result<Described, CliError> {
    let topic = session.client.cluster().topic(name)?.clone();
    let configs = configs(session, name)?;
    let mut partitions = Vec::new();
    for (index, info) in topic.partitions {
        // Without a leader there is nobody to ask.
        let start = at_timestamp(session, name, index, EARLIEST).ok();
        let end = at_timestamp(session, name, index, LATEST).ok();
        partitions.push(Partition { index, info, start, end });
    }
    Ok(Described { name: name.into(), id: topic_id(topic.id), configs, partitions })
}

/// Configs set on the topic itself, by name.
fn configs(session: &mut Session, name: &str) -> Result<Option<Vec<(String, String)>>, CliError> {
    let answer = session.client.call(Target::Any, DESCRIBE_CONFIGS_MAX, |_| {
        let topic = DescribeConfigsResource {
            resource_type: TOPIC,
            resource_name: name.into(),
            configuration_keys: None,
            ..Default::default()
        };
        DescribeConfigsRequest { resources: vec![topic], ..Default::default() }
    });
    let answer = match answer {
        // The rest is worth telling without them.
        Err(ClientError::Send(SendError::Unsupported { .. })) => return Ok(None),
        answer => answer?.1,
    };
    let mut configs = Vec::new();
    for result in &answer.results {
        ClientError::check(result.error_code, result.error_message.as_deref(), || {
            format!("configs of {name}")
        })?;
        let set = result.configs.iter().filter(|config| config.config_source == SET_ON_TOPIC);
        configs.extend(
            set.map(|config| (config.name.to_string(), config.value.as_deref().unwrap_or("").to_owned())),
        );
    }
    configs.sort();
    Ok(Some(configs))
}

fn write_table(topic: &Described, out: &mut impl std::io::Write) -> Result<(), CliError> {
    let pairs = |configs: &Vec<(String, String)>| {
        let pairs: Vec<String> = configs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if pairs.is_empty() { "none set".into() } else { pairs.join(" ") }
    };
    let configs = topic.configs.as_ref().map_or_else(|| "unknown".into(), pairs);
    let id = topic.id.as_deref().unwrap_or("-");
    writeln!(out, "{}  id {id}  configs: {configs}", topic.name)?;
    let mut table =
        Table::new(&["PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "OFFLINE", "START", "END"]);
    for Partition { index, info, start, end } in &topic.partitions {
        table.row(vec![
            index.to_string(),
            if info.leader < 0 { "none".into() } else { info.leader.to_string() },
            info.leader_epoch.to_string(),
            list(&info.replicas),
            list(&info.isr),
            list(&info.offline),
            or_dash(*start),
            or_dash(*end),
        ]);
    }
    Ok(table.write(out)?)
}

fn as_json(topic: &Described) -> Value {
    let partition = |Partition { index, info, start, end }: &Partition| {
        json!({
            "partition": index, "leader": info.leader, "leader_epoch": info.leader_epoch, "replicas": info.replicas,
            "isr": info.isr, "offline": info.offline, "start_offset": start, "end_offset": end,
        })
    };
    let object = |configs: &Vec<(String, String)>| {
        let pairs = configs.iter().map(|(key, value)| (key.clone(), json!(value)));
        Value::Object(pairs.collect())
    };
    let configs = topic.configs.as_ref().map(object);
    let partitions: Vec<Value> = topic.partitions.iter().map(partition).collect();
    json!({"topic": topic.name, "topic_id": topic.id, "configs": configs, "partitions": partitions})
}
