//! `ringlog check`: whether this host can run the broker, and how well.

mod cores;
mod storage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rt::boot::{Finding, ShardsRequest, Status, Verdict};
use serde_json::{Value, json};

use super::args::OutputFormat;
use super::error::CliError;
use super::host::limits::open_files;
use super::host::sys::Sys;
use super::output::Table;

/// Options of `check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Where the data are to lie; may be repeated. A missing directory is made, and a probe written and removed
    #[arg(long, short = 'd', value_name = "DIR", default_value = ".")]
    data_dir: Vec<PathBuf>,
    /// Judge as with ringlog.direct.io=false
    #[arg(long)]
    no_direct_io: bool,
}

/// Exit code 1 if the broker can't run here.
pub(super) fn run(output: OutputFormat, args: &CheckArgs) -> Result<ExitCode, CliError> {
    let verdict = look(&Sys::real(), args);
    let mut out = std::io::stdout().lock();
    match output {
        OutputFormat::Table => {
            table(&verdict).write(&mut out)?;
            std::io::Write::write_all(&mut out, format!("{}\n", summary(verdict.status())).as_bytes())?;
        }
        OutputFormat::Json => {
            let all: Value = verdict.findings.iter().map(as_json).collect();
            let json = json!({"verdict": word(verdict.status()), "findings": all});
            std::io::Write::write_all(&mut out, format!("{json:#}\n").as_bytes())?;
        }
    }
    Ok(if verdict.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn look(sys: &Sys, args: &CheckArgs) -> Verdict {
    let cores = rt::boot::plan_shards(&ShardsRequest { cores: None, shards: None });
    let shards = cores.as_ref().map_or(1, Vec::len);
    // First what `serve` itself checks when it starts.
    let mut verdict = rt::boot::check(&args.data_dir, shards, rt::Engine::default(), !args.no_direct_io);
    match cores {
        Ok(cores) => verdict.add("cores", Status::Ok, format!("{} shards, one a core", cores.len())),
        Err(error) => verdict.add("cores", Status::Fail, error.to_string()),
    }
    files(sys, &mut verdict);
    for dir in &args.data_dir {
        storage::look(sys, dir, &mut verdict);
    }
    cores::look(sys, &mut verdict);
    verdict
}

/// Descriptors that a node with some thousand partitions and connections needs.
const OPEN_FILES_GOOD: u64 = 100_000;
/// With fewer no broker does its work.
const OPEN_FILES_MIN: u64 = 256;

fn files(sys: &Sys, verdict: &mut Verdict) {
    let advice = "set LimitNOFILE=1048576 (systemd) or `ulimit -Hn`: each connection and segment takes one";
    let (status, text) = match open_files(sys) {
        // A broker raises the soft limit to the hard one.
        Some((_, hard)) if hard == u64::MAX => (Status::Ok, "any number may be open".to_owned()),
        Some((_, hard)) if hard >= OPEN_FILES_GOOD => (Status::Ok, format!("{hard} may be open")),
        Some((_, hard)) if hard >= OPEN_FILES_MIN => {
            (Status::Warn, format!("only {hard} may be open: {advice}"))
        }
        Some((_, hard)) => (Status::Fail, format!("only {hard} may be open: {advice}")),
        None => (Status::Warn, "/proc/self/limits doesn't tell".to_owned()),
    };
    verdict.add("open files", status, text);
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Warn => "warn",
        Status::Fail => "fail",
    }
}

fn summary(status: Status) -> &'static str {
    match status {
        Status::Ok => "this host can run the broker well",
        Status::Warn => "this host can run the broker, with the warnings above; `ringlog tune` mends some",
        Status::Fail => "this host can't run the broker: see what failed above",
    }
}

fn table(verdict: &Verdict) -> Table {
    let mut table = Table::new(&["VERDICT", "WHAT", "FOUND, AND WHAT TO DO"]);
    for Finding { what, status, text } in &verdict.findings {
        table.row(vec![word(*status).to_owned(), what.clone(), text.clone()]);
    }
    table
}

fn as_json(finding: &Finding) -> Value {
    json!({"what": finding.what, "verdict": word(finding.status), "text": finding.text})
}

#[cfg(test)]
pub(super) use self::{cores::look as look_at_cores, storage::look_at as look_at_storage};
