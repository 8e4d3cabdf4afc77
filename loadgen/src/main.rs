//! The binary `ringlog-loadgen`: the load generator by itself, for hosts without a broker.

use std::process::ExitCode;

use clap::Parser;
use loadgen::cli::{BenchArgs, execute};

/// Puts a load on a Kafka-compatible broker and measures it.
#[derive(Debug, Parser)]
#[command(name = "ringlog-loadgen", version)]
struct Options {
    /// Brokers to ask first, HOST:PORT, several by commas
    #[arg(long, short = 'b', global = true, default_value = "127.0.0.1:9092", value_name = "HOST:PORT")]
    bootstrap_server: String,
    #[command(flatten)]
    bench: BenchArgs,
}

fn main() -> ExitCode {
    let options = Options::parse();
    execute(&options.bootstrap_server, &options.bench, false)
}
