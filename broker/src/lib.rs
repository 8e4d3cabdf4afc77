//! The product: connections, API handlers, group coordinators, the metadata quorum, configuration and the command line.
pub mod admin;
pub mod api;
pub mod cli;
pub mod config;
pub mod group;
pub mod metadata;
pub mod metrics;
pub mod server;
