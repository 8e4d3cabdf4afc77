//! The binary `ringlog`.

use std::process::ExitCode;

fn main() -> ExitCode {
    broker::cli::run(broker::server::serve)
}
