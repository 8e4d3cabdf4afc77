//! Whom a load goes to.

/// Whom a load goes to, and on what it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// A name for tables.
    pub name: String,
    /// Brokers to ask first: `host:port`, several by commas.
    pub bootstrap: String,
    /// Shards of the load generator; one a core if not set.
    pub shards: Option<u16>,
}

impl Target {
    /// A target by its address.
    pub fn new(bootstrap: &str) -> Self {
        Self { name: bootstrap.to_owned(), bootstrap: bootstrap.to_owned(), shards: None }
    }
}
