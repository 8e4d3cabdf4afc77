//! From a file, `--override`s and flags to a checked configuration.

use std::fmt;
use std::path::Path;

use super::broker::BrokerConfig;
use super::error::{ConfigError, ConfigErrors};
use super::key::{Effect, Update};
use super::properties;
use super::values::{BrokerValues, Layer};
use super::{keys, topic};

/// Everything a configuration is made of. Flags beat overrides, those beat the file, that beats the defaults; of the
/// same name twice in one of them, the later wins, as in Kafka.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Path and text of a server.properties file.
    pub file: Option<(String, String)>,
    /// `--override key=value`, in order.
    pub overrides: Vec<(String, String)>,
    /// Other flags: config name and value.
    pub flags: Vec<(String, String)>,
    /// Name of this machine, told to clients where a listener names no host.
    pub host_name: String,
}

impl Inputs {
    /// Reads the file to use. Blocks: for the main thread, before shards start.
    ///
    /// # Errors
    /// The file can't be read, or isn't UTF-8.
    pub fn with_file(mut self, path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::File { file: file.clone(), why: error.to_string() })?;
        self.file = Some((file, text));
        Ok(self)
    }

    /// `--data-dir`.
    #[must_use]
    pub fn with_data_dir(mut self, dir: &Path) -> Self {
        self.flags.push(("log.dirs".into(), dir.display().to_string()));
        self
    }

    /// `--listen HOST:PORT`. Listeners of the file are replaced, and with them what it advertises.
    #[must_use]
    pub fn with_listen(mut self, host_and_port: &str) -> Self {
        self.flags.push(("listeners".into(), format!("PLAINTEXT://{host_and_port}")));
        self
    }

    /// Takes the machine's own name. Blocks: for the main thread, before shards start.
    #[must_use]
    pub fn with_host_name(mut self) -> Self {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        self.host_name = if name.trim().is_empty() { "localhost".into() } else { name.trim().into() };
        self
    }
}

/// Something the operator should know, that doesn't keep the broker from starting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A name that neither Kafka nor Ringlog has.
    Unknown(String),
    /// A name that is known but does nothing here, and why.
    NoEffect(String, &'static str),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "unknown config {name} is ignored"),
            Self::NoEffect(name, reason) => write!(f, "config {name} has no effect: {reason}"),
        }
    }
}

/// A configuration in force, and what to warn of.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The typed values.
    pub config: BrokerConfig,
    /// By name.
    pub warnings: Vec<Warning>,
}

/// Merges, checks and types everything.
///
/// # Errors
/// All faults found: of the file's syntax, of values, and of values that contradict each other.
pub fn load(inputs: Inputs) -> Result<Loaded, ConfigErrors> {
    let host_name = inputs.host_name.clone();
    let set = merge(inputs)?;
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let mut fixed = Layer::new();
    for (name, text) in set {
        match inspect(&name, &text) {
            Ok(warning) => warnings.extend(warning),
            Err(error) => errors.push(error),
        }
        fixed.insert(name, text);
    }
    if !errors.is_empty() {
        return Err(ConfigErrors(errors));
    }
    let config = BrokerConfig::new(BrokerValues::new(fixed), &host_name)?;
    Ok(Loaded { config, warnings })
}

fn merge(inputs: Inputs) -> Result<Layer, ConfigError> {
    let mut set = Layer::new();
    if let Some((file, text)) = &inputs.file {
        set.extend(
            properties::parse(text, file)?.into_iter().map(|property| (property.name, property.value)),
        );
    }
    set.extend(inputs.overrides);
    let advertised = set.remove("advertised.listeners");
    let listens = |flags: &[(String, String)]| flags.iter().any(|(name, _)| name == "listeners");
    // `--listen` is a whole answer: an advertised address made for the file's listeners would mislead clients.
    if let Some(advertised) = advertised.filter(|_| !listens(&inputs.flags)) {
        set.insert("advertised.listeners".into(), advertised);
    }
    set.extend(inputs.flags);
    Ok(set)
}

/// Checks one value, and says whether there is something to warn of.
fn inspect(name: &str, text: &str) -> Result<Option<Warning>, ConfigError> {
    let Some(key) = keys::broker(name) else {
        let family = keys::family(name).map(|family| Warning::NoEffect(name.into(), family.reason));
        return Ok(Some(family.unwrap_or_else(|| Warning::Unknown(name.into()))));
    };
    key.check(text)?;
    topic::check_stand_in(name, text)?;
    if key.update == Update::DynamicOnly {
        return Ok(Some(Warning::NoEffect(name.into(), "it can only be set on a running broker")));
    }
    Ok(match key.effect {
        Effect::Acts => None,
        Effect::Inert { reason } => Some(Warning::NoEffect(name.into(), reason)),
    })
}
