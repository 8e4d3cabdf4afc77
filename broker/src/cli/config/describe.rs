//! `ringlog config describe`.

use clap::Args;
use protocol::messages::describe_configs_response::DescribeConfigsResourceResult;
use serde_json::{Value, json};

use super::request;
use super::resource::ResourceArgs;
use crate::cli::error::CliError;
use crate::cli::output::{Table, print};
use crate::cli::session::Session;

/// Config source of values that nobody set.
const DEFAULT: i8 = 5;

/// Options of `config describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    #[command(flatten)]
    resource: ResourceArgs,
    /// Show these configs only
    keys: Vec<String>,
    /// Show those at their default too
    #[arg(long, short = 'a')]
    all: bool,
}

pub(crate) fn run(mut session: Session, args: &DescribeArgs) -> Result<(), CliError> {
    let mut configs = request::describe(&mut session, &args.resource.resource(), &args.keys)?;
    if !args.all && args.keys.is_empty() {
        configs.retain(|config| config.config_source != DEFAULT);
    }
    print(session.output, || table(&configs), || configs.iter().map(as_json).collect())?;
    Ok(())
}

fn table(configs: &[DescribeConfigsResourceResult]) -> Table {
    let mut table = Table::new(&["CONFIG", "VALUE", "SOURCE"]);
    for config in configs {
        let value = match &config.value {
            _ if config.is_sensitive => "(hidden)".to_owned(),
            None => "(null)".to_owned(),
            Some(value) => value.to_string(),
        };
        let read_only = if config.read_only { ", read-only" } else { "" };
        let source = format!("{}{read_only}", source_name(config.config_source));
        table.row(vec![config.name.to_string(), value, source]);
    }
    table
}

fn source_name(code: i8) -> &'static str {
    match code {
        1 => "topic",
        2 => "broker",
        3 => "all brokers",
        4 => "file or command line",
        DEFAULT => "default",
        6 => "logger",
        7 => "client metrics",
        8 => "group",
        _ => "unknown",
    }
}

fn as_json(config: &DescribeConfigsResourceResult) -> Value {
    let synonyms = config.synonyms.iter().map(|synonym| {
        json!({
            "name": synonym.name.as_str(), "value": synonym.value.as_deref(), "source": source_name(synonym.source),
        })
    });
    json!({
        "name": config.name.as_str(), "value": config.value.as_deref(), "source": source_name(config.config_source),
        "read_only": config.read_only, "sensitive": config.is_sensitive, "synonyms": synonyms.collect::<Vec<_>>(),
        "documentation": config.documentation.as_deref(),
    })
}
