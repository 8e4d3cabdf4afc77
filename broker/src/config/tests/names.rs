//! Every name of Kafka 4.4's tables is known, once, with a default that its own rule accepts.

use crate::config::keys;

const TOPIC: &str = "cleanup.policy compression.type compression.gzip.level compression.lz4.level
    compression.zstd.level delete.retention.ms errors.deadletterqueue.group.enable file.delete.delay.ms
    flush.messages flush.ms follower.replication.throttled.replicas leader.replication.throttled.replicas
    index.interval.bytes local.retention.bytes local.retention.ms max.compaction.lag.ms max.message.bytes
    message.timestamp.after.max.ms message.timestamp.before.max.ms message.timestamp.type
    min.cleanable.dirty.ratio min.compaction.lag.ms min.insync.replicas preallocate remote.copy.lag.bytes
    remote.copy.lag.ms remote.log.copy.disable remote.log.delete.on.disable remote.storage.enable
    retention.bytes retention.ms segment.bytes segment.index.bytes segment.jitter.ms segment.ms
    unclean.leader.election.enable internal.segment.bytes max.decompressed.message.bytes";

const BROKER: &str = "node.id broker.id process.roles broker.rack initial.broker.registration.timeout.ms
    broker.heartbeat.interval.ms broker.session.timeout.ms controlled.shutdown.enable
    unstable.api.versions.enable unstable.feature.versions.enable
    listeners advertised.listeners listener.security.protocol.map inter.broker.listener.name
    security.inter.broker.protocol controller.listener.names early.start.listeners
    num.network.threads num.io.threads queued.max.requests queued.max.request.bytes socket.send.buffer.bytes
    socket.receive.buffer.bytes socket.request.max.bytes socket.listen.backlog.size max.connections
    max.connections.per.ip max.connections.per.ip.overrides max.connection.creation.rate
    connections.max.idle.ms connection.failed.authentication.delay.ms request.timeout.ms
    socket.connection.setup.timeout.ms socket.connection.setup.timeout.max.ms
    background.threads num.recovery.threads.per.data.dir num.replica.fetchers
    num.replica.alter.log.dirs.threads
    auto.create.topics.enable delete.topic.enable num.partitions default.replication.factor
    min.insync.replicas message.max.bytes create.topic.policy.class.name alter.config.policy.class.name
    auto.leader.rebalance.enable leader.imbalance.check.interval.seconds max.request.partition.size.limit
    log.dir log.dirs cordoned.log.dirs log.segment.bytes log.roll.hours log.roll.ms log.roll.jitter.hours
    log.roll.jitter.ms log.retention.hours log.retention.minutes log.retention.ms log.retention.bytes
    log.retention.check.interval.ms log.cleanup.policy log.index.size.max.bytes log.index.interval.bytes
    log.flush.interval.messages log.flush.interval.ms log.flush.scheduler.interval.ms
    log.flush.offset.checkpoint.interval.ms log.flush.start.offset.checkpoint.interval.ms
    log.segment.delete.delay.ms log.preallocate log.dir.failure.timeout.ms log.initial.task.delay.ms
    compression.type compression.gzip.level compression.lz4.level compression.zstd.level
    log.message.timestamp.type log.message.timestamp.after.max.ms log.message.timestamp.before.max.ms
    log.cleaner.enable log.cleaner.threads log.cleaner.dedupe.buffer.size log.cleaner.io.buffer.size
    log.cleaner.io.buffer.load.factor log.cleaner.io.max.bytes.per.second log.cleaner.backoff.ms
    log.cleaner.min.cleanable.ratio log.cleaner.delete.retention.ms log.cleaner.min.compaction.lag.ms
    log.cleaner.max.compaction.lag.ms
    replica.lag.time.max.ms replica.socket.timeout.ms replica.socket.receive.buffer.bytes
    replica.fetch.max.bytes replica.fetch.response.max.bytes replica.fetch.min.bytes replica.fetch.wait.max.ms
    replica.fetch.backoff.ms replica.high.watermark.checkpoint.interval.ms replica.selector.class
    unclean.leader.election.enable unclean.leader.election.interval.ms
    follower.fetch.last.tiered.offset.enable fetch.purgatory.purge.interval.requests
    producer.purgatory.purge.interval.requests delete.records.purgatory.purge.interval.requests
    fetch.max.bytes max.incremental.fetch.session.cache.slots
    group.min.session.timeout.ms group.max.session.timeout.ms group.initial.rebalance.delay.ms group.max.size
    offset.metadata.max.bytes offsets.topic.num.partitions offsets.topic.replication.factor
    offsets.topic.segment.bytes offsets.topic.compression.codec offsets.retention.minutes
    offsets.retention.check.interval.ms offsets.load.buffer.size offsets.commit.timeout.ms
    group.coordinator.threads group.coordinator.background.threads group.coordinator.append.linger.ms
    group.coordinator.cached.buffer.max.bytes group.coordinator.rebalance.protocols
    group.consumer.session.timeout.ms group.consumer.min.session.timeout.ms
    group.consumer.max.session.timeout.ms group.consumer.heartbeat.interval.ms
    group.consumer.min.heartbeat.interval.ms group.consumer.max.heartbeat.interval.ms group.consumer.max.size
    group.consumer.assignors group.consumer.migration.policy group.consumer.assignment.interval.ms
    group.consumer.regex.refresh.interval.ms group.consumer.assignor.offload.enable
    group.share.session.timeout.ms group.share.min.session.timeout.ms group.share.max.session.timeout.ms
    group.share.heartbeat.interval.ms group.share.min.heartbeat.interval.ms
    group.share.max.heartbeat.interval.ms group.share.max.size group.share.assignors
    group.share.assignment.interval.ms group.share.delivery.count.limit
    group.share.min.delivery.count.limit group.share.max.delivery.count.limit
    group.share.record.lock.duration.ms group.share.min.record.lock.duration.ms
    group.share.max.record.lock.duration.ms group.share.partition.max.record.locks
    group.share.min.partition.max.record.locks group.share.max.partition.max.record.locks
    group.share.max.share.sessions group.share.initialize.retry.interval.ms
    share.fetch.purgatory.purge.interval.requests errors.deadletterqueue.auto.create.topics.enable
    errors.deadletterqueue.topic.name.prefix
    share.coordinator.state.topic.num.partitions share.coordinator.state.topic.replication.factor
    share.coordinator.state.topic.min.isr share.coordinator.state.topic.segment.bytes
    share.coordinator.state.topic.compression.codec share.coordinator.threads
    share.coordinator.snapshot.update.records.per.snapshot share.coordinator.load.buffer.size
    share.coordinator.append.linger.ms share.coordinator.write.timeout.ms
    share.coordinator.state.topic.prune.interval.ms share.coordinator.cold.partition.snapshot.interval.ms
    share.coordinator.cached.buffer.max.bytes
    group.streams.session.timeout.ms group.streams.min.session.timeout.ms
    group.streams.max.session.timeout.ms group.streams.heartbeat.interval.ms
    group.streams.min.heartbeat.interval.ms group.streams.max.heartbeat.interval.ms group.streams.max.size
    group.streams.num.standby.replicas group.streams.max.standby.replicas
    group.streams.initial.rebalance.delay.ms group.streams.assignment.interval.ms group.streams.assignors
    group.streams.num.warmup.replicas group.streams.max.warmup.replicas
    group.streams.task.offset.interval.ms group.streams.acceptable.recovery.lag
    group.streams.rack.aware.assignment.tags group.streams.topology.description.plugin.class
    transaction.state.log.num.partitions transaction.state.log.replication.factor
    transaction.state.log.min.isr transaction.state.log.segment.bytes transaction.state.log.load.buffer.size
    transactional.id.expiration.ms transaction.max.timeout.ms
    transaction.abort.timed.out.transaction.cleanup.interval.ms
    transaction.remove.expired.transaction.cleanup.interval.ms transaction.partition.verification.enable
    transaction.two.phase.commit.enable producer.id.expiration.ms producer.id.expiration.check.interval.ms
    add.partitions.to.txn.retry.backoff.ms add.partitions.to.txn.retry.backoff.max.ms
    controller.quorum.voters controller.quorum.bootstrap.servers controller.quorum.election.timeout.ms
    controller.quorum.fetch.timeout.ms controller.quorum.election.backoff.max.ms
    controller.quorum.append.linger.ms controller.quorum.request.timeout.ms
    controller.quorum.retry.backoff.ms controller.quorum.auto.join.enable controller.quorum.fetch.max.bytes
    controller.quorum.fetch.snapshot.max.bytes metadata.log.dir metadata.log.segment.bytes
    metadata.log.segment.ms metadata.log.max.record.bytes.between.snapshots
    metadata.log.max.snapshot.interval.ms metadata.max.retention.bytes metadata.max.retention.ms
    metadata.max.idle.interval.ms controller.socket.timeout.ms
    remote.log.storage.system.enable remote.log.storage.manager.class.name
    remote.log.storage.manager.class.path remote.log.storage.manager.impl.prefix
    remote.log.metadata.manager.class.name remote.log.metadata.manager.class.path
    remote.log.metadata.manager.impl.prefix remote.log.metadata.manager.listener.name
    remote.log.metadata.custom.metadata.max.bytes remote.log.index.file.cache.total.size.bytes
    remote.log.index.file.cache.ttl.ms remote.log.manager.copier.thread.pool.size
    remote.log.manager.expiration.thread.pool.size remote.log.manager.follower.thread.pool.size
    remote.log.manager.task.interval.ms remote.log.manager.task.retry.backoff.ms
    remote.log.manager.task.retry.backoff.max.ms remote.log.manager.task.retry.jitter
    remote.log.reader.threads remote.log.reader.max.pending.tasks
    remote.log.manager.copy.max.bytes.per.second remote.log.manager.fetch.max.bytes.per.second
    remote.log.manager.copy.quota.window.num remote.log.manager.copy.quota.window.size.seconds
    remote.log.manager.fetch.quota.window.num remote.log.manager.fetch.quota.window.size.seconds
    remote.fetch.max.wait.ms remote.list.offsets.request.timeout.ms
    log.local.retention.bytes log.local.retention.ms log.remote.copy.lag.bytes log.remote.copy.lag.ms
    quota.window.num quota.window.size.seconds replication.quota.window.num
    replication.quota.window.size.seconds alter.log.dirs.replication.quota.window.num
    alter.log.dirs.replication.quota.window.size.seconds controller.quota.window.num
    controller.quota.window.size.seconds client.quota.callback.class leader.replication.throttled.rate
    follower.replication.throttled.rate replica.alter.log.dirs.io.max.bytes.per.second
    authorizer.class.name super.users allow.everyone.if.no.acl.found principal.builder.class
    sasl.enabled.mechanisms sasl.mechanism.inter.broker.protocol sasl.mechanism.controller.protocol
    sasl.server.max.receive.size connections.max.reauth.ms sasl.kerberos.principal.to.local.rules
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
    sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
    sasl.oauthbearer.allow.unverified.audience sasl.oauthbearer.allow.unverified.issuer
    ssl.client.auth ssl.enabled.protocols ssl.protocol ssl.keystore.type ssl.truststore.type
    ssl.principal.mapping.rules ssl.endpoint.identification.algorithm ssl.allow.dn.changes
    ssl.allow.san.changes delegation.token.secret.key delegation.token.max.lifetime.ms
    delegation.token.expiry.time.ms delegation.token.expiry.check.interval.ms
    metric.reporters metrics.num.samples metrics.sample.window.ms metrics.recording.level telemetry.max.bytes
    config.providers kafka.metrics.reporters kafka.metrics.polling.interval.secs
    max.decompressed.message.bytes group.consumer.min.assignment.interval.ms
    group.consumer.max.assignment.interval.ms group.share.min.assignment.interval.ms
    group.share.max.assignment.interval.ms group.streams.min.assignment.interval.ms
    group.streams.max.assignment.interval.ms sasl.oauthbearer.scope sasl.oauthbearer.jwt.retriever.class
    sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.client.credentials.client.id
    sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.assertion.algorithm
    sasl.oauthbearer.assertion.claim.aud sasl.oauthbearer.assertion.claim.exp.seconds
    sasl.oauthbearer.assertion.claim.iss sasl.oauthbearer.assertion.claim.jti.include
    sasl.oauthbearer.assertion.claim.nbf.seconds sasl.oauthbearer.assertion.claim.sub
    sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file";

#[test]
fn every_name_of_kafka_is_known() {
    for name in TOPIC.split_whitespace() {
        assert!(keys::topic(name).is_some(), "topic config {name}");
    }
    for name in BROKER.split_whitespace() {
        assert!(keys::broker(name).is_some(), "broker config {name}");
    }
}

#[test]
fn names_are_unique_and_defaults_are_valid() {
    let broker: Vec<_> = keys::all_broker().collect();
    let topic: Vec<_> = keys::all_topic().map(|topic| topic.key).collect();
    for table in [&broker, &topic] {
        let mut names: Vec<_> = table.iter().map(|key| key.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "a name is there twice");
        for key in table {
            assert!(key.doc.ends_with('.'), "{}: {}", key.name, key.doc);
            if let Some(default) = key.default {
                assert_eq!(key.check(default), Ok(()), "default of {}", key.name);
            }
        }
    }
}

#[test]
fn a_topic_config_has_the_type_and_default_of_what_stands_in_for_it() {
    for topic in keys::all_topic() {
        for synonym in topic.synonyms {
            let broker =
                keys::broker(synonym.name).unwrap_or_else(|| panic!("{} is no broker config", synonym.name));
            let unit = |text: &str| text.parse::<i64>().map(|number| number * synonym.factor).ok();
            if let (Some(of_broker), Some(of_topic)) = (broker.default, topic.key.default) {
                let same = of_broker == of_topic || unit(of_broker) == of_topic.parse().ok();
                assert!(same, "{} and {}", topic.key.name, synonym.name);
            }
            assert_eq!(topic.key.effect, broker.effect, "{} and {}", topic.key.name, synonym.name);
        }
    }
}
