//! Options of `ringlog-loadgen peer`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::parse_heap;

/// Settings of [`crate::peer::peer`].
#[derive(Debug, Clone, Args)]
pub struct PeerArgs {
    /// Which broker
    #[command(subcommand)]
    pub kind: PeerKind,
}

/// The brokers that can be started.
#[derive(Debug, Clone, Subcommand)]
pub enum PeerKind {
    /// Apache Kafka 4.4: brings its jars by Maven, starts one node with production settings, warms it, and
    /// runs until it is told to stop
    Kafka {
        /// Where its data go: a new or empty directory, kept at the end [default: a temporary one]
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
        /// Address to listen on; port 0 takes a free one
        #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9092")]
        listen: String,
        /// Heap, as 4g or 512m [default: a quarter of the memory, 1g to 6g]
        #[arg(long, value_name = "SIZE", value_parser = parse_heap)]
        heap: Option<u64>,
        /// Cores to run on, as 0-3 or 0,2 [default: all]
        #[arg(long, value_name = "CORES")]
        cores: Option<String>,
    },
}
