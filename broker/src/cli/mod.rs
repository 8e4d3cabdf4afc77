//! The command line: one file a command. `serve` is parsed here and served by [`crate::server`]; `log` reads the files of a
//! stopped broker, and everything else is a client of any Kafka broker, on the thread of the process, over blocking
//! sockets, so that it works where io_uring doesn't.

mod args;
mod bench;
mod check;
mod cluster;
mod completions;
mod config;
mod consume;
mod error;
mod group;
mod host;
mod log;
mod man;
mod offsets;
mod output;
mod placement;
mod produce;
mod run;
mod serve;
mod session;
#[cfg(test)]
mod tests;
mod time;
mod topic;
mod tune;

pub use args::Cli;
pub use run::run;
pub use serve::ServeArgs;
