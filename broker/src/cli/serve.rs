//! `ringlog serve`: its options. What they mean is the server's matter.

use std::path::PathBuf;

use clap::Args;

/// Options of `serve`. A flag beats `--override`, which beats the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ServeArgs {
    /// A server.properties file with Kafka's config names; defaults serve a lone broker
    #[arg(value_name = "SERVER.PROPERTIES")]
    pub config: Option<PathBuf>,
    /// Where the data lie (log.dirs)
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address to listen on (listeners)
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Cores to run on, one shard each, as 0-3 or 0,2,4-6
    #[arg(long, value_name = "CORES", value_parser = parse_cores)]
    pub cores: Option<Cores>,
    /// Sets one config, as --override key=value; may be repeated
    #[arg(long = "override", value_name = "KEY=VALUE", value_parser = super::session::parse_pair)]
    pub overrides: Vec<(String, String)>,
}

/// Named cores, in order, none twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores(pub Vec<usize>);

/// Highest core number accepted: the kernel's own limit of CPUs.
const CORE_MAX: usize = 8191;

fn parse_cores(text: &str) -> Result<Cores, String> {
    let number = |digits: &str| {
        let parsed = digits.trim().parse::<usize>().ok().filter(|core| *core <= CORE_MAX);
        parsed.ok_or_else(|| format!("{digits:?} is no core number"))
    };
    let mut cores = Vec::new();
    for piece in text.split(',') {
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("{piece:?} ends before it starts"));
        }
        cores.extend(first..=last);
    }
    let named = cores.len();
    cores.sort_unstable();
    cores.dedup();
    if cores.len() == named { Ok(Cores(cores)) } else { Err("a core is named twice".into()) }
}
