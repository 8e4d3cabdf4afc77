"""A command of Kafka's tools to run on both brokers, and what of its output is compared."""

import dataclasses
import shlex
import time

from . import differ, jvm, sides

# Reading again makes up for a broker that knows a change a moment later: both take changes over one after another.
READ_SECONDS_MAX = 8.0
_SHORT = {
    "topics": "org.apache.kafka.tools.TopicCommand",
    "configs": "org.apache.kafka.tools.ConfigCommand",
    "consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "groups": "org.apache.kafka.tools.GroupsCommand",
    "share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
    "get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "features": "org.apache.kafka.tools.FeatureCommand",
    "cluster": "org.apache.kafka.tools.ClusterTool",
    "metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "transactions": "org.apache.kafka.tools.TransactionsCommand",
    "client-metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "acls": "org.apache.kafka.tools.AclCommand",
    "delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
    "verifiable-consumer": "org.apache.kafka.tools.VerifiableConsumer",
    "producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "e2e-latency": "org.apache.kafka.tools.EndToEndLatency",
}


@dataclasses.dataclass(frozen=True)
class Step:
    """`line` is a command as a shell would take it: a tool's name in Kafka's bin/ without `kafka-` and `.sh`, then its arguments."""

    line: str
    stdin: str = ""
    # Patterns that are replaced before lines are compared: figures that no two runs share.
    hide: tuple = ()
    # The order of the lines isn't promised.
    sort: bool = False
    # Asks only: repeated while the two differ.
    reads: bool = False
    # Ends its process by itself, so that it needs one.
    alone: bool = False
    # What a shell's `--option FILE` reads, written before the command: {name in `line`: text}.
    files: tuple = ()
    seconds: int = 40

    @property
    def name(self):
        return self.line

    def run(self, side):
        """The command on one side: (exit code, lines of its standard output and of its standard error)."""
        folder = side.node.work_dir
        for file, text in self.files:
            (folder / file).write_text(text)
        words = [str(folder / word) if word in dict(self.files) else word for word in shlex.split(self.line)]
        server = ["--bootstrap-server", side.bootstrap]
        # The tools by argparse want the server before their command, or right behind it.
        at = {"cluster": 2}.get(words[0], 1)
        run = jvm.alone if self.alone else side.jvm.run
        done = run(_SHORT[words[0]], words[1:at] + server + words[at:], self.stdin, seconds=self.seconds)
        return done.code, differ.lines(done.out + "\n" + done.err, side, self.hide, self.sort)


def answers_of(step, pair, is_good):
    """((code, lines) of Kafka, the same of Ringlog); one that only reads is asked again until they are good."""
    end = time.monotonic() + READ_SECONDS_MAX
    while True:
        answers = sides.on_both(pair, step.run)
        if is_good(answers) or not step.reads or time.monotonic() > end:
            return answers
        time.sleep(0.3)
