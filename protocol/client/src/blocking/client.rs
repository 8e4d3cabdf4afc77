//! A whole cluster over blocking sockets.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::messages::{FindCoordinatorRequest, MetadataRequest, Request};

use super::BlockingConnection;
use crate::{ClientError, Cluster, ConnectionConfig, Node};

/// Who is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// Any broker.
    Any,
    /// The controller, or a broker that forwards to it.
    Controller,
    /// A broker by id.
    Node(i32),
    /// The leader of a partition whose topic's metadata were asked for.
    Leader(&'a str, i32),
    /// The coordinator of a group.
    Coordinator(&'a str),
}

/// A client of a cluster: connects where needed, keeps connections, finds leaders and coordinators. One
/// request at a time.
#[derive(Debug)]
pub struct BlockingClient {
    bootstrap: Vec<String>,
    config: ConnectionConfig,
    cluster: Cluster,
    connections: BTreeMap<i32, BlockingConnection>,
    any: Option<BlockingConnection>,
}

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a coordinator is asked for while it isn't there yet, 200 ms apart.
const COORDINATOR_TRIES: u32 = 50;
const COORDINATOR_PAUSE: Duration = Duration::from_millis(200);

impl BlockingClient {
    /// A client that first asks the brokers of `bootstrap`: `host:port`, several by commas.
    ///
    /// # Errors
    /// `Connect`, if none can be reached.
    pub fn connect(bootstrap: &str, config: ConnectionConfig) -> Result<Self, ClientError> {
        let bootstrap = bootstrap.split(',').map(|address| address.trim().to_owned()).collect();
        let mut client =
            Self { bootstrap, config, cluster: Cluster::new(), connections: BTreeMap::new(), any: None };
        client.any()?;
        Ok(client)
    }

    /// What is known so far.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Asks for metadata of these topics, or of all; `create` lets the broker create them if its config does.
    ///
    /// # Errors
    /// Those of a call. A topic's own error shows in [`Cluster::topic`].
    pub fn refresh(&mut self, topics: Option<&[&str]>, create: bool) -> Result<(), ClientError> {
        let (_, answer) = self.call::<MetadataRequest>(Target::Any, METADATA_MAX, |version| {
            Cluster::metadata_request(topics, create, version)
        })?;
        self.cluster.take_metadata(&answer);
        Ok(())
    }

    /// Sends the request that `build` makes for the best version up to `max`; gives the version and the
    /// answer.
    ///
    /// # Errors
    /// All of [`ClientError`].
    pub fn call<R: Request>(
        &mut self,
        target: Target<'_>,
        max: i16,
        build: impl FnOnce(i16) -> R,
    ) -> Result<(i16, R::Response), ClientError> {
        self.call_within(target, max, Duration::ZERO, build)
    }

    /// As [`call`](Self::call), for a request that lets the broker wait for `extra`.
    ///
    /// # Errors
    /// All of [`ClientError`].
    pub fn call_within<R: Request>(
        &mut self,
        target: Target<'_>,
        max: i16,
        extra: Duration,
        build: impl FnOnce(i16) -> R,
    ) -> Result<(i16, R::Response), ClientError> {
        let id = self.node_of(target)?;
        let connection = self.connection(id)?;
        let version = connection.versions().choose::<R>(max)?;
        let outcome = connection.call(&build(version), version, extra);
        if outcome.is_err() {
            self.drop_connection(id);
        }
        Ok((version, outcome?))
    }

    /// The connection to a target, opened if need be, for callers that pipeline on it.
    ///
    /// # Errors
    /// `Connect`, and those of finding the target.
    pub fn connection_to(&mut self, target: Target<'_>) -> Result<&mut BlockingConnection, ClientError> {
        let id = self.node_of(target)?;
        self.connection(id)
    }

    /// The target's node; none means any.
    fn node_of(&mut self, target: Target<'_>) -> Result<Option<i32>, ClientError> {
        Ok(match target {
            Target::Any => None,
            Target::Node(id) => Some(id),
            Target::Controller => {
                if self.cluster.controller().is_none() {
                    self.refresh(Some(&[]), false)?;
                }
                self.cluster.controller().map(|node| node.id)
            }
            Target::Leader(topic, partition) => Some(self.cluster.leader(topic, partition)?.id),
            Target::Coordinator(group) => Some(self.coordinator(group)?),
        })
    }

    fn coordinator(&mut self, group: &str) -> Result<i32, ClientError> {
        let mut tries = 0;
        loop {
            if let Some(node) = self.cluster.coordinator(group) {
                return Ok(node.id);
            }
            let (_, answer) =
                self.call::<FindCoordinatorRequest>(Target::Any, COORDINATOR_MAX, |version| {
                    Cluster::coordinator_request(group, version)
                })?;
            let found = self.cluster.take_coordinator(group, &answer);
            tries += 1;
            match found {
                // The first use of groups creates their topic, which takes a moment.
                Err(error)
                    if error.code().is_some_and(|code| code.is_retriable()) && tries < COORDINATOR_TRIES =>
                {
                    super::socket::pause(COORDINATOR_PAUSE);
                }
                other => other?,
            }
        }
    }

    /// Forgets a group's coordinator, after it said that it isn't, or not yet: the next call asks for it
    /// again.
    pub fn forget_coordinator(&mut self, group: &str) {
        self.cluster.forget_coordinator(group);
    }

    fn connection(&mut self, id: Option<i32>) -> Result<&mut BlockingConnection, ClientError> {
        let Some(id) = id else { return self.any() };
        match self.connections.entry(id) {
            std::collections::btree_map::Entry::Occupied(open) => Ok(open.into_mut()),
            std::collections::btree_map::Entry::Vacant(vacant) => {
                let node = self.cluster.node(id);
                let address = node
                    .map(Node::address)
                    .ok_or_else(|| ClientError::Unknown(format!("no broker has id {id}")))?;
                Ok(vacant.insert(BlockingConnection::connect(
                    &address,
                    self.config.clone(),
                    CONNECT_TIMEOUT,
                )?))
            }
        }
    }

    fn any(&mut self) -> Result<&mut BlockingConnection, ClientError> {
        let open = match self.any.take() {
            Some(open) => open,
            None => {
                // The brokers named first may be down by now, while others are known.
                let known = self.cluster.nodes().map(Node::address);
                let addresses: Vec<String> = self.bootstrap.iter().cloned().chain(known).collect();
                first_that_answers(&addresses, &self.config)?
            }
        };
        Ok(self.any.insert(open))
    }

    fn drop_connection(&mut self, id: Option<i32>) {
        match id {
            Some(id) => drop(self.connections.remove(&id)),
            None => self.any = None,
        }
    }
}

/// Highest versions the machines fill.
const METADATA_MAX: i16 = 12;
const COORDINATOR_MAX: i16 = 5;

fn first_that_answers(
    addresses: &[String],
    config: &ConnectionConfig,
) -> Result<BlockingConnection, ClientError> {
    let mut last = ClientError::Unknown("no bootstrap server was given".into());
    for address in addresses {
        match BlockingConnection::connect(address, config.clone(), CONNECT_TIMEOUT) {
            Ok(connection) => return Ok(connection),
            Err(error) => last = error,
        }
    }
    Err(last)
}
