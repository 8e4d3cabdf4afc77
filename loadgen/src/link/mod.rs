//! Connections to brokers over `rt`, and what a shard knows of the cluster.

mod dial;
mod directory;
#[expect(clippy::module_inception, reason = "the noun of this folder")]
mod link;
mod links;

pub(crate) use directory::{Directory, leaders_of};
pub(crate) use link::{Link, LinkError};
pub(crate) use links::Links;
