//! Each number where it belongs.

use super::sample::{sample, shard, text_of};

fn assert_lines(text: &str, wanted: &[&str]) {
    for line in wanted {
        assert!(text.lines().any(|found| found == *line), "no {line} in\n{text}");
    }
}

#[test]
fn every_number_is_in_its_series() {
    assert_lines(
        &sample(),
        &[
            "ringlog_pieces_total{shard=\"1\",kind=\"remote\"} 102",
            "ringlog_connections{shard=\"0\"} 103",
            "ringlog_connections_adopted_total{shard=\"0\"} 104",
            "ringlog_connections_closed_total{shard=\"0\",reason=\"violation\"} 105",
            "ringlog_connections_closed_total{shard=\"0\",reason=\"idle\"} 106",
            "ringlog_requests_total{shard=\"0\",api=\"Produce\"} 901",
            "ringlog_request_errors_total{shard=\"0\",api=\"Produce\",error=\"MESSAGE_TOO_LARGE\"} 1",
            "ringlog_request_bytes_total{shard=\"0\",api=\"Produce\"} 902",
            "ringlog_response_bytes_total{shard=\"0\",api=\"Produce\"} 903",
            "ringlog_request_seconds_sum{shard=\"0\",api=\"Produce\"} 0.002",
            "ringlog_request_stage_seconds_count{shard=\"0\",api=\"Produce\",stage=\"route\"} 1",
            "ringlog_append_seconds_count{shard=\"0\"} 3",
            "ringlog_append_durable_seconds_count{shard=\"0\"} 4",
            "ringlog_log_appended_batches_total{shard=\"0\"} 301",
            "ringlog_log_appended_records_total{shard=\"0\"} 302",
            "ringlog_log_appended_bytes_total{shard=\"0\"} 303",
            "ringlog_log_written_records_total{shard=\"0\"} 304",
            "ringlog_log_synced_records_total{shard=\"0\"} 305",
            "ringlog_log_device_bytes_total{shard=\"0\"} 306",
            "ringlog_journal_bytes_total{shard=\"0\"} 307",
            "ringlog_journal_refused_logs_total{shard=\"0\"} 308",
            "ringlog_journal_checkpoints_total{shard=\"0\"} 309",
            "ringlog_log_deleted_segments_total{shard=\"0\"} 310",
            "ringlog_log_deleted_bytes_total{shard=\"0\"} 311",
            "ringlog_compaction_passes_total{shard=\"0\"} 320",
            "ringlog_compaction_failed_passes_total{shard=\"0\"} 321",
            "ringlog_compaction_read_bytes_total{shard=\"0\"} 322",
            "ringlog_compaction_written_bytes_total{shard=\"0\"} 323",
            "ringlog_compaction_removed_records_total{shard=\"0\"} 324",
            "ringlog_compaction_replaced_segments_total{shard=\"0\"} 325",
            "ringlog_compaction_dirtiest_ratio{shard=\"0\"} 0.326",
            "ringlog_compaction_since_last_look_seconds{shard=\"0\"} 0.327",
            "ringlog_log_dir_uncleanable_partitions{shard=\"0\",dir=\"/data\"} 406",
            "ringlog_log_flush_seconds_count{shard=\"0\"} 5",
            "ringlog_log_sync_seconds_count{shard=\"0\"} 6",
            "ringlog_log_dir_partitions{shard=\"0\",dir=\"/data\"} 401",
            "ringlog_log_dir_partitions{shard=\"0\",dir=\"/more\"} 408",
            "ringlog_log_dir_offline{shard=\"0\",dir=\"/more\"} 0",
            "ringlog_log_dir_offline_partitions{shard=\"0\",dir=\"/data\"} 402",
            "ringlog_log_segments{shard=\"0\",dir=\"/data\"} 403",
            "ringlog_log_dir_bytes{shard=\"0\",dir=\"/data\"} 404",
            "ringlog_log_producers{shard=\"0\",dir=\"/data\"} 405",
            "ringlog_log_dir_offline{shard=\"0\",dir=\"/data\"} 1",
            "ringlog_disk_bytes{shard=\"0\",dir=\"/data\"} 406",
            "ringlog_disk_free_bytes{shard=\"0\",dir=\"/data\"} 407",
            "ringlog_disk_refuses_writes{shard=\"0\",dir=\"/data\"} 1",
            "ringlog_memory_used_bytes{shard=\"0\",budget=\"tail\"} 501",
            "ringlog_memory_capacity_bytes{shard=\"0\",budget=\"tail\"} 502",
            "ringlog_partition_high_watermark{topic=\"orders\",partition=\"0\"} 1010",
            "ringlog_partition_start_offset{topic=\"orders\",partition=\"0\"} 1000",
            "ringlog_metadata_offset{shard=\"0\"} 601",
            "ringlog_topics{shard=\"0\"} 602",
            "ringlog_partitions{shard=\"0\"} 603",
            "ringlog_fetch_sessions{shard=\"0\"} 701",
            "ringlog_groups{shard=\"0\",state=\"Empty\"} 801",
            "ringlog_groups{shard=\"0\",state=\"Stable\"} 804",
            "ringlog_group_coordinators{shard=\"0\",phase=\"loading\"} 805",
            "ringlog_group_coordinators{shard=\"0\",phase=\"active\"} 806",
            "ringlog_group_coordinators{shard=\"0\",phase=\"lost\"} 807",
            "process_cpu_seconds_total 1.25",
            "process_max_fds 1024",
            "process_start_time_seconds 2",
        ],
    );
    assert!(!sample().contains("error=\"NONE\""), "no error is no error");
    assert!(!sample().contains("api=\"Fetch\""), "what was never asked for has no series");
}

#[test]
fn topics_are_sums_over_all_shards_or_missing() {
    assert_lines(
        &sample(),
        &[
            "ringlog_topic_records_in_total{topic=\"orders\"} 400",
            "ringlog_topic_bytes_in_total{topic=\"orders\"} 402",
            "ringlog_topic_records_out_total{topic=\"orders\"} 404",
            "ringlog_topic_bytes_out_total{topic=\"_other\"} 426",
        ],
    );
    let part = text_of(&[None, Some(Box::new(shard()))]);
    assert_lines(
        &part,
        &["ringlog_shard_up{shard=\"0\"} 0", "ringlog_pieces_total{shard=\"1\",kind=\"local\"} 101"],
    );
    assert!(
        !part.contains("ringlog_group_lag_records{") && !part.contains("ringlog_topic_bytes_in_total{"),
        "a part of a sum would look like a restart"
    );
}
