//! Every metric there is. docs/metrics.md has the same rows; a test compares them.

use super::family::{Family, Kind, families};

families! {
    BUILD Gauge "ringlog_build_info" ["version", "node_id"] "1",
        "Always 1; its labels tell the version and which node this is.",
        "kafka.server:type=app-info";
    SHARD_UP Gauge "ringlog_shard_up" ["shard"] "0 or 1",
        "Whether the shard answered this scrape in time and serves; without it its other series are missing.",
        "kafka.server:type=KafkaServer,name=BrokerState";

    PIECES Counter "ringlog_pieces_total" ["shard", "kind"] "pieces",
        "Parts of requests by where their partition's owner is: kind local, the connection's own shard, or remote, over a lane.",
        "";
    CONNECTIONS Gauge "ringlog_connections" ["shard"] "connections",
        "Connections open on the shard.",
        "kafka.server:type=socket-server-metrics,name=connection-count";
    CONNECTIONS_ADOPTED Counter "ringlog_connections_adopted_total" ["shard"] "connections",
        "Connections that were given to the shard.",
        "kafka.server:type=socket-server-metrics,name=connection-creation-total";
    CONNECTIONS_CLOSED Counter "ringlog_connections_closed_total" ["shard", "reason"] "connections",
        "Connections closed by the node: reason violation (bytes that are no request) or idle (connections.max.idle.ms).",
        "kafka.network:type=SocketServer,name=ExpiredConnectionsKilledCount";

    REQUESTS Counter "ringlog_requests_total" ["shard", "api"] "requests",
        "Requests that were understood, by API.",
        "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=*";
    REQUEST_ERRORS Counter "ringlog_request_errors_total" ["shard", "api", "error"] "codes",
        "Error codes in answers, at every place of an answer that has one; NONE isn't counted.",
        "kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=*,error=*";
    REQUEST_BYTES Counter "ringlog_request_bytes_total" ["shard", "api"] "bytes",
        "Size of the requests that were understood; without api, bytes in.",
        "kafka.network:type=RequestMetrics,name=RequestBytes,request=*";
    RESPONSE_BYTES Counter "ringlog_response_bytes_total" ["shard", "api"] "bytes",
        "Size of the answers that were sent; without api, bytes out.",
        "kafka.server:type=socket-server-metrics,name=outgoing-byte-total";
    REQUEST_TIME Histogram "ringlog_request_seconds" ["shard", "api"] "seconds",
        "From a request's last byte to its answer's last byte, waiting that the client asked for included.",
        "kafka.network:type=RequestMetrics,name=TotalTimeMs,request=*";
    REQUEST_STAGE_TIME Histogram "ringlog_request_stage_seconds" ["shard", "api", "stage"] "seconds",
        "The same in parts: queue (behind earlier requests of the connection), route (Produce: checked, and queued at the owners), handle (until the answer is made), reply (until the kernel has it).",
        "kafka.network:type=RequestMetrics,name=RequestQueueTimeMs, LocalTimeMs, RemoteTimeMs, ResponseSendTimeMs";
    APPEND_TIME Histogram "ringlog_append_seconds" ["shard"] "seconds",
        "On the partition's owner, from a batch's arrival until it has its offsets.",
        "kafka.network:type=RequestMetrics,name=LocalTimeMs,request=Produce";
    DURABLE_TIME Histogram "ringlog_append_durable_seconds" ["shard"] "seconds",
        "From there until the batch is as durable as its acks want; acks=0 isn't counted.",
        "kafka.network:type=RequestMetrics,name=RemoteTimeMs,request=Produce";

    TOPIC_RECORDS_IN Counter "ringlog_topic_records_in_total" ["topic"] "records",
        "Records appended, all shards together; missing while a shard doesn't answer. Topics beyond the first 1,000 are summed as _other.",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=*";
    TOPIC_BYTES_IN Counter "ringlog_topic_bytes_in_total" ["topic"] "bytes",
        "Size of their batches as stored.",
        "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=*";
    TOPIC_RECORDS_OUT Counter "ringlog_topic_records_out_total" ["topic"] "records",
        "Records handed to consumers, by their offsets: gaps that compaction left count.",
        "";
    TOPIC_BYTES_OUT Counter "ringlog_topic_bytes_out_total" ["topic"] "bytes",
        "Size of the batches handed to consumers.",
        "kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec,topic=*";
    PARTITION_END Gauge "ringlog_partition_high_watermark" ["topic", "partition"] "offset",
        "Up to where consumers may read; its rate is the partition's traffic. The first 2,000 partitions by name.",
        "kafka.log:type=Log,name=LogEndOffset,topic=*,partition=*";
    PARTITION_START Gauge "ringlog_partition_start_offset" ["topic", "partition"] "offset",
        "The first offset that is served; likewise.",
        "kafka.log:type=Log,name=LogStartOffset,topic=*,partition=*";
    GROUP_LAG Gauge "ringlog_group_lag_records" ["group", "topic"] "records",
        "Records behind the committed offsets, all partitions together; missing while a shard doesn't answer. Pairs beyond the first 1,000 by name are summed as _other.",
        "kafka.consumer:type=consumer-fetch-manager-metrics,name=records-lag (a client's)";

    LOG_APPENDED_BATCHES Counter "ringlog_log_appended_batches_total" ["shard"] "batches",
        "Batches appended to logs, those of internal topics included.",
        "";
    LOG_APPENDED_RECORDS Counter "ringlog_log_appended_records_total" ["shard"] "records",
        "Records in them.",
        "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec";
    LOG_APPENDED_BYTES Counter "ringlog_log_appended_bytes_total" ["shard"] "bytes",
        "Size of them.",
        "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec";
    LOG_WRITTEN_RECORDS Counter "ringlog_log_written_records_total" ["shard"] "records",
        "Records that were written to their segment or the journal: they survive the process. Less than appended by what waits.",
        "";
    LOG_SYNCED_RECORDS Counter "ringlog_log_synced_records_total" ["shard"] "records",
        "Records that were synced to the device: they survive a power cut.",
        "";
    LOG_DEVICE_BYTES Counter "ringlog_log_device_bytes_total" ["shard"] "bytes",
        "Written to segments, in whole blocks of 4 KiB.",
        "kafka.server:type=KafkaServer,name=linux-disk-write-bytes";
    JOURNAL_BYTES Counter "ringlog_journal_bytes_total" ["shard"] "bytes",
        "Written to the shard's journal, in whole blocks of 4 KiB: one frame a flush for all logs with little to write.",
        "";
    JOURNAL_REFUSED_LOGS Counter "ringlog_journal_refused_logs_total" ["shard"] "logs",
        "Times that a log was written by itself because the journal had no room: it is too small, or the disk too slow to free it.",
        "";
    JOURNAL_CHECKPOINTS Counter "ringlog_journal_checkpoints_total" ["shard"] "checkpoints",
        "Times that what was in the journal only was brought to the segments and synced.",
        "";
    LOG_DELETED_SEGMENTS Counter "ringlog_log_deleted_segments_total" ["shard"] "segments",
        "Segments that went by retention.ms, by retention.bytes, or below the log's start.",
        "";
    LOG_DELETED_BYTES Counter "ringlog_log_deleted_bytes_total" ["shard"] "bytes",
        "Size of their records; the disk has it back file.delete.delay.ms later.",
        "";
    COMPACTION_PASSES Counter "ringlog_compaction_passes_total" ["shard"] "passes",
        "Passes of compaction, each over one log.",
        "";
    COMPACTION_FAILED_PASSES Counter "ringlog_compaction_failed_passes_total" ["shard"] "passes",
        "Passes that ended early because the disk is full, a file couldn't be opened, read or written, or the log is damaged; what they had done stays.",
        "";
    COMPACTION_READ_BYTES Counter "ringlog_compaction_read_bytes_total" ["shard"] "bytes",
        "Read by compaction: what is dirty twice, what is clean once.",
        "kafka.log:type=LogCleaner,name=cleaner-recopy-percent";
    COMPACTION_WRITTEN_BYTES Counter "ringlog_compaction_written_bytes_total" ["shard"] "bytes",
        "Written by compaction to new segments.",
        "kafka.log:type=LogCleaner,name=cleaner-recopy-percent";
    COMPACTION_REMOVED_RECORDS Counter "ringlog_compaction_removed_records_total" ["shard"] "records",
        "Records taken out of logs by compaction.",
        "";
    COMPACTION_REPLACED_SEGMENTS Counter "ringlog_compaction_replaced_segments_total" ["shard"] "segments",
        "Segments in whose place compaction put new ones.",
        "";
    COMPACTION_DIRTIEST Gauge "ringlog_compaction_dirtiest_ratio" ["shard"] "0 to 1",
        "Which part of the dirtiest compacted log wasn't compacted yet when that was last looked at.",
        "kafka.log:type=LogCleanerManager,name=max-dirty-percent";
    COMPACTION_LOOKED Gauge "ringlog_compaction_since_last_look_seconds" ["shard"] "seconds",
        "Since compaction last looked for something to do; it grows while a pass runs.",
        "kafka.log:type=LogCleanerManager,name=time-since-last-run-ms";
    FLUSH_TIME Histogram "ringlog_log_flush_seconds" ["shard"] "seconds",
        "Group flushes of the committer: all that waits is written, and synced where it is wanted.",
        "";
    SYNC_TIME Histogram "ringlog_log_sync_seconds" ["shard"] "seconds",
        "Syncs within group flushes, of one segment or of the file system, and durable writes of the journal's frames.",
        "kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs";

    LOG_DIR_BYTES Gauge "ringlog_log_dir_bytes" ["shard", "dir"] "bytes",
        "Size of all segments of the shard's partitions.",
        "kafka.log:type=Log,name=Size,topic=*,partition=*";
    LOG_DIR_PARTITIONS Gauge "ringlog_log_dir_partitions" ["shard", "dir"] "partitions",
        "Partitions that the shard owns; the node's PartitionCount and LeaderCount are the sum.",
        "kafka.server:type=ReplicaManager,name=PartitionCount";
    LOG_SEGMENTS Gauge "ringlog_log_segments" ["shard", "dir"] "segments",
        "Their segments, active ones included.",
        "kafka.log:type=Log,name=NumLogSegments,topic=*,partition=*";
    LOG_PRODUCERS Gauge "ringlog_log_producers" ["shard", "dir"] "producers",
        "Producers whose last batches are remembered, counted for each partition.",
        "kafka.server:type=ReplicaManager,name=ProducerIdCount";
    LOG_DIR_UNCLEANABLE Gauge "ringlog_log_dir_uncleanable_partitions" ["shard", "dir"] "partitions",
        "Those of them that can't be compacted, for the reason in the log; tried again after a restart.",
        "kafka.log:type=LogCleanerManager,name=uncleanable-partitions-count,logDirectory=*";
    LOG_DIR_OFFLINE_PARTITIONS Gauge "ringlog_log_dir_offline_partitions" ["shard", "dir"] "partitions",
        "Those of them that are offline: their directory failed, or their log is damaged.",
        "kafka.server:type=ReplicaManager,name=OfflineReplicaCount";
    LOG_DIR_OFFLINE Gauge "ringlog_log_dir_offline" ["shard", "dir"] "0 or 1",
        "Whether a write or sync failed: the directory is offline until a restart.",
        "kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory=*";
    DISK_BYTES Gauge "ringlog_disk_bytes" ["shard", "dir"] "bytes",
        "Size of the file system that the log directory is on; every shard tells the same.",
        "";
    DISK_FREE_BYTES Gauge "ringlog_disk_free_bytes" ["shard", "dir"] "bytes",
        "What may still be taken of it, as of the last second.",
        "";
    DISK_REFUSES_WRITES Gauge "ringlog_disk_refuses_writes" ["shard", "dir"] "0 or 1",
        "Whether producers' writes are refused because the disk is full (ringlog.disk.full.percent).",
        "";

    MEMORY_USED Gauge "ringlog_memory_used_bytes" ["shard", "budget"] "bytes",
        "Memory budgets: requests_small and requests_large (not answered yet), responses (not sent yet), unplaced (not in a segment yet), tail (for tail readers), cache (for catch-up readers), indexes, compaction (its map of keys, whose bound is the capacity, and the batch that is compressed anew).",
        "kafka.network:type=SocketServer,name=MemoryPoolUsed";
    MEMORY_CAPACITY Gauge "ringlog_memory_capacity_bytes" ["shard", "budget"] "bytes",
        "What each may take; a single larger request is admitted alone.",
        "kafka.network:type=SocketServer,name=MemoryPoolAvailable";

    METADATA_OFFSET Gauge "ringlog_metadata_offset" ["shard"] "offset",
        "Offset in the metadata log up to which the shard serves.",
        "kafka.server:type=broker-metadata-metrics,name=last-applied-record-offset";
    TOPICS Gauge "ringlog_topics" ["shard"] "topics",
        "Topics in the metadata that the shard knows; the same on all.",
        "kafka.controller:type=KafkaController,name=GlobalTopicCount";
    PARTITIONS Gauge "ringlog_partitions" ["shard"] "partitions",
        "Partitions in the metadata that the shard knows; the same on all.",
        "kafka.controller:type=KafkaController,name=GlobalPartitionCount";
    FETCH_SESSIONS Gauge "ringlog_fetch_sessions" ["shard"] "sessions",
        "Incremental fetch sessions (KIP-227).",
        "kafka.server:type=FetchSessionCache,name=NumIncrementalFetchSessions";
    GROUPS Gauge "ringlog_groups" ["shard", "state"] "groups",
        "Groups by state, those with offsets only included (Empty).",
        "kafka.server:type=group-coordinator-metrics,name=group-count, consumer-group-count";
    COORDINATORS Gauge "ringlog_group_coordinators" ["shard", "phase"] "partitions",
        "Partitions of __consumer_offsets by what their coordinator does: loading, active or lost.",
        "kafka.server:type=group-coordinator-metrics,name=num-partitions,state=*";

    PROCESS_CPU Counter "process_cpu_seconds_total" [] "seconds",
        "Time on cores, user and system, all threads.",
        "java.lang:type=OperatingSystem,name=ProcessCpuTime";
    PROCESS_RESIDENT Gauge "process_resident_memory_bytes" [] "bytes",
        "Memory of the process in RAM.",
        "java.lang:type=Memory";
    PROCESS_OPEN_FDS Gauge "process_open_fds" [] "descriptors",
        "Open file descriptors: segments, connections, rings.",
        "java.lang:type=OperatingSystem,name=OpenFileDescriptorCount";
    PROCESS_MAX_FDS Gauge "process_max_fds" [] "descriptors",
        "File descriptors the process may have open.",
        "java.lang:type=OperatingSystem,name=MaxFileDescriptorCount";
    PROCESS_THREADS Gauge "process_threads" [] "threads",
        "Threads: shards, helpers, watchdog, signals, this endpoint.",
        "java.lang:type=Threading,name=ThreadCount";
    PROCESS_START Gauge "process_start_time_seconds" [] "seconds",
        "When the process began, since 1970.",
        "java.lang:type=Runtime,name=StartTime";
}
