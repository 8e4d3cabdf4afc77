//! Apache Kafka itself, started here as an operator of production would, to be measured beside Ringlog.
//!
//! Its jars come by Maven, by the same pom that the project's checks use. Settings are Kafka's own defaults
//! and those its documentation recommends for production ([`KafkaConfig::properties`],
//! [`KafkaConfig::java_options`]); nothing is set against it. What is started here is stopped here.

mod args;
mod config;
mod jars;
mod kafka;
mod run;
mod serving;
mod warm_up;

#[cfg(test)]
mod tests;

pub use args::{PeerArgs, PeerKind};
pub use config::{KafkaConfig, default_heap_bytes, parse_heap};
pub use jars::{KAFKA_VERSION, jars, target_dir};
pub use kafka::Kafka;
pub use run::peer;
pub(crate) use serving::await_serving;
pub(crate) use warm_up::warm_up;
