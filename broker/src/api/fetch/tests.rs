//! What a Fetch makes of its request, and of the answers it waits for.

use std::future::{Ready, pending, ready};
use std::pin::Pin;

use protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use protocol::types::Str;

use super::*;

/// Runs under the simulator, which yields.
fn simulated<F: Future<Output = ()> + 'static>(test: impl FnOnce() -> F) {
    let sim = rt::sim::Sim::new(1);
    let client = sim.node("client");
    sim.block_on(&client, test());
}

fn request(topics: Vec<(Str, Vec<i32>)>) -> FetchRequest {
    let topics = topics.into_iter().map(|(topic, partitions)| {
        let partition = |partition| FetchPartition { partition, ..Default::default() };
        let partitions = partitions.into_iter().map(partition).collect();
        FetchTopic { topic, partitions, ..Default::default() }
    });
    FetchRequest { topics: topics.collect(), ..Default::default() }
}

/// Each partition had a copy: 4 GiB of a request of 2 MiB.
#[test]
fn partitions_of_a_topic_share_its_name() {
    simulated(|| async {
        let name = Str::from("x".repeat(30_000));
        let entries = entries(&request(vec![(name.clone(), (0..1_000).collect())])).await;
        assert_eq!(entries.len(), 1_000);
        let at = |entry: &FetchEntry| entry.name.topic.as_str().as_ptr();
        assert!(entries.iter().all(|entry| at(entry) == at(&entries[0])), "one copy");
        assert_ne!(at(&entries[0]), name.as_str().as_ptr(), "which isn't the request's");
    });
}

#[test]
fn of_a_partition_named_again_the_last_counts_in_the_place_of_the_first() {
    simulated(|| async {
        let (a, b) = (Str::from_static("a"), Str::from_static("b"));
        let mut request = request(vec![(a.clone(), vec![1, 2]), (b, vec![1]), (a, vec![3, 1])]);
        request.topics[2].partitions[1].fetch_offset = 7;
        let entries = entries(&request).await;
        let told =
            entries.iter().map(|entry| (entry.name.topic.as_str(), entry.name.partition, entry.offset));
        assert_eq!(told.collect::<Vec<_>>(), [("a", 1, 7), ("a", 2, 0), ("b", 1, 0), ("a", 3, 0)]);
    });
}

#[test]
fn names_that_no_topic_can_have_are_not_forgotten_one_by_one() {
    simulated(|| async {
        let mut request = FetchRequest::default();
        for name in ["a".to_string(), "x".repeat(TOPIC_NAME_LEN_MAX + 1)] {
            let topic = Str::from(name);
            let partitions = vec![0, 1, 0];
            request.forgotten_topics_data.push(ForgottenTopic { topic, partitions, ..Default::default() });
        }
        let forgotten = forgotten(&request).await;
        let forgotten = forgotten.iter().map(|name| (name.topic.as_str(), name.partition));
        assert_eq!(forgotten.collect::<Vec<_>>(), [("a", 0), ("a", 1)]);
    });
}

/// The second answer was dropped, and the records it told of missed the Fetch's answer.
#[test]
fn who_answers_in_the_same_turn_is_heard() {
    let calls: Vec<Pin<Box<dyn Future<Output = u32>>>> =
        vec![Box::pin(pending()), Box::pin(ready(1)), Box::pin(pending()), Box::pin(ready(3))];
    let mut answers = first_and_ready(calls).now_or_never().expect("an answer");
    answers.sort_unstable();
    assert_eq!(answers, [1, 3]);
    let one: Vec<Ready<u32>> = vec![ready(5)];
    assert_eq!(first_and_ready(one).now_or_never(), Some(vec![5]));
}

/// Each end alone would wake the shard.
#[test]
fn long_waits_end_together_and_never_late() {
    simulated(|| async {
        let (long, short) = (Duration::from_millis(500), Duration::from_millis(99));
        let mut ends = BTreeSet::new();
        for us in 0..10_000 {
            let now = rt::now() + Duration::from_micros(us);
            let end = wait_end(now, long);
            assert!(end <= now + long && end > now + long - Duration::from_millis(4), "{end:?}");
            ends.insert(end);
            assert_eq!(wait_end(now, short), now + short, "a short one ends at its end");
        }
        assert!(ends.len() <= 4, "{} ends of what began within 10 ms", ends.len());
    });
}
