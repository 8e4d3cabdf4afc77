// Round trip by kafkajs: topics, keyed and compressed produce, groups with hand-over, manual commits, offsets by time.
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(`${process.env.RINGLOG_NODE_DIR}/`);
const { Kafka, CompressionTypes, logLevel } = require("kafkajs");

const bootstrap = process.env.RINGLOG_BOOTSTRAP;
const tag = `${process.pid.toString(36)}${Date.now().toString(36).slice(-4)}`;
const counts = { passed: 0, failed: 0 };

function check(good, what, detail) {
  good ? counts.passed++ : counts.failed++;
  console.log(good ? `ok      ${what}` : `NOT OK  ${what}   ${JSON.stringify(detail) ?? ""}`.slice(0, 600));
}

const equal = (got, wanted, what) => check(JSON.stringify(got) === JSON.stringify(wanted), what, { got, wanted });

async function until(condition, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  while (!(await condition()) && Date.now() < end) await sleep(100);
  return condition();
}

async function part(what, run) {
  console.log(`-- ${what}`);
  try {
    await run();
  } catch (error) {
    console.log(error.stack);
    check(false, `${what}: raised`, String(error));
  }
}

function finish() {
  console.log(`kafkajs_client: ${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  process.exit(counts.failed ? 1 : 0);
}

setTimeout(() => {
  check(false, "watchdog: not done within 150 s");
  finish();
}, 150_000).unref();

const kafka = new Kafka({ clientId: "tests", brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 10, initialRetryTime: 100 } });
const admin = kafka.admin();
const topic = `js-${tag}`;
const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
const before = Date.now();

await part("topics", async () => {
  await admin.connect();
  check(await admin.createTopics({ topics: [{ topic, numPartitions: 3 }], waitForLeaders: true }), "createTopics");
  equal(await admin.createTopics({ topics: [{ topic, numPartitions: 3 }] }), false, "again: it exists");
  check((await admin.listTopics()).includes(topic), "listTopics");
  const found = await admin.fetchTopicMetadata({ topics: [topic] });
  equal(found.topics[0].partitions.map((p) => p.partitionId).sort(), [0, 1, 2], "fetchTopicMetadata");
});

await part("produce", async () => {
  await producer.connect();
  for (const [name, compression] of [["none", CompressionTypes.None], ["gzip", CompressionTypes.GZIP]]) {
    const messages = Array.from({ length: 300 }, (_, i) => ({ key: `k${i % 20}`, value: `${name} ${i}`, headers: { n: `${i}` } }));
    const rows = await producer.send({ topic, compression, messages, acks: -1 });
    check(rows.every((r) => r.errorCode === 0), `300 messages, ${name}, idempotent`, rows);
  }
  await producer.send({ topic, messages: [{ key: null, value: "no key" }, { key: "k0", value: null }] });
  const ends = await admin.fetchTopicOffsets(topic);
  equal(ends.reduce((sum, p) => sum + Number(p.high) - Number(p.low), 0), 602, "fetchTopicOffsets: all there");
  const late = await admin.fetchTopicOffsetsByTimestamp(topic, before - 60_000);
  equal(late.map((p) => p.offset), ["0", "0", "0"], "fetchTopicOffsetsByTimestamp: the start");
});

async function member(groupId, sink) {
  // A member waits in a Fetch before it hears of a rebalance: less than the time it has to join it.
  const consumer = kafka.consumer({ groupId, sessionTimeout: 9000, heartbeatInterval: 500, rebalanceTimeout: 5000, maxWaitTimeInMs: 1000 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const owned = { now: [] };
  consumer.on(consumer.events.GROUP_JOIN, (e) => (owned.now = e.payload.memberAssignment[topic] ?? []));
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      sink.push({ partition, offset: message.offset, key: message.key?.toString() ?? null, value: message.value?.toString() ?? null, n: message.headers.n?.toString() });
      await consumer.commitOffsets([{ topic, partition, offset: String(Number(message.offset) + 1) }]);
    },
  });
  return { consumer, owned };
}

await part("group", async () => {
  const groupId = `js-group-${tag}`, seen = [];
  const one = await member(groupId, seen);
  check(await until(() => one.owned.now.length === 3), "one member owns all three", one.owned.now);
  check(await until(() => seen.length >= 602), "it sees everything", seen.length);
  equal(seen.length, 602, "once");
  check(seen.some((m) => m.key === null) && seen.some((m) => m.value === null), "null key and null value come back");
  const perKey = {};
  check(seen.filter((m) => m.value?.startsWith("gzip") && m.key).every((m) => {
    const n = Number(m.n), good = n > (perKey[m.key] ?? -1);
    perKey[m.key] = n;
    return good;
  }), "headers come back, in order per key");
  const two = await member(groupId, seen);
  check(await until(() => one.owned.now.length + two.owned.now.length === 3 && two.owned.now.length > 0), "a second member gets its part");
  const described = await admin.describeGroups([groupId]);
  equal([described.groups[0].state, described.groups[0].members.length], ["Stable", 2], "describeGroups");
  check((await admin.listGroups()).groups.some((g) => g.groupId === groupId), "listGroups");
  await one.consumer.disconnect();
  check(await until(() => two.owned.now.length === 3), "the first leaves: the second takes over");
  await producer.send({ topic, messages: [0, 1, 2].map((p) => ({ partition: p, value: "later" })) });
  check(await until(() => seen.length >= 605), "and reads on", seen.length);
  equal(seen.length, 605, "without getting anything twice");
  await two.consumer.disconnect();
  const offsets = await admin.fetchOffsets({ groupId, topics: [topic] });
  const ends = await admin.fetchTopicOffsets(topic);
  const byPartition = (rows, field) => Object.fromEntries(rows.map((p) => [p.partition, p[field]]).sort());
  equal(byPartition(offsets[0].partitions, "offset"), byPartition(ends, "high"), "its place is the end");
});

await part("end", async () => {
  await producer.disconnect();
  await admin.deleteTopics({ topics: [topic] });
  check(await until(async () => !(await admin.listTopics()).includes(topic), 15), "deleteTopics");
  await admin.disconnect();
});
finish();
