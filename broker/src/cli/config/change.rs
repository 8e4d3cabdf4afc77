//! What is to be changed.

use clap::Args;
use protocol::messages::incremental_alter_configs_request::AlterableConfig;

use crate::cli::error::CliError;
use crate::cli::session::parse_pair;

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

/// Options that change configs; all of one command take effect together, or none.
#[derive(Debug, Args)]
pub(in crate::cli) struct ChangeArgs {
    /// Set a config; may be repeated
    #[arg(long, short = 's', value_name = "KEY=VALUE", value_parser = parse_pair)]
    set: Vec<(String, String)>,
    /// Unset a config, so that the default holds again; may be repeated
    #[arg(long, short = 'u', value_name = "KEY")]
    unset: Vec<String>,
    /// Add elements to a list, as cleanup.policy=compact; may be repeated
    #[arg(long, value_name = "KEY=ELEMENT[,..]", value_parser = parse_pair)]
    append: Vec<(String, String)>,
    /// Take elements off a list; may be repeated
    #[arg(long, value_name = "KEY=ELEMENT[,..]", value_parser = parse_pair)]
    subtract: Vec<(String, String)>,
    /// Only check whether it could be done
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

impl ChangeArgs {
    /// The operations, at least one.
    pub(in crate::cli) fn operations(&self) -> Result<Vec<AlterableConfig>, CliError> {
        let operation = |config_operation, name: &String, value: Option<&String>| AlterableConfig {
            name: name.into(),
            config_operation,
            value: value.map(Into::into),
            ..Default::default()
        };
        let pairs = [(SET, &self.set), (APPEND, &self.append), (SUBTRACT, &self.subtract)];
        let changed = pairs.into_iter().flat_map(|(kind, pairs)| {
            pairs.iter().map(move |(name, value)| operation(kind, name, Some(value)))
        });
        let unset = self.unset.iter().map(|name| operation(DELETE, name, None));
        let operations: Vec<_> = changed.chain(unset).collect();
        if operations.is_empty() {
            let text = "nothing to change: give --set, --unset, --append or --subtract";
            return Err(CliError::Usage(text.into()));
        }
        Ok(operations)
    }
}
