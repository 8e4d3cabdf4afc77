//! The scenarios that come with the program: the files of `benches/scenarios/`.

use super::Scenario;
use crate::LoadError;

/// Their names and texts.
pub const BUILTIN: [(&str, &str); 6] = [
    ("kreps2014", include_str!("../../../benches/scenarios/kreps2014.toml")),
    ("omb", include_str!("../../../benches/scenarios/omb.toml")),
    ("telemetry", include_str!("../../../benches/scenarios/telemetry.toml")),
    ("catchup", include_str!("../../../benches/scenarios/catchup.toml")),
    ("latency", include_str!("../../../benches/scenarios/latency.toml")),
    ("churn", include_str!("../../../benches/scenarios/churn.toml")),
];

/// One of them.
///
/// # Errors
/// `Usage`, naming those there are.
pub fn builtin(name: &str) -> Result<Scenario, LoadError> {
    let found = BUILTIN.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| {
        let names: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
        LoadError::Usage(format!("no suite is called {name:?}; there are {}", names.join(", ")))
    })?;
    Scenario::parse(text)
}
