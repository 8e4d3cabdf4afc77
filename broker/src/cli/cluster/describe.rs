//! `ringlog cluster describe`.

use std::io::Write;

use client::blocking::Target;
use client::{ClientError, SendError};
use protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};
use serde_json::{Value, json};

use super::features::{Feature, features};
use super::quorum::{Quorum, quorum};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::output::Table;
use crate::cli::session::Session;

const DESCRIBE_CLUSTER_MAX: i16 = 2;
/// DescribeCluster's word for brokers, not controllers.
const BROKERS: i8 = 1;

pub(super) fn run(mut session: Session) -> Result<(), CliError> {
    let cluster = cluster(&mut session)?;
    let features = features(&mut session)?;
    let quorum = if_known(quorum(&mut session))?;
    let mut out = std::io::stdout().lock();
    match session.output {
        OutputFormat::Json => writeln!(out, "{:#}", as_json(&cluster, &features, quorum.as_ref()))?,
        OutputFormat::Table => write_tables(&cluster, &features, quorum.as_ref(), &mut out)?,
    }
    Ok(())
}

fn cluster(session: &mut Session) -> Result<DescribeClusterResponse, ClientError> {
    let (_, answer) =
        session.client.call(Target::Any, DESCRIBE_CLUSTER_MAX, |version| DescribeClusterRequest {
            endpoint_type: BROKERS,
            include_fenced_brokers: version >= 2,
            ..Default::default()
        })?;
    ClientError::check(answer.error_code, answer.error_message.as_deref(), || "the cluster".into())?;
    Ok(answer)
}

/// None from a broker that doesn't know the call: the rest is worth telling without it.
fn if_known<T>(answer: Result<T, ClientError>) -> Result<Option<T>, ClientError> {
    match answer {
        Err(ClientError::Send(SendError::Unsupported { .. })) => Ok(None),
        answer => answer.map(Some),
    }
}

fn write_tables(
    cluster: &DescribeClusterResponse,
    features: &[Feature],
    quorum: Option<&Quorum>,
    out: &mut impl Write,
) -> std::io::Result<()> {
    writeln!(out, "cluster {}  controller {}\n", cluster.cluster_id, cluster.controller_id)?;
    let mut brokers = Table::new(&["BROKER", "HOST", "PORT", "RACK", "FENCED"]);
    for broker in &cluster.brokers {
        brokers.row(vec![
            broker.broker_id.to_string(),
            broker.host.to_string(),
            broker.port.to_string(),
            broker.rack.as_deref().unwrap_or("-").to_owned(),
            if broker.is_fenced { "yes" } else { "no" }.to_owned(),
        ]);
    }
    brokers.write(out)?;
    writeln!(out)?;
    let mut table = Table::new(&["FEATURE", "LEVEL", "SUPPORTED"]);
    for feature in features {
        let supported = feature.supported.map_or_else(|| "-".into(), |(min, max)| format!("{min} to {max}"));
        table.row(vec![feature.name.clone(), feature.level.to_string(), supported]);
    }
    table.write(out)?;
    let Some(quorum) = quorum else { return Ok(()) };
    writeln!(
        out,
        "\nquorum: leader {}, epoch {}, high watermark {}",
        quorum.leader, quorum.epoch, quorum.high_watermark
    )?;
    let mut table = Table::new(&["NODE", "ROLE", "DIRECTORY", "END", "LAG"]);
    for member in &quorum.members {
        table.row(vec![
            member.id.to_string(),
            member.role.to_owned(),
            member.directory.clone().unwrap_or_else(|| "-".into()),
            member.end_offset.to_string(),
            quorum.lag(member).to_string(),
        ]);
    }
    table.write(out)
}

fn as_json(cluster: &DescribeClusterResponse, features: &[Feature], quorum: Option<&Quorum>) -> Value {
    let brokers = cluster.brokers.iter().map(|broker| {
        json!({
            "broker": broker.broker_id, "host": broker.host.as_str(), "port": broker.port,
            "rack": broker.rack.as_deref(), "fenced": broker.is_fenced,
        })
    });
    let features = features.iter().map(|feature| {
        let (min, max) = feature.supported.unzip();
        json!({"feature": feature.name, "level": feature.level, "supported_min": min, "supported_max": max})
    });
    json!({
        "cluster_id": cluster.cluster_id.as_str(), "controller": cluster.controller_id,
        "brokers": brokers.collect::<Vec<_>>(), "features": features.collect::<Vec<_>>(),
        "quorum": quorum.map(Quorum::as_json),
    })
}
