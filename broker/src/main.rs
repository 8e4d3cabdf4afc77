//! The binary `ringlog`.

use std::process::ExitCode;

fn main() -> ExitCode {
    broker::cli::run(|_| {
        eprintln!("ringlog: this build has no broker");
        ExitCode::FAILURE
    })
}
