//! A registered broker.

use protocol::types::{Str, Uuid};

use super::topic::{DIRECTORY_LOST, DIRECTORY_MIGRATING, DIRECTORY_UNASSIGNED};

/// Where a broker listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Listener name.
    pub name: Str,
    /// Advertised host.
    pub host: Str,
    /// Advertised port.
    pub port: u16,
    /// Kafka's number of the security protocol: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
    pub security_protocol: i16,
}

/// One run of a broker, from its registration on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Node id.
    pub id: i32,
    /// Offset of the registration: later than that of any earlier run.
    pub epoch: i64,
    /// Random id of the run.
    pub incarnation_id: Uuid,
    /// Advertised addresses, by listener.
    pub endpoints: Vec<Endpoint>,
    /// `broker.rack`.
    pub rack: Option<Str>,
    /// Whether it is shut out: it leads nothing and isn't told to clients.
    pub fenced: bool,
    /// Whether it is about to stop.
    pub in_controlled_shutdown: bool,
    /// Ids of its log directories that are online.
    pub log_dirs: Vec<Uuid>,
}

impl Broker {
    /// Whether it may get new partitions and lead them.
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }

    /// Whether it has that log directory, as far as is known: it may be its choice yet, and it may not have told which it has.
    pub fn has_online_dir(&self, directory: Uuid) -> bool {
        has_online_dir(&self.log_dirs, directory)
    }

    /// Where it listens under that listener name.
    pub fn endpoint(&self, listener: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.name == *listener)
    }
}

/// Whether `directory` is one of those that a broker tells are `online`. One that tells none has any.
pub fn has_online_dir(online: &[Uuid], directory: Uuid) -> bool {
    match directory {
        DIRECTORY_UNASSIGNED | DIRECTORY_MIGRATING => true,
        DIRECTORY_LOST => false,
        id => online.is_empty() || online.contains(&id),
    }
}
