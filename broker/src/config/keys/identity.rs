//! Who the node is and what it is for.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::{ConfigKey, Valid};

pub(super) static KEYS: &[ConfigKey] = keys! {
    "node.id" Int = "1", min(0), ReadOnly, ACTS,
        "Number of this node in its cluster. Kafka has no default; here a lone node needs no file.";
    "broker.id" Int = "-1", ANY, ReadOnly, ACTS, "Old name of node.id; used if that isn't set.";
    "process.roles" List = "broker,controller", Valid::ListOf(&["broker", "controller"]), ReadOnly, ROLES,
        "What the node does: broker, controller, or both.";
    "broker.rack" String, ANY, ReadOnly, ACTS, "Rack of this broker, as Metadata answers tell it.";
    "initial.broker.registration.timeout.ms" Int = "60000", ANY, ReadOnly, QUORUM,
        "How long a starting broker tries to register with the controller, in ms.";
    "broker.heartbeat.interval.ms" Int = "2000", ANY, ReadOnly, QUORUM,
        "Time between two heartbeats to the controller, in ms.";
    "broker.session.timeout.ms" Int = "9000", ANY, ReadOnly, QUORUM,
        "A broker silent for this long is fenced, in ms.";
    "controlled.shutdown.enable" Boolean = "true", ANY, ReadOnly, REPLICATION,
        "Whether leaders move away before a broker stops.";
    "unstable.api.versions.enable" Boolean = "false", ANY, ReadOnly, UNSTABLE,
        "Whether API versions still in work are offered.";
    "unstable.feature.versions.enable" Boolean = "false", ANY, ReadOnly, UNSTABLE,
        "Whether feature levels still in work may be finalised.";
    "config.providers" List = "", ANY, ClusterWide, JAVA, "Names of classes that resolve values kept elsewhere.";
};
