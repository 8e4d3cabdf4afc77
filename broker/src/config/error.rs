//! What is wrong with a configuration; always the operator's fault.

use std::fmt;

/// One fault, told with name, value and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A value outside what its name allows; the text is Kafka's.
    #[error("Invalid value {value} for configuration {name}: {why}")]
    Invalid {
        /// Config name.
        name: String,
        /// The value given; `null` for none, hidden for passwords.
        value: String,
        /// What is allowed.
        why: String,
    },
    /// Values that can't stand together, or that something else doesn't allow; the text says it all.
    #[error("{0}")]
    Refused(String),
    /// A topic config that doesn't exist.
    #[error("Unknown topic config name: {0}")]
    UnknownTopicConfig(String),
    /// The properties file can't be read.
    #[error("{file}: {why}")]
    File {
        /// Its path.
        file: String,
        /// What the system said.
        why: String,
    },
    /// A line of the properties file that no parser of Java's takes.
    #[error("{file}, line {line}: {why}")]
    Syntax {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

impl ConfigError {
    /// A value that `name` doesn't allow.
    pub fn invalid(name: &str, value: impl fmt::Display, why: impl Into<String>) -> Self {
        Self::Invalid { name: name.into(), value: value.to_string(), why: why.into() }
    }

    /// The same fault of another config, which was given as `value`.
    #[must_use]
    pub(super) fn of(self, name: &str, value: &str) -> Self {
        match self {
            Self::Invalid { why, .. } => Self::invalid(name, value, why),
            other => other,
        }
    }
}

/// All faults of one configuration, one a line, so that they are mended in one go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let gap = if i == 0 { "" } else { "\n" };
            write!(f, "{gap}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

impl From<ConfigError> for ConfigErrors {
    fn from(error: ConfigError) -> Self {
        Self(vec![error])
    }
}
