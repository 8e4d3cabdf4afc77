//! `ringlog bench`: the load generator, linked in.

use std::process::ExitCode;

use loadgen::cli::{BenchArgs, execute};

use super::args::{GlobalArgs, OutputFormat};

pub(super) fn run(global: &GlobalArgs, args: &BenchArgs) -> ExitCode {
    execute(&global.bootstrap_server, args, global.output == OutputFormat::Json)
}
