//! What has configs.

use clap::Args;
use client::blocking::Target;

/// Options that name it: exactly one.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(in crate::cli) struct ResourceArgs {
    /// A topic
    #[arg(long, short = 't', value_name = "NAME")]
    topic: Option<String>,
    /// A broker, by its id
    #[arg(long, value_name = "ID")]
    broker: Option<i32>,
    /// What is set on all brokers
    #[arg(long)]
    all_brokers: bool,
    /// A group
    #[arg(long, short = 'g', value_name = "ID")]
    group: Option<String>,
    /// A client metrics subscription
    #[arg(long, value_name = "NAME")]
    client_metrics: Option<String>,
}

/// One thing that has configs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Resource {
    Topic(String),
    Broker(i32),
    AllBrokers,
    Group(String),
    ClientMetrics(String),
}

impl ResourceArgs {
    /// What they name.
    pub(in crate::cli) fn resource(&self) -> Resource {
        match self {
            Self { topic: Some(name), .. } => Resource::Topic(name.clone()),
            Self { broker: Some(id), .. } => Resource::Broker(*id),
            Self { group: Some(id), .. } => Resource::Group(id.clone()),
            Self { client_metrics: Some(name), .. } => Resource::ClientMetrics(name.clone()),
            _ => Resource::AllBrokers,
        }
    }
}

impl Resource {
    /// Kafka's number of its type.
    pub(super) fn kind(&self) -> i8 {
        match self {
            Self::Topic(_) => 2,
            Self::Broker(_) | Self::AllBrokers => 4,
            Self::ClientMetrics(_) => 16,
            Self::Group(_) => 32,
        }
    }

    /// Its name in requests.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Topic(name) | Self::Group(name) | Self::ClientMetrics(name) => name.clone(),
            Self::Broker(id) => id.to_string(),
            Self::AllBrokers => String::new(),
        }
    }

    /// Who answers for it: a broker tells about itself only.
    pub(super) fn target(&self) -> Target<'static> {
        match self {
            Self::Broker(id) => Target::Node(*id),
            _ => Target::Any,
        }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Topic(name) => write!(f, "topic {name}"),
            Self::Broker(id) => write!(f, "broker {id}"),
            Self::AllBrokers => f.write_str("all brokers"),
            Self::Group(id) => write!(f, "group {id}"),
            Self::ClientMetrics(name) => write!(f, "client metrics {name}"),
        }
    }
}
