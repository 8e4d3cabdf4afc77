//! The binary `ringlog-loadgen`: the load generator by itself, for hosts without a broker.

use std::process::ExitCode;

use clap::Parser;
use loadgen::tool::ToolCommand;
use loadgen::{BenchArgs, bench};

/// Puts a load on a Kafka-compatible broker and measures it.
#[derive(Debug, Parser)]
#[command(name = "ringlog-loadgen", version, args_conflicts_with_subcommands = true)]
struct Options {
    /// Brokers to ask first, HOST:PORT, several by commas
    #[arg(long, short = 'b', default_value = "127.0.0.1:9092", value_name = "HOST:PORT")]
    bootstrap_server: String,
    #[command(flatten)]
    bench: BenchArgs,
    #[command(subcommand)]
    tool: Option<ToolCommand>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match &options.tool {
        Some(tool) => tool.run(),
        None => bench(&options.bootstrap_server, &options.bench).map(|report| println!("{report}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ringlog-loadgen: {error}");
            ExitCode::FAILURE
        }
    }
}
