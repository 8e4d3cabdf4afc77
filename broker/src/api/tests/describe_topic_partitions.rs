//! Pages of DescribeTopicPartitions, as Apache Kafka 4.4 cuts them.

use std::collections::BTreeSet;

use protocol::internal::{PartitionRecord, TopicRecord};
use protocol::messages::DescribeTopicPartitionsRequest;
use protocol::messages::describe_topic_partitions_request::{Cursor, TopicRequest};
use protocol::types::{Str, Uuid};

use crate::api::describe_topic_partitions::answer;
use crate::metadata::{Delta, Image};

/// Topics a, b and c with 3, 1 and 2 partitions.
fn image() -> Image {
    let mut records = Vec::new();
    for (name, id, partitions) in [("a", 1, 3), ("b", 2, 1), ("c", 3, 2)] {
        let topic_id = Uuid([id; 16]);
        records.push(TopicRecord { name: Str::from(name), topic_id, ..Default::default() }.into());
        records.extend((0..partitions).map(|partition_id| {
            PartitionRecord {
                topic_id,
                partition_id,
                replicas: vec![1, 2],
                isr: vec![1],
                leader: 1,
                ..Default::default()
            }
            .into()
        }));
    }
    let mut image = Image::empty(Str::from_static("abc"));
    image.apply_delta(&Delta { base_offset: 0, epoch: 1, records: records.into() }).unwrap();
    image
}

/// Topics as `name code partitions`, and the next cursor as `name partition`.
fn page(topics: &[&str], limit: usize, cursor: Option<(&str, i32)>) -> (Vec<String>, Option<String>) {
    let cursor = cursor.map(|(name, partition_index)| Cursor {
        topic_name: Str::from(name),
        partition_index,
        ..Cursor::default()
    });
    let topics = topics
        .iter()
        .map(|name| TopicRequest { name: Str::from(*name), ..TopicRequest::default() })
        .collect();
    let request = DescribeTopicPartitionsRequest { topics, cursor, ..Default::default() };
    let response = answer(&image(), &BTreeSet::from([1]), request, limit);
    let told = response.topics.iter().map(|topic| {
        let indexes: Vec<_> = topic.partitions.iter().map(|partition| partition.partition_index).collect();
        format!("{} {} {indexes:?}", topic.name.as_deref().unwrap_or_default(), topic.error_code)
    });
    let next = response.next_cursor.map(|next| format!("{} {}", next.topic_name, next.partition_index));
    (told.collect(), next)
}

#[test]
fn all_topics_in_pages() {
    let mut seen = Vec::new();
    let mut cursor: Option<(String, i32)> = None;
    loop {
        let start = cursor.as_ref().map(|(name, index)| (name.as_str(), *index));
        let (topics, next) = page(&[], 2, start);
        seen.push(topics.join(", "));
        let Some(next) = next else { break };
        let (name, index) = next.split_once(' ').unwrap();
        cursor = Some((name.into(), index.parse().unwrap()));
    }
    assert_eq!(seen, ["a 0 [0, 1]", "a 0 [2], b 0 [0]", "c 0 [0, 1]"]);
}

#[test]
fn named_topics_once_each_and_by_name() {
    assert_eq!(
        page(&["c", "gone", "bad name!", "a", "c"], 9, None),
        (
            vec!["a 0 [0, 1, 2]".into(), "bad name! 17 []".into(), "c 0 [0, 1]".into(), "gone 3 []".into()],
            None
        )
    );
    assert_eq!(page(&["a", "b"], 3, None), (vec!["a 0 [0, 1, 2]".into()], Some("b 0".into())));
}

#[test]
fn cursors() {
    assert_eq!(page(&["a"], 9, Some(("a", 2))), (vec!["a 0 [2]".into()], None));
    assert_eq!(page(&["a"], 9, Some(("a", 50))), (vec!["a 0 []".into()], None));
    // A topic that is gone: the next one follows, from its first partition on.
    assert_eq!(page(&[], 9, Some(("aa", 7))), (vec!["b 0 [0]".into(), "c 0 [0, 1]".into()], None));
    for cursor in [("a", -1), ("aa", 0), ("zz", 0)] {
        assert_eq!(page(&["a"], 9, Some(cursor)), (vec!["a 42 []".into()], None), "{cursor:?}");
    }
}

#[test]
fn a_partition_tells_who_is_there() {
    let request = DescribeTopicPartitionsRequest {
        topics: vec![TopicRequest { name: "b".into(), ..Default::default() }],
        ..Default::default()
    };
    let response = answer(&image(), &BTreeSet::from([2]), request, 9);
    let partition = &response.topics[0].partitions[0];
    assert_eq!(
        (partition.error_code, partition.leader_id, &partition.offline_replicas[..]),
        (5, -1, &[1][..])
    );
    assert_eq!(response.topics[0].topic_authorized_operations, 3576, "all that may be done to a topic");
}
