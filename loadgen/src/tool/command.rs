//! Which commands there are.

use clap::Subcommand;

use super::ReportArgs;
use crate::LoadError;
use crate::compare::{CompareArgs, compare};
use crate::disk::{DiskArgs, disk};
use crate::peer::{PeerArgs, peer};

/// What else the load generator does.
#[derive(Debug, Clone, Subcommand)]
pub enum ToolCommand {
    /// Run a suite against two brokers in turn and print both beside each other
    Compare(Box<CompareArgs>),
    /// Start another broker with production settings, to be measured
    Peer(PeerArgs),
    /// Measure direct writes below a directory, beside fio
    Disk(DiskArgs),
    /// Draw a result that was written as JSON
    Report(ReportArgs),
}

impl ToolCommand {
    /// Does it and prints what came of it to stdout.
    ///
    /// # Errors
    /// What the command failed on.
    pub fn run(&self) -> Result<(), LoadError> {
        match self {
            Self::Compare(args) => println!("{}", compare(args)?),
            Self::Peer(args) => peer(args)?,
            Self::Disk(args) => println!("{}", disk(args)?),
            Self::Report(args) => args.draw()?,
        }
        Ok(())
    }
}
