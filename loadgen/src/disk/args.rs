//! Options of `ringlog-loadgen disk`.

use std::path::PathBuf;

use clap::Args;

/// Settings of [`crate::disk::disk`].
#[derive(Debug, Clone, Args)]
pub struct DiskArgs {
    /// Directory on the device to measure; what is written there is removed again
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub data_dir: PathBuf,
    /// Size of the file that a line writes, in MiB
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u64).range(16..=1_048_576))]
    pub file_mib: u64,
    /// Longest time of a line, in s
    #[arg(long, default_value_t = 4.0)]
    pub seconds: f64,
    /// Rounds, of which the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Only the lines whose name holds this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Don't measure fio beside
    #[arg(long)]
    pub no_fio: bool,
    /// Write the result as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
