//! What is to be compared, as it is written on the command line.

use std::fmt;
use std::str::FromStr;

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetSpec {
    /// Its name in tables.
    pub name: String,
    pub(super) kind: TargetKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// Apache Kafka, started here.
    Kafka,
    /// Ringlog, started here.
    Ringlog,
    /// A broker that runs already: `host:port`, several by commas.
    Address(String),
    /// A command that starts one.
    Command(String),
}

/// What a command must name, so that the broker can be found.
pub(super) const LISTEN: &str = "{listen}";
/// What a command may name: the port alone, a fresh directory, the cores.
pub(super) const PORT: &str = "{port}";
pub(super) const DATA: &str = "{data}";
pub(super) const CORES: &str = "{cores}";

impl FromStr for TargetSpec {
    type Err = String;

    /// `[NAME=]kafka|ringlog|HOST:PORT[,HOST:PORT]|cmd:COMMAND`.
    fn from_str(text: &str) -> Result<Self, String> {
        // Only a plain word before the first `=` is a name: a command may hold more of them.
        let named = text.split_once('=').filter(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        });
        let (name, what) = named.map_or((None, text), |(name, what)| (Some(name), what));
        let kind = if let Some(command) = what.strip_prefix("cmd:") {
            if !command.contains(LISTEN) && !command.contains(PORT) {
                return Err(format!("a command must name {LISTEN} or {PORT}, where its broker is to listen"));
            }
            TargetKind::Command(command.trim().to_owned())
        } else {
            match what {
                "kafka" => TargetKind::Kafka,
                "ringlog" => TargetKind::Ringlog,
                _ if is_address(what) => TargetKind::Address(what.to_owned()),
                _ => return Err(format!("{what:?} is none of kafka, ringlog, HOST:PORT, cmd:COMMAND")),
            }
        };
        let name = name.map_or_else(|| default_name(&kind), str::to_owned);
        Ok(TargetSpec { name, kind })
    }
}

fn is_address(what: &str) -> bool {
    what.split(',').all(|one| {
        one.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    })
}

fn default_name(kind: &TargetKind) -> String {
    match kind {
        TargetKind::Kafka => "kafka".into(),
        TargetKind::Ringlog => "ringlog".into(),
        TargetKind::Address(address) => address.clone(),
        TargetKind::Command(command) => {
            let program = command.split_whitespace().next().unwrap_or("command");
            program.rsplit('/').next().unwrap_or(program).to_owned()
        }
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Gives both a name of their own: the same broker may be compared with itself, which shows the noise.
pub(super) fn tell_apart(mut both: [TargetSpec; 2]) -> [TargetSpec; 2] {
    if both[0].name == both[1].name {
        both[0].name.push_str(" A");
        both[1].name.push_str(" B");
    }
    both
}
