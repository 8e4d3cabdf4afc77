//! `ringlog config explain`: what a config name means. Asks no broker.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::config::keys;
use crate::config::reference::{Explained, explain, similar};

/// Options of `config explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Names of configs: of brokers, topics, groups or client metrics subscriptions
    #[arg(required = true, value_name = "KEY")]
    names: Vec<String>,
}

pub(crate) fn run(output: OutputFormat, args: &ExplainArgs) -> Result<(), CliError> {
    let mut found = Vec::new();
    for name in &args.names {
        let rows = explain(name);
        if rows.is_empty() {
            return Err(CliError::Refused(unknown(name)));
        }
        found.extend(rows);
    }
    let mut out = std::io::stdout().lock();
    if output == OutputFormat::Json {
        writeln!(out, "{:#}", found.iter().map(as_json).collect::<Value>())?;
        return Ok(());
    }
    for (i, row) in found.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        write_text(row, &mut out)?;
    }
    Ok(())
}

/// Why a name isn't explained, and what else it may be.
fn unknown(name: &str) -> String {
    if let Some(family) = keys::family(name) {
        return format!(
            "{name} is accepted, as all names that begin with {}, without effect: {}",
            family.prefix, family.reason
        );
    }
    match &similar(name)[..] {
        [] => format!("{name} is no config: see `ringlog config reference`"),
        names => format!("{name} is no config; is it one of these? {}", names.join(", ")),
    }
}

fn write_text(row: &Explained, out: &mut impl Write) -> std::io::Result<()> {
    let key = row.key;
    writeln!(out, "{}  ({} config)\n  {}", key.name, row.scope.name(), key.doc)?;
    let mut line = |what: &str, text: &str| writeln!(out, "  {what:<9} {text}");
    line("type", key.kind.name())?;
    if let Some(unit) = row.unit() {
        line("unit", unit)?;
    }
    line("allowed", &row.allowed())?;
    line(
        "default",
        match key.default {
            None => "none",
            Some("") => "\"\"",
            Some(text) => text,
        },
    )?;
    if !row.stand_ins.is_empty() {
        line("unset", &format!("the broker's {}", row.stand_ins.join(", else ")))?;
    }
    line("changes", row.changes())?;
    match row.without_effect() {
        None => line("acts", "yes"),
        Some(reason) => line("acts", &format!("no, it is only accepted: {reason}")),
    }
}

fn as_json(row: &Explained) -> Value {
    json!({
        "name": row.key.name, "scope": row.scope.name(), "documentation": row.key.doc, "type": row.key.kind.name(),
        "unit": row.unit(), "allowed": row.allowed(), "default": row.key.default, "stand_ins": row.stand_ins,
        "dynamic": row.is_dynamic(), "changes": row.changes(), "acts": row.without_effect().is_none(),
        "without_effect_because": row.without_effect(), "sensitive": row.key.is_sensitive(),
    })
}
