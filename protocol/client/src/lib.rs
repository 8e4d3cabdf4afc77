//! A Kafka client as pure machines, and a blocking driver for those who may block.
//!
//! [`Connection`] is one connection's protocol: bytes in, bytes out, time as an argument. [`Cluster`] is what
//! a client knows of topics, leaders and coordinators. Neither does I/O: the load generator drives them over
//! `rt`, the command line through [`blocking`], so that it works where io_uring doesn't.

pub mod blocking;
mod cluster;
mod connection;
mod error;
mod frames;
#[cfg(test)]
mod tests;
mod versions;

pub use cluster::{Cluster, Node, PartitionInfo, TopicInfo};
pub use connection::{Answer, Connection, ConnectionConfig, RequestId};
pub use error::{ClientError, ConnectionError, SendError};
pub use versions::Versions;
