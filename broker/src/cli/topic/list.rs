//! `ringlog topic list`.

use clap::Args;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::output::{Table, print, topic_id};
use crate::cli::session::Session;

/// Options of `topic list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Kafka's own topics as well
    #[arg(long)]
    internal: bool,
}

pub(crate) fn run(mut session: Session, args: &ListArgs) -> Result<(), CliError> {
    session.client.refresh(None, false)?;
    let topics =
        || session.client.cluster().topics().filter(|(_, topic)| args.internal || !topic.is_internal);
    let replicas = |topic: &client::TopicInfo| {
        topic.partitions.values().map(|part| part.replicas.len()).max().unwrap_or(0)
    };
    let table = || {
        let mut table = Table::new(&["TOPIC", "PARTITIONS", "REPLICAS"]);
        for (name, topic) in topics() {
            table.row(vec![name.into(), topic.partitions.len().to_string(), replicas(topic).to_string()]);
        }
        table
    };
    let json = || {
        let one = |(name, topic): (&str, &client::TopicInfo)| {
            json!({
                "topic": name, "topic_id": topic_id(topic.id), "internal": topic.is_internal,
                "partitions": topic.partitions.len(), "replicas": replicas(topic),
            })
        };
        topics().map(one).collect()
    };
    print(session.output, table, json)?;
    Ok(())
}
