"""The commands of the suite `tools`, in their order: each section on the state that the ones before it left."""

import json

from .steps import Step

# Offsets, epochs and the like of a metadata log, which no two clusters share.
_QUORUM = (r"\b\d{2,}\b", r"(?<=LeaderEpoch: )\s*\d+", r"(?<=LogEndOffset: )\d+", r"(?<=Epoch: )\d+")


def _reads(*lines, **options):
    return [Step(line, reads=True, **options) for line in lines]


def _changes(*lines, **options):
    return [Step(line, **options) for line in lines]


def _offsets(topic, rows):
    """The file of kafka-delete-records."""
    return json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": p, "offset": o} for p, o in rows]})


def _moves(topic, rows, log_dirs=None):
    """The file of kafka-reassign-partitions."""
    return json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": p, "replicas": r, **({"log_dirs": log_dirs} if log_dirs else {})}
                                                    for p, r in rows]})


EMPTY = [
    *_reads("topics --list", "topics --describe", "consumer-groups --list", "consumer-groups --describe --all-groups", "groups --list", "get-offsets",
            "configs --describe --entity-type topics", "configs --describe --entity-type brokers --entity-default", "reassign-partitions --list"),
]

TOPICS = [
    *_changes("topics --create --topic orders --partitions 3 --replication-factor 1 --config retention.ms=3600000",
              "topics --create --topic orders", "topics --create --topic orders --if-not-exists",
              "topics --create --topic plain", "topics --create --topic 'bad/name'", "topics --create --topic .", "topics --create --topic " + "x" * 250,
              "topics --create --topic none --partitions 0", "topics --create --topic none --partitions -5",
              "topics --create --topic none --replication-factor 3",
              "topics --create --topic none --replication-factor 0", "topics --create --topic none --config no.such=1",
              "topics --create --topic none --config retention.ms=soon", "topics --create --topic none --config segment.bytes=10",
              "topics --create --topic none --config cleanup.policy=shred", "topics --create --topic none --replica-assignment 1:2",
              "topics --create --topic none --replica-assignment 9", "topics --create --topic none --replica-assignment 1:1",
              "topics --create --topic placed --replica-assignment 1,1 --config cleanup.policy=compact --config segment.ms=60000",
              "topics --create --topic a.b --partitions 1", "topics --create --topic a_b --partitions 1"),
    *_reads("topics --list", "topics --list --exclude-internal", "topics --describe", "topics --describe --topic orders", "topics --describe --topic 'p.*'",
            "topics --describe --topic none", "topics --describe --topic none --if-exists", "topics --describe --topics-with-overrides",
            "topics --describe --under-replicated-partitions", "topics --describe --unavailable-partitions", "topics --describe --at-min-isr-partitions",
            "topics --describe --under-min-isr-partitions", "topics --describe --topic-id AAAAAAAAAAAAAAAAAAAABQ",
            "topics --describe --topic orders --partition-size-limit-per-response 2"),
    *_changes("topics --alter --topic orders --partitions 5", "topics --alter --topic orders --partitions 5", "topics --alter --topic orders --partitions 2",
              "topics --alter --topic none --partitions 5", "topics --alter --topic none --partitions 5 --if-exists",
              "topics --alter --topic placed --partitions 3 --replica-assignment 1,1,1",
              "topics --alter --topic placed --partitions 4 --replica-assignment 1,1,1,7",
              "topics --delete --topic a.b", "topics --delete --topic none", "topics --delete --topic none --if-exists"),
    *_reads("topics --list", "topics --describe --topic orders"),
]

RECORDS = [
    *_changes("console-producer --topic orders --reader-property parse.key=true --reader-property key.separator=: --reader-property null.marker=NULL",
              stdin="".join(f"k{i}:value {i}\n" for i in range(40)) + "k3:NULL\n"),
    *_changes("console-producer --topic orders --reader-property parse.headers=true --reader-property parse.key=true --compression-codec lz4",
              stdin="a:1,b:2\tk\twith headers\n"),
    *_changes("console-producer --topic unknown.yet --request-required-acks 1 --reader-property parse.key=true", stdin="k\tmade by producing\n"),
    *_changes("console-producer --topic 'not valid!' --max-block-ms 3000", stdin="x\n"),
    *_reads("console-consumer --topic orders --from-beginning --timeout-ms 4000 --max-messages 42 --formatter-property print.key=true"
            " --formatter-property print.headers=true --formatter-property print.partition=true --formatter-property print.offset=true", sort=True),
    *_reads("console-consumer --topic orders --partition 1 --offset 2 --max-messages 3 --timeout-ms 4000 --formatter-property print.offset=true",
            "console-consumer --topic orders --partition 9 --offset earliest --max-messages 1 --timeout-ms 3000",
            "console-consumer --topic orders --partition 0 --offset latest --timeout-ms 2000",
            "console-consumer --topic 'not valid!' --from-beginning --timeout-ms 2000"),
    *_reads("get-offsets --topic orders", "get-offsets --topic orders --time earliest", "get-offsets --topic orders --time -2 --partitions 0,2,9",
            "get-offsets --topic orders --time 0", "get-offsets --topic orders --time 4102444800000", "get-offsets --topic-partitions orders:0-2,plain",
            "get-offsets --topic none", "get-offsets --topic orders --time earliest-local", "get-offsets --topic orders --time latest-tiered",
            "get-offsets --exclude-internal-topics", "get-offsets --topic orders --time earliest-pending-upload"),
    # The last of several records of one millisecond may be any of them.
    *_reads("get-offsets --topic unknown.yet --time max-timestamp"),
    # How far apart the records' times are takes a byte or two of a batch.
    *_reads("log-dirs --describe --topic-list orders,unknown.yet",
            "log-dirs --describe --broker-list 1 --topic-list none",
            "log-dirs --describe --broker-list 7",
            hide=(r'(?<="size":)[1-9]\d*',)),
    *_changes("delete-records --offset-json-file trim", sort=True, files=(("trim", _offsets("orders", [(0, 1), (1, -1), (2, 0)])),)),
    *_changes("delete-records --offset-json-file beyond", files=(("beyond", _offsets("orders", [(0, 999)])),)),
    *_reads("get-offsets --topic orders --time earliest", "get-offsets --topic orders"),
]

CONFIGS = [
    *_reads("configs --describe --topic orders", "configs --describe --topic orders --all", "configs --describe --topic none",
            "configs --describe --entity-type topics --all",
            "configs --describe --broker 1 --all", "configs --describe --broker 7 --all", "configs --describe --broker-defaults",
            "configs --describe --group g --all",
            "configs --describe --client-metrics m"),
    *_changes("configs --alter --topic orders --add-config retention.ms=5000000,cleanup.policy=[compact,delete]",
              "configs --alter --topic orders --add-config retention.ms=soon",
              "configs --alter --topic orders --add-config no.such=1", "configs --alter --topic orders --delete-config no.such",
              "configs --alter --topic orders --delete-config flush.ms", "configs --alter --topic orders --add-config retention.ms=-7",
              "configs --alter --topic orders --add-config cleanup.policy=",
              "configs --alter --topic orders --add-config min.compaction.lag.ms=9,max.compaction.lag.ms=5",
              "configs --alter --topic orders --add-config compression.type=zstd,compression.zstd.level=30",
              "configs --alter --topic orders --add-config remote.storage.enable=true",
              "configs --alter --topic orders --add-config min.insync.replicas=0", "configs --alter --topic orders --add-config message.timestamp.type=Never",
              "configs --alter --topic none --add-config retention.ms=1", "configs --alter --topic orders --add-config unclean.leader.election.enable=maybe"),
    *_reads("configs --describe --topic orders"),
    *_changes("configs --alter --topic orders --delete-config retention.ms,cleanup.policy"),
    *_reads("configs --describe --topic orders"),
    *_changes("configs --alter --broker 1 --add-config log.cleaner.backoff.ms=14000",
              "configs --alter --broker-defaults --add-config log.retention.ms=99000000,message.max.bytes=900000",
              "configs --alter --broker 1 --add-config no.such=1", "configs --alter --broker 1 --add-config log.dirs=/x",
              "configs --alter --broker 1 --add-config node.id=4",
              "configs --alter --broker 7 --add-config log.cleaner.backoff.ms=1", "configs --alter --broker-defaults --add-config log.cleaner.backoff.ms=often",
              "configs --alter --broker-defaults --add-config advertised.listeners=PLAINTEXT://x:1"),
    *_reads("configs --describe --broker 1", "configs --describe --broker-defaults", "configs --describe --topic orders --all"),
    *_changes("configs --alter --broker 1 --delete-config log.cleaner.backoff.ms",
              "configs --alter --broker-defaults --delete-config log.retention.ms,message.max.bytes"),
    *_changes("configs --alter --group g --add-config consumer.session.timeout.ms=50000",
              "configs --alter --group g --add-config consumer.session.timeout.ms=1",
              "configs --alter --group g --add-config no.such=1"),
    *_reads("configs --describe --group g"),
    *_changes("configs --alter --group g --delete-config consumer.session.timeout.ms"),
    *_changes("client-metrics --alter --name m --metrics org.apache.kafka.producer. --interval 10000 --match client_id=.*",
              "client-metrics --alter --name bad --interval 5",
              "client-metrics --alter --name bad --match no_such=x"),
    *_reads("client-metrics --list", "client-metrics --describe --name m", "client-metrics --describe --name none", "configs --describe --client-metrics m"),
    *_changes("client-metrics --delete --name m"),
]

_GROUP = "consumer-groups --group readers"
GROUPS = [
    *_changes("console-consumer --topic orders --group readers --from-beginning --timeout-ms 5000 --max-messages 10000", sort=True, hide=(r"(?<=Processed a total of )\d+",)),
    *_reads("consumer-groups --list", "consumer-groups --list --state", "consumer-groups --list --type", "consumer-groups --list --state empty,stable",
            "consumer-groups --list --type consumer",
            "groups --list", "groups --list --group-type classic", "groups --list --consumer", "groups --list --protocol consumer", sort=True),
    *_reads(f"{_GROUP} --describe", f"{_GROUP} --describe --state", f"{_GROUP} --describe --members --verbose", "consumer-groups --describe --group none",
            "consumer-groups --describe --group none --state", "consumer-groups --describe --group none --members",
            "consumer-groups --describe --all-groups", sort=True),
    *_reads(f"{_GROUP} --reset-offsets --to-earliest --topic orders --dry-run", f"{_GROUP} --reset-offsets --to-latest --all-topics",
            f"{_GROUP} --reset-offsets --to-current --topic orders:0,1",
            f"{_GROUP} --reset-offsets --to-offset 3 --topic orders", f"{_GROUP} --reset-offsets --to-offset 9999 --topic orders",
            f"{_GROUP} --reset-offsets --shift-by -2 --topic orders",
            f"{_GROUP} --reset-offsets --by-duration P1D --topic orders", f"{_GROUP} --reset-offsets --to-datetime 2099-01-01T00:00:00.000 --topic orders",
            f"{_GROUP} --reset-offsets --to-earliest --topic none", f"{_GROUP} --reset-offsets --to-earliest --topic orders:77",
            f"{_GROUP} --reset-offsets --to-earliest --all-topics --export",
            sort=True),
    *_changes(f"{_GROUP} --reset-offsets --to-earliest --topic orders --execute",
              "consumer-groups --group fresh --reset-offsets --to-latest --topic plain --execute", sort=True),
    *_changes(f"{_GROUP} --reset-offsets --from-file wanted --execute", files=(("wanted", "orders,0,2\norders,2,3\n"),), sort=True),
    *_reads(f"{_GROUP} --describe", "consumer-groups --describe --group fresh", sort=True),
    *_changes(f"{_GROUP} --delete-offsets --topic orders:1", f"{_GROUP} --delete-offsets --topic none",
              "consumer-groups --group none --delete-offsets --topic orders", sort=True),
    *_reads(f"{_GROUP} --describe", sort=True),
    *_changes("consumer-groups --delete --group fresh", "consumer-groups --delete --group none", "consumer-groups --delete --group none --group readers"),
    *_reads("consumer-groups --list"),
]

# With a member in the group `busy`, which reads `orders`.
ACTIVE = [
    *_reads("consumer-groups --describe --group busy", "consumer-groups --describe --group busy --members --verbose",
            "consumer-groups --describe --group busy --state",
            "consumer-groups --list --state stable", "consumer-groups --group busy --reset-offsets --to-earliest --topic orders --dry-run", sort=True),
    *_changes("consumer-groups --group busy --reset-offsets --to-earliest --topic orders --execute",
              "consumer-groups --group busy --delete-offsets --topic orders",
              "consumer-groups --group busy --delete-offsets --topic plain", "consumer-groups --delete --group busy", sort=True),
]

CLUSTER = [
    *_reads("cluster cluster-id", "cluster list-endpoints", "cluster list-endpoints --include-fenced-brokers", "broker-api-versions"),
    *_reads("features describe", "features version-mapping", "features feature-dependencies --feature metadata.version=30", hide=(r"(?<=Epoch: )\d+",)),
    *_changes("features upgrade --feature metadata.version=99", "features downgrade --feature metadata.version=7", "features upgrade --feature no.such=1",
              "features upgrade --feature group.version=9", "features downgrade --feature metadata.version=3"),
    *_reads("metadata-quorum describe --status", "metadata-quorum describe --replication",
            "metadata-quorum describe --replication --human-readable", hide=_QUORUM),
    *_changes("leader-election --election-type preferred --topic orders --partition 0", "leader-election --election-type unclean --topic orders --partition 0",
              "leader-election --election-type preferred --topic none --partition 0",
              "leader-election --election-type preferred --all-topic-partitions", sort=True),
    *_changes("cluster unregister --id 7"),
]

MOVES = [
    *_changes("reassign-partitions --execute --reassignment-json-file stay", "reassign-partitions --verify --reassignment-json-file stay",
              "reassign-partitions --cancel --reassignment-json-file stay", files=(("stay", _moves("orders", [(0, [1]), (1, [1])])),)),
    *_changes("reassign-partitions --execute --reassignment-json-file away", files=(("away", _moves("orders", [(0, [7])])),)),
    *_changes("reassign-partitions --execute --reassignment-json-file absent", files=(("absent", _moves("none", [(0, [1])])),)),
    *_changes("reassign-partitions --generate --topics-to-move-json-file which --broker-list 1", files=(("which", '{"version":1,"topics":[{"topic":"plain"}]}'),)),
    *_changes("reassign-partitions --execute --throttle 1000000 --reassignment-json-file stay", "reassign-partitions --verify --reassignment-json-file stay",
              files=(("stay", _moves("plain", [(0, [1])])),)),
    *_reads("reassign-partitions --list", "configs --describe --broker 1", "configs --describe --topic plain"),
]

# What is switched off in Kafka too, here by its own configs or for want of an authorizer.
OFF = [
    *_changes("acls --list", "acls --add --allow-principal User:a --operation Read --topic orders",
              "acls --remove --force --allow-principal User:a --operation Read --topic orders",
              "delegation-tokens --describe", "delegation-tokens --create --max-life-time-period -1",
              "delegation-tokens --renew --renew-time-period -1 --hmac AAAA",
              "delegation-tokens --expire --expiry-time-period -1 --hmac AAAA", "share-groups --list", "share-groups --describe --group g",
              "streams-groups --list",
              "streams-groups --describe --group g"),
    *_changes("console-consumer --topic orders --group new --consumer-property group.protocol=consumer --timeout-ms 3000"),
]

CLIENTS = [
    *_changes("verifiable-producer --topic plain --max-messages 50 --throughput 1000", alone=True, sort=True,
              hide=(r'"timestamp":\S+?(?=[,}])', r'"avg_throughput":[^,}]*', r'"partition":\d+', r'"offset":\d+')),
    *_changes("verifiable-consumer --topic plain --group-id verified --max-messages 50", alone=True,
              hide=(r'"timestamp":\S+?(?=[,}])', r'.*"(?:records_consumed|offsets_committed)".*')),
    *_changes("producer-perf-test --topic perf --num-records 20000 --record-size 100 --throughput -1",
              "e2e-latency --topic perf --num-records 50 --producer-acks all --record-size 100",
              hide=(r"\d+\.\d+", r"\d+ ms", r".*records sent, … records/sec.*", r"^\d+\s+\S*$", r"(?<=Percentiles: ).*")),
    *_changes("consumer-perf-test --topic perf --num-records 20000 --timeout 8000", hide=(r"20\d\d-\S+ [\d:]+", r"\d+\.\d+", r"\b\d{1,5}, ")),
    *_reads("transactions list", "transactions describe --transactional-id none", "transactions describe-producers --topic none --partition 0",
            "transactions find-hanging --broker-id 1"),
    *_reads("transactions describe-producers --topic orders --partition 0", hide=(r"(?<=^)\d+ .*",)),
]

GONE = [
    *_changes("topics --delete --topic 'orders|plain'", "topics --delete --topic placed"),
    # The transactions above made Kafka an internal topic.
    *_reads("topics --list --exclude-internal", "get-offsets --topic orders", "log-dirs --describe --topic-list orders"),
]

SECTIONS = {
    "empty": EMPTY, "topics": TOPICS, "records": RECORDS, "configs": CONFIGS, "groups": GROUPS, "active": ACTIVE, "cluster": CLUSTER, "moves": MOVES,
    "off": OFF, "clients": CLIENTS, "gone": GONE,
}
