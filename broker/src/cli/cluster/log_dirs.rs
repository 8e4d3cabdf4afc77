//! `ringlog cluster log-dirs`.

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::DescribeLogDirsRequest;
use protocol::messages::describe_log_dirs_response::DescribeLogDirsResult;
use serde_json::{Value, json};

use crate::cli::error::CliError;
use crate::cli::output::{Table, or_dash, print};
use crate::cli::session::Session;

/// Options of `cluster log-dirs`.
#[derive(Debug, Args)]
pub(crate) struct LogDirsArgs {
    /// Of these brokers only, by their ids
    #[arg(long, value_delimiter = ',', value_name = "ID[,..]")]
    broker: Vec<i32>,
    /// Each partition's size too
    #[arg(long, short = 'p')]
    partitions: bool,
}

const DESCRIBE_LOG_DIRS_MAX: i16 = 4;

/// A log directory of a broker.
struct Dir {
    broker: i32,
    path: String,
    error: Option<&'static str>,
    partitions: Vec<Partition>,
    /// Of its file system, in bytes.
    total: Option<i64>,
    usable: Option<i64>,
}

struct Partition {
    topic: String,
    partition: i32,
    bytes: i64,
    is_future: bool,
}

impl Dir {
    fn bytes(&self) -> i64 {
        self.partitions.iter().map(|partition| partition.bytes).fold(0, i64::saturating_add)
    }
}

pub(super) fn run(mut session: Session, args: &LogDirsArgs) -> Result<(), CliError> {
    session.client.refresh(Some(&[]), false)?;
    let known: Vec<i32> = session.client.cluster().nodes().map(|node| node.id).collect();
    if let Some(unknown) = args.broker.iter().find(|broker| !known.contains(broker)) {
        return Err(CliError::Usage(format!("no broker has id {unknown}: see `ringlog cluster describe`")));
    }
    let brokers = if args.broker.is_empty() { known } else { args.broker.clone() };
    let mut dirs = Vec::new();
    for broker in brokers {
        let target = Target::Node(broker);
        let (_, answer) = session.client.call(target, DESCRIBE_LOG_DIRS_MAX, |_| DescribeLogDirsRequest {
            topics: None,
            ..Default::default()
        })?;
        ClientError::check(answer.error_code, None, || format!("log directories of broker {broker}"))?;
        dirs.extend(answer.results.iter().map(|result| dir(broker, result)));
    }
    let table = || if args.partitions { partitions_table(&dirs) } else { dirs_table(&dirs) };
    print(session.output, table, || dirs.iter().map(as_json).collect())?;
    Ok(())
}

fn dir(broker: i32, result: &DescribeLogDirsResult) -> Dir {
    let mut partitions = Vec::new();
    for topic in &result.topics {
        partitions.extend(topic.partitions.iter().map(|partition| Partition {
            topic: topic.name.to_string(),
            partition: partition.partition_index,
            bytes: partition.partition_size,
            is_future: partition.is_future_key,
        }));
    }
    partitions.sort_by(|a, b| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
    let code = ErrorCode::from_code(result.error_code);
    let known = |bytes: i64| (bytes >= 0).then_some(bytes);
    Dir {
        broker,
        path: result.log_dir.to_string(),
        error: code.is_error().then(|| code.name()),
        partitions,
        total: known(result.total_bytes),
        usable: known(result.usable_bytes),
    }
}

fn dirs_table(dirs: &[Dir]) -> Table {
    let mut table = Table::new(&["BROKER", "DIRECTORY", "PARTITIONS", "BYTES", "FREE", "TOTAL", "STATE"]);
    for dir in dirs {
        table.row(vec![
            dir.broker.to_string(),
            dir.path.clone(),
            dir.partitions.len().to_string(),
            dir.bytes().to_string(),
            or_dash(dir.usable),
            or_dash(dir.total),
            dir.error.unwrap_or("ok").to_owned(),
        ]);
    }
    table
}

fn partitions_table(dirs: &[Dir]) -> Table {
    let mut table = Table::new(&["BROKER", "DIRECTORY", "TOPIC", "PARTITION", "BYTES"]);
    for dir in dirs {
        for Partition { topic, partition, bytes, is_future } in &dir.partitions {
            let moving = if *is_future { " (moving here)" } else { "" };
            let place = vec![dir.broker.to_string(), dir.path.clone(), topic.clone(), partition.to_string()];
            table.row([place, vec![format!("{bytes}{moving}")]].concat());
        }
    }
    table
}

fn as_json(dir: &Dir) -> Value {
    let partition = |partition: &Partition| {
        let Partition { topic, partition, bytes, is_future } = partition;
        json!({"topic": topic, "partition": partition, "bytes": bytes, "future": is_future})
    };
    json!({
        "broker": dir.broker, "dir": dir.path, "error": dir.error, "bytes": dir.bytes(), "total_bytes": dir.total,
        "usable_bytes": dir.usable, "partitions": dir.partitions.iter().map(partition).collect::<Vec<_>>(),
    })
}
