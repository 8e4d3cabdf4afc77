//! The cluster's metadata: topics, ids, configs, brokers and producer ids in a Raft log.
//!
//! ```text
//!   request ── controller (pure: decide) ── records ── quorum (raft-rs, files) ── committed ── image, on every shard
//! ```
//!
//! [`image`] is the state, changed by records alone. [`controller`] decides what records a request makes.
//! [`quorum`] makes them durable and orders them. [`Controller`] ties them together on shard 0.

pub mod controller;
pub mod features;
pub mod image;
pub mod kafka;
pub mod limits;
pub mod quorum;
mod service;

pub use controller::{ControllerReply, ControllerRequest};
pub use image::{Delta, Image};
pub use quorum::{MetadataUpdate, QuorumConfig, QuorumError};
pub use service::{Controller, ControllerConfig, Handled};
