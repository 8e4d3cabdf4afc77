//! Scenario files.

use serde::Deserialize;
use toml::{Table, Value};

use super::{Line, Scenario};
use crate::LoadError;

/// A file as it stands: lines aren't read before the defaults are laid under them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    defaults: Table,
    #[serde(default)]
    line: Vec<Table>,
}

/// Most lines of a scenario.
const LINES_MAX: usize = 1000;

impl Scenario {
    /// Reads a scenario file:
    /// ```toml
    /// name = "example"
    /// about = "What it is for."
    /// [defaults]                      # for all lines
    /// duration_s = 30
    /// topic = { partitions = 6 }
    /// [[line]]
    /// name = "one producer"
    /// produce = { acks = "all", record_bytes = 100 }
    /// ```
    /// Tables of a line and of the defaults are merged field by field; a line's field wins.
    ///
    /// # Errors
    /// `Scenario` with the place in the text, `Usage` for values that make no load.
    pub fn parse(text: &str) -> Result<Self, LoadError> {
        let file: File = toml::from_str(text).map_err(|error| LoadError::Scenario(error.to_string()))?;
        if file.line.is_empty() || file.line.len() > LINES_MAX {
            return Err(LoadError::Scenario(format!(
                "{} has {} lines, not 1 to {LINES_MAX}",
                file.name,
                file.line.len()
            )));
        }
        let line = |(at, line)| {
            read_line(&file.defaults, at, line)
                .map_err(|why| LoadError::Scenario(format!("{}: {why}", file.name)))
        };
        let lines = file.line.into_iter().enumerate().map(line).collect::<Result<Vec<Line>, _>>()?;
        let scenario = Self { name: file.name, about: file.about, lines, scale: 1.0 };
        scenario.check()?;
        Ok(scenario)
    }
}

fn read_line(defaults: &Table, at: usize, line: Table) -> Result<Line, String> {
    let name =
        line.get("name").and_then(Value::as_str).map_or_else(|| format!("line {}", at + 1), str::to_owned);
    let mut merged = defaults.clone();
    lay_over(&mut merged, line);
    Line::deserialize(Value::Table(merged)).map_err(|error| format!("{name}: {}", error.message()))
}

/// Lays `over` on `base`, table by table.
fn lay_over(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
