//! What was taken over, and what wasn't.

use std::io::{self, Write};

use serde_json::json;

use super::AdoptArgs;
use super::found::Adoption;
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

pub(super) fn write(output: OutputFormat, args: &AdoptArgs, adoption: &Adoption) -> Result<(), CliError> {
    let Adoption { node_id, cluster_id, topics, partitions, .. } = adoption;
    let bytes: u64 = partitions.iter().map(|taken| taken.bytes).sum();
    let left = left(adoption);
    let mut out = io::stdout().lock();
    if output == OutputFormat::Json {
        let document = json!({
            "node_id": node_id, "cluster_id": cluster_id, "topics": topics, "partitions": partitions.len(), "bytes": bytes,
            "left": left, "data_dir": args.data_dir.display().to_string(), "executed": !args.dry_run,
        });
        writeln!(out, "{document:#}")?;
        return Ok(());
    }
    let done = if args.dry_run { "would be taken over" } else { "taken over" };
    let partitions = partitions.len();
    writeln!(
        out,
        "{topics} topics, {partitions} partitions, {bytes} bytes of node {node_id}, cluster {cluster_id}: {done}"
    )?;
    left.iter().try_for_each(|what| writeln!(out, "not taken over: {what}"))?;
    if !args.dry_run {
        let dir = args.data_dir.display();
        writeln!(
            out,
            "Serve it with Kafka's own server.properties, whose settings hold for topics that set none themselves (retention, say):"
        )?;
        writeln!(out, "  ringlog serve SERVER.PROPERTIES --data-dir {dir} --override node.id={node_id}")?;
    }
    Ok(())
}

fn left(adoption: &Adoption) -> Vec<String> {
    let untaken = &adoption.untaken;
    let counted = [
        (untaken.acls.len(), "access control entries"),
        (untaken.users.len(), "SCRAM credentials"),
        (untaken.quotas.len(), "client quotas"),
    ];
    let some = counted.iter().filter(|(count, _)| *count > 0);
    let mut left: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
    if untaken.tokens {
        left.push("delegation tokens".to_owned());
    }
    left.extend(untaken.features.iter().map(|feature| format!("feature {feature}")));
    left.extend(adoption.unknown.iter().map(|of| format!("{of}, which Kafka's metadata don't know")));
    left
}
