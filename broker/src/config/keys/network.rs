//! Listeners, sockets, requests, threads.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "listeners" List = "PLAINTEXT://127.0.0.1:9092", ANY, ReadOnly, ACTS,
        "Addresses to listen on, NAME://HOST:PORT, an empty host for all. Kafka's default is PLAINTEXT://:9092; \
         here a node without configuration is reached from its own machine only. They can't be changed while it runs.";
    "advertised.listeners" List, ANY, ReadOnly, ACTS,
        "Addresses that clients are told to connect to; listeners if unset.";
    "listener.security.protocol.map" String =
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", ANY, ReadOnly, ACTS,
        "Security protocol of each listener name, NAME:PROTOCOL; only PLAINTEXT is served so far.";
    "inter.broker.listener.name" String, ANY, ReadOnly, REPLICATION, "Listener that brokers use among themselves.";
    "security.inter.broker.protocol" String = "PLAINTEXT",
        one_of(&["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]), ReadOnly, REPLICATION,
        "Security protocol that brokers use among themselves, if inter.broker.listener.name isn't set.";
    "controller.listener.names" List, ANY, ReadOnly, ACTS,
        "Listeners of the controller; they aren't opened, as the quorum is this node alone so far.";
    "early.start.listeners" List, ANY, ReadOnly, SECURITY,
        "Listeners that open before authorization is ready.";
    "num.network.threads" Int = "3", min(1), ClusterWide, THREADS, "Threads for network work, per listener.";
    "num.io.threads" Int = "8", min(1), ClusterWide, THREADS, "Threads that handle requests.";
    "background.threads" Int = "10", min(1), ClusterWide, THREADS, "Threads for background work.";
    "queued.max.requests" Int = "500", min(1), ReadOnly, QUEUES, "Requests waiting before reading stops.";
    "queued.max.request.bytes" Long = "-1", ANY, ReadOnly, QUEUES,
        "Bytes of requests waiting before reading stops; -1 for no limit. See ringlog.memory.max.bytes.";
    "socket.send.buffer.bytes" Int = "102400", ANY, ReadOnly, BUFFERS, "SO_SNDBUF, in bytes; -1 leaves it.";
    "socket.receive.buffer.bytes" Int = "102400", ANY, ReadOnly, BUFFERS, "SO_RCVBUF, in bytes; -1 leaves it.";
    "socket.request.max.bytes" Int = "104857600", min(1), ReadOnly, ACTS,
        "Largest request accepted, in bytes; a larger one closes the connection.";
    "socket.listen.backlog.size" Int = "50", min(1), ReadOnly, BACKLOG,
        "Connections waiting to be accepted.";
    "max.connections" Int = "2147483647", min(0), ClusterWide, CONNECTIONS, "Connections at a time.";
    "max.connections.per.ip" Int = "2147483647", min(0), ClusterWide, CONNECTIONS,
        "Connections at a time from one address.";
    "max.connections.per.ip.overrides" String = "", ANY, ClusterWide, CONNECTIONS,
        "Exceptions to max.connections.per.ip, HOST:NUMBER,...";
    "max.connection.creation.rate" Int = "2147483647", min(0), ClusterWide, CONNECTIONS,
        "New connections a second.";
    "connections.max.idle.ms" Long = "600000", ANY, ReadOnly, ACTS,
        "A connection without a request for this long is closed, in ms; not below 1 if positive, -1 for never.";
    "connection.failed.authentication.delay.ms" Int = "100", min(0), ReadOnly, SECURITY,
        "How long a connection that failed to authenticate waits for its end, in ms.";
    "request.timeout.ms" Int = "30000", ANY, ReadOnly, REPLICATION,
        "How long the broker waits for answers of other nodes, in ms.";
    "socket.connection.setup.timeout.ms" Long = "10000", ANY, ReadOnly, REPLICATION,
        "How long a first try to connect to another node may take, in ms.";
    "socket.connection.setup.timeout.max.ms" Long = "30000", ANY, ReadOnly, REPLICATION,
        "How long any try to connect to another node may take, in ms.";
    "metric.reporters" List = "org.apache.kafka.common.metrics.JmxReporter", ANY, ClusterWide, METRICS,
        "Classes that get all metrics.";
    "metrics.num.samples" Int = "2", min(1), ReadOnly, METRICS, "Samples a rate is made of.";
    "metrics.sample.window.ms" Long = "30000", min(1), ReadOnly, METRICS, "Length of a sample, in ms.";
    "metrics.recording.level" String = "INFO", one_of(&["INFO", "DEBUG", "TRACE"]), ReadOnly, METRICS,
        "Which metrics are kept.";
    "kafka.metrics.reporters" List = "", ANY, ReadOnly, METRICS, "Classes that report Yammer metrics.";
    "kafka.metrics.polling.interval.secs" Int = "10", min(1), ReadOnly, METRICS,
        "How often Yammer metrics are reported, in s.";
    "telemetry.max.bytes" Int = "1048576", min(1), ReadOnly, TELEMETRY,
        "Largest push of client metrics, in bytes (KIP-714).";
};
