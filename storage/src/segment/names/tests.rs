use super::*;

#[test]
fn what_is_on_its_way_tells_its_partition() {
    let partition = TopicPartition::new("a.b-c", 7);
    let name = put_away_dir_name(&partition, [0xab; 16], FUTURE_SUFFIX);
    assert_eq!(parse_future_dir_name(&name), Some(partition));
    assert_eq!(parse_future_dir_name("t-0.abc-future"), None);
    assert_eq!(parse_dir_name(&name), None);
}

#[test]
fn names_are_kafkas() {
    assert_eq!(file_name(Offset(42), LOG), "00000000000000000042.log");
    assert_eq!(parse_file_name("00000000000000000042.timeindex"), Some((Offset(42), "timeindex")));
    assert_eq!(parse_file_name("0042.log"), None);
    assert_eq!(parse_file_name("leader-epoch-checkpoint"), None);
    assert_eq!(parse_file_name("99999999999999999999.log"), None, "beyond an i64");
}

#[test]
fn directories_are_told_apart() {
    assert_eq!(parse_dir_name("my-topic-3"), Some(TopicPartition::new("my-topic", 3)));
    assert_eq!(parse_dir_name("t-03"), None);
    assert_eq!(parse_dir_name("t-"), None);
    assert_eq!(parse_dir_name("-1"), None);
    assert_eq!(parse_dir_name("t-0.aabb-stray"), None);
    let gone = put_away_dir_name(&TopicPartition::new("t", 0), [0xab; 16], DELETE_SUFFIX);
    assert!(is_deleted_dir(&gone) && parse_dir_name(&gone).is_none());
    assert_eq!(parse_deleted_dir_name(&gone), Some(TopicPartition::new("t", 0)));
    let long = put_away_dir_name(&TopicPartition::new("x".repeat(249), 12), [7; 16], DELETE_SUFFIX);
    assert!(long.len() <= 255 && is_deleted_dir(&long));
    assert!(!is_deleted_dir("soft-delete"), "a topic called soft, partition... is no partition either");
}
