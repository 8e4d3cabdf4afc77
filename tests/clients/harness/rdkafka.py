"""librdkafka by confluent-kafka: topics that are ready, producers that keep every delivery report, full reads."""

import time
import uuid

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from . import wire
from .checks import eventually

# A broker that is killed on purpose fills the log with refused connections otherwise.
QUIET = {"log_level": 2}


def admin(bootstrap, **options):
    return AdminClient({"bootstrap.servers": bootstrap, **QUIET, **options})


def create(bootstrap, topic, partitions=1, config=None):
    """Creates a topic and waits until each partition has a leader (Kafka answers before that)."""
    client = admin(bootstrap)
    client.create_topics([NewTopic(topic, partitions, config=config or {})], operation_timeout=20)[topic].result(30)

    def ready():
        found = client.list_topics(topic, timeout=10).topics.get(topic)
        return found and not found.error and len(found.partitions) == partitions and all(
            p.leader >= 0 and not p.error for p in found.partitions.values())

    def served():
        with wire.Connection(bootstrap) as peer:
            return all(peer.list_offset(topic, -1, p)[0] == 0 for p in range(partitions))

    if not eventually(ready, 30) or not eventually(served, 30):
        raise RuntimeError(f"{topic} has no leaders after 30 s")
    return topic


def error_code(future, seconds=30):
    """Kafka error code of an admin call's future; None when it succeeded."""
    try:
        future.result(seconds)
        return None
    except KafkaException as error:
        return error.args[0].code()


class Sender:
    """A producer that remembers what was acknowledged: `acked` holds (partition, offset, tag), `errors` the rest."""

    def __init__(self, bootstrap, **options):
        self.acked, self.errors = [], []
        self.producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **QUIET, **options})

    def send(self, topic, key=None, value=None, tag=None, **more):
        def report(error, message):
            if error:
                self.errors.append((error, tag))
            else:
                self.acked.append((message.partition(), message.offset(), tag))

        while True:
            try:
                self.producer.produce(topic, key=key, value=value, on_delivery=report, **more)
                return
            except BufferError:
                self.producer.poll(0.05)

    def poll(self):
        self.producer.poll(0)

    def flush(self, seconds=60):
        """How many messages are still not settled."""
        return self.producer.flush(seconds)


def consumer(bootstrap, group=None, **options):
    """A consumer that starts at the beginning and commits only when told."""
    return Consumer({
        "bootstrap.servers": bootstrap, "group.id": group or f"reader-{uuid.uuid4().hex[:10]}",
        "auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 10000,
        "heartbeat.interval.ms": 1000, **QUIET, **options})


def read_all(bootstrap, topic, partitions, seconds=30, start=0, **options):
    """Every message of the partitions up to their ends now, by assign; in arrival order. TimeoutError when late."""
    reader = consumer(bootstrap, **{"enable.partition.eof": True, **options})
    numbers = list(range(partitions)) if isinstance(partitions, int) else list(partitions)
    reader.assign([TopicPartition(topic, p, start) for p in numbers])
    messages, at_end, end = [], set(), time.monotonic() + seconds
    try:
        while len(at_end) < len(numbers):
            if time.monotonic() > end:
                raise TimeoutError(f"{topic}: {len(messages)} messages, {len(at_end)} of {len(numbers)} ends in {seconds} s")
            message = reader.poll(0.2)
            if message is None:
                continue
            if message.error():
                if message.error().code() == KafkaError._PARTITION_EOF:
                    at_end.add(message.partition())
                elif not message.error().retriable():
                    raise KafkaException(message.error())
                continue
            messages.append(message)
        return messages
    finally:
        reader.close()


def end_offsets(bootstrap, topic, partitions):
    """{partition: (start, end)}."""
    reader = consumer(bootstrap)
    try:
        return {p: reader.get_watermark_offsets(TopicPartition(topic, p), timeout=15) for p in range(partitions)}
    finally:
        reader.close()


def committed(bootstrap, group, topic, partitions):
    """{partition: committed offset}, -1001 where there is none."""
    reader = consumer(bootstrap, group)
    try:
        found = reader.committed([TopicPartition(topic, p) for p in range(partitions)], timeout=20)
        return {item.partition: item.offset for item in found}
    finally:
        reader.close()
