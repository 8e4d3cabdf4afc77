//! The same by fio.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{DiskLine, Pattern, Reached};
use crate::process::HostError;

/// Why fio can't be measured; `None` when it is there.
pub(super) fn missing() -> Option<String> {
    let found = Command::new("fio").arg("--version").stdin(Stdio::null()).output();
    match found {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("fio: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("fio: {error}")),
    }
}

/// Writes one line's file, for at most `within`, and removes it.
///
/// # Errors
/// fio fails, or says something else than expected.
pub(super) fn write(
    dir: &Path,
    line: DiskLine,
    file_bytes: u64,
    within: Duration,
) -> Result<Reached, HostError> {
    let path = dir.join(format!("ringlog-disk-fio-{}", std::process::id()));
    let mut fio = Command::new("fio");
    fio.args(options(line, file_bytes, within)).arg(format!("--filename={}", path.display()));
    let output = fio.stdin(Stdio::null()).output();
    #[allow(clippy::disallowed_methods, reason = "fio's file, on the tool's own thread")]
    let _ = std::fs::remove_file(&path);
    let output = output.map_err(|error| HostError::io("fio", error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match parse(&text) {
        Some(reached) if output.status.success() => Ok(reached),
        _ => {
            let log_tail = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(HostError::Program { what: format!("fio failed on {line}"), log_tail })
        }
    }
}

pub(super) fn options(line: DiskLine, file_bytes: u64, within: Duration) -> Vec<String> {
    let pattern = match line.pattern {
        Pattern::Sequential => "write",
        Pattern::Random => "randwrite",
    };
    let mut options: Vec<String> =
        ["--name=ringlog", "--ioengine=io_uring", "--direct=1", "--fallocate=posix", "--output-format=json"]
            .map(str::to_owned)
            .into();
    options.extend([
        format!("--rw={pattern}"),
        format!("--bs={}", line.block_bytes),
        format!("--iodepth={}", line.depth),
        format!("--size={file_bytes}"),
        format!("--runtime={}ms", within.as_millis()),
    ]);
    options
}

/// The figures in fio's JSON. Warnings may stand before it.
pub(super) fn parse(text: &str) -> Option<Reached> {
    let json: Value = serde_json::from_str(&text[text.find('{')?..]).ok()?;
    let write = json.get("jobs")?.get(0)?.get("write")?;
    let us =
        |percentile: &str| Some(write.get("clat_ns")?.get("percentile")?.get(percentile)?.as_f64()? / 1000.0);
    Some(Reached {
        mb_per_s: write.get("bw_bytes")?.as_f64()? / 1e6,
        writes_per_s: write.get("iops")?.as_f64()?,
        p50_us: us("50.000000")?,
        p99_us: us("99.000000")?,
    })
}
