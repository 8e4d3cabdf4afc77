//! Configuration: every name Kafka knows, what it may hold, whether it acts here, and the typed result.
//!
//! [`keys`] is the table, one item a name. [`load()`] reads flags, overrides and file into a [`BrokerConfig`];
//! [`topic`] validates and resolves what topics override; [`mod@reference`] tells people about names.

pub mod broker;
pub mod describe;
pub mod error;
pub mod key;
pub mod keys;
pub mod listener;
pub mod load;
pub(crate) mod period;
pub mod properties;
pub mod reference;
mod safety;
pub mod topic;
pub mod value;
pub mod values;

pub use broker::BrokerConfig;
pub use error::{ConfigError, ConfigErrors};
pub use load::{Inputs, Loaded, Warning, load};
pub use topic::TopicConfig;
pub use values::{BrokerValues, Source};

#[cfg(test)]
mod tests;
