"""Round trip by aiokafka: produce in all ways, groups with hand-over, seek, offsets by time."""

import asyncio
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from harness import broker
from harness.checks import check, equal, finish, part, unique, watchdog

watchdog(200)
node = broker.start()
TOPIC, COUNT = unique("aio"), 3000
# Not long ago: retention goes by record times, and a foreign broker may look often.
BASE_MS = int(time.time() * 1000) - 60_000


async def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return condition()


async def topics():
    admin = AIOKafkaAdminClient(bootstrap_servers=node.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(TOPIC, 3, 1)])
    check(TOPIC in await admin.list_topics(), "a topic by the admin client")
    found = await admin.describe_topics([TOPIC])
    equal(sorted(p["partition"] for p in found[0]["partitions"]), [0, 1, 2], "with three partitions")
    await admin.close()


async def produce():
    producer = AIOKafkaProducer(bootstrap_servers=node.bootstrap, enable_idempotence=True, acks="all", compression_type="lz4", linger_ms=5)
    await producer.start()
    waiting = [await producer.send(TOPIC, b"%d" % i, key=b"key-%d" % (i % 30), headers=[("n", b"%d" % i)], timestamp_ms=BASE_MS + i)
               for i in range(COUNT)]
    rows = await asyncio.gather(*waiting)
    equal(len({(r.partition, r.offset) for r in rows}), COUNT, "3000 idempotent lz4 messages, each its own place")
    batch = producer.create_batch()
    for i in range(10):
        batch.append(key=None, value=b"batch-%d" % i, timestamp=None)
    batch.close()
    row = await (await producer.send_batch(batch, TOPIC, partition=0))
    check(row.offset >= 0, "a batch made by hand")
    await producer.stop()
    for acks in (0, 1):
        producer = AIOKafkaProducer(bootstrap_servers=node.bootstrap, acks=acks)
        await producer.start()
        await producer.send_and_wait(TOPIC, b"acks-%d" % acks, partition=1)
        await producer.stop()
    check(True, "acks 0 and 1")


class Reader:
    """A group member that commits after each batch of messages."""

    def __init__(self, group):
        self.consumer = AIOKafkaConsumer(TOPIC, bootstrap_servers=node.bootstrap, group_id=group, auto_offset_reset="earliest",
                                         enable_auto_commit=False, session_timeout_ms=9000, heartbeat_interval_ms=500)
        self.seen = []

    async def start(self):
        await self.consumer.start()
        self.task = asyncio.create_task(self.loop())
        return self

    async def loop(self):
        while True:
            for _, messages in (await self.consumer.getmany(timeout_ms=200)).items():
                self.seen += messages
            if self.seen:
                await self.consumer.commit()

    async def stop(self):
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self.consumer.stop()

    def owned(self):
        return {p.partition for p in self.consumer.assignment()}


async def group():
    name, total = unique("aio-group"), COUNT + 12
    one = await Reader(name).start()
    check(await until(lambda: len(one.seen) >= total), "one member reads everything", len(one.seen))
    equal(len({(m.partition, m.offset) for m in one.seen}), len(one.seen), "once")
    sent = [m for m in one.seen if m.headers]
    check(all(m.timestamp == BASE_MS + int(m.value) and m.headers == (("n", m.value),) for m in sent), "timestamps and headers come back")
    two = await Reader(name).start()
    check(await until(lambda: one.owned() | two.owned() == {0, 1, 2} and not one.owned() & two.owned() and two.owned()), "a second one shares",
          (one.owned(), two.owned()))
    await one.stop()
    check(await until(lambda: two.owned() == {0, 1, 2}), "the first leaves: the second takes over", two.owned())
    equal(two.seen, [], "and gets nothing that was committed")
    await two.stop()


async def seek():
    consumer = AIOKafkaConsumer(bootstrap_servers=node.bootstrap, enable_auto_commit=False)
    await consumer.start()
    place = TopicPartition(TOPIC, 1)
    consumer.assign([place])
    consumer.seek(place, 7)
    equal((await asyncio.wait_for(consumer.getone(), 10)).offset, 7, "seek")
    equal(((await consumer.beginning_offsets([place]))[place], (await consumer.end_offsets([place]))[place] > 100), (0, True), "first and last offset")
    found = (await consumer.offsets_for_times({place: BASE_MS + COUNT // 2}))[place]
    check(found and found.timestamp >= BASE_MS + COUNT // 2, "offsets_for_times", found)
    await consumer.stop()


async def main():
    for step in (topics, produce, group, seek):
        with part(step.__name__):
            await asyncio.wait_for(step(), 60)


asyncio.run(main())
finish()
