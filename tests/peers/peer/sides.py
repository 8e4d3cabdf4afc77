"""Apache Kafka and Ringlog side by side, with the same settings."""

import concurrent.futures

from harness import broker

from . import jvm

# What both are started with.
SETTINGS = {
    "group.coordinator.rebalance.protocols": "classic",
    "group.min.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "10",
    "log.segment.delete.delay.ms": "1000",
    "node.id": "1",
    **{name: "1" for name in ("offsets.topic.replication.factor", "transaction.state.log.replication.factor", "transaction.state.log.min.isr",
                              "share.coordinator.state.topic.replication.factor", "share.coordinator.state.topic.min.isr")},
}
# Features of Kafka that Ringlog doesn't have: what is off must answer as it does there.
OFF = ("group.version", "share.version", "streams.version", "eligible.leader.replicas.version")


class Ringlog(broker.Ringlog):
    """With its listeners set as Kafka's are, by configs: `--listen` unsets the advertised ones."""

    def argv(self):
        argv = super().argv()
        at = argv.index("--listen")
        listeners = [word for name in ("listeners", "advertised.listeners") for word in ("--override", f"{name}=PLAINTEXT://{self.bootstrap}")]
        return argv[:at] + argv[at + 2 :] + listeners


class Side:
    """One of the two brokers, and a JVM for the tools that talk to it."""

    def __init__(self, name, node):
        self.name, self.node = name, node
        self.jvm = jvm.Jvm(node.work_dir / "tools.log")

    @property
    def bootstrap(self):
        return self.node.bootstrap

    def close(self):
        """Ends the JVM and the broker."""
        self.jvm.close()
        self.node.stop(30)


def start(settings=None):
    """(Kafka, Ringlog), both serving."""
    wanted = {**SETTINGS, **(settings or {})}
    nodes = [broker.ApacheKafka(wanted), Ringlog(wanted)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for started in [pool.submit(node.start) for node in nodes]:
            started.result()
    pair = Side("kafka", nodes[0]), Side("ringlog", nodes[1])
    _switch_off(pair[0])
    return pair


def _switch_off(kafka):
    """Features, and what formatting a cluster set for the sake of one of them."""
    server = ["--bootstrap-server", kafka.bootstrap]
    off = [word for feature in OFF for word in ("--feature", feature)]
    config = ["--alter", "--entity-type", "brokers", "--entity-default", "--delete-config", "min.insync.replicas"]
    for main, argv in (("FeatureCommand", [*server, "disable", *off]), ("ConfigCommand", [*server, *config])):
        done = kafka.jvm.run(f"org.apache.kafka.tools.{main}", argv)
        if done.code:
            raise RuntimeError(f"Kafka's features can't be switched off: {done.out}{done.err}")


def on_both(sides, function):
    """What `function(side)` returns for each, asked at the same time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [asked.result() for asked in [pool.submit(function, side) for side in sides]]
