//! Requests and topics, counted.

use std::rc::Rc;
use std::time::Duration;

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::types::{Str, Uuid};

use crate::metrics::limits::{OTHER_TOPICS, TOPICS_MAX};
use crate::metrics::{ApiCounters, ApiIndex, RequestClock, ShardMetrics, Stage, TopicNumbers, TopicTraffic};
use crate::server::dispatch::SERVED;

fn id(number: u16) -> Uuid {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&number.to_be_bytes());
    Uuid(bytes)
}

fn numbers(topics: &TopicTraffic, name: &str) -> Option<TopicNumbers> {
    topics.numbers().into_iter().find(|topic| &*topic.name == name)
}

#[test]
fn every_served_api_has_a_place_of_its_own() {
    let apis = ApiCounters::default();
    for (nth, key) in SERVED.into_iter().enumerate() {
        let counter = apis.of(ApiIndex::of(key).unwrap());
        counter.requests.set(counter.requests.get() + nth as u64 + 1);
    }
    let counted: Vec<(&str, u64)> = apis.numbers().iter().map(|api| (api.api, api.requests)).collect();
    let wanted: Vec<(&str, u64)> = SERVED.iter().zip(1..).map(|(key, nth)| (key.name(), nth)).collect();
    assert_eq!(counted, wanted);
    assert_eq!(ApiIndex::of(ApiKey::Vote), None, "it isn't served");
}

#[test]
fn every_known_error_code_is_counted_under_its_name() {
    let apis = ApiCounters::default();
    let counter = apis.of(ApiIndex::of(ApiKey::Fetch).unwrap());
    counter.requests.set(1);
    ErrorCode::all().for_each(|code| counter.count_error(code));
    let errors = apis.numbers().remove(0).errors;
    let wanted: Vec<(ErrorCode, u64)> =
        ErrorCode::all().filter(|code| code.is_error()).map(|code| (code, 1)).collect();
    assert_eq!(errors, wanted);
    // A code that nobody knows makes no series of its own.
    counter.count_error(ErrorCode::from_code(i16::MAX));
    counter.count_error(ErrorCode::from_code(i16::MIN));
    assert_eq!(apis.numbers().remove(0).errors[0], (ErrorCode::UNKNOWN_SERVER_ERROR, 3));
}

#[test]
fn a_request_s_stages_add_up_to_its_time() {
    let metrics = Rc::new(ShardMetrics::default());
    let api = ApiIndex::of(ApiKey::Produce).unwrap();
    let arrived = rt::now();
    let mut clock = RequestClock::start(&metrics, api, 100, arrived);
    [Stage::Queue, Stage::Route, Stage::Handle].into_iter().for_each(|stage| clock.end_stage(stage));
    clock.answered(40);
    clock.end(arrived + Duration::from_secs(1));
    let numbers = metrics.apis.numbers().remove(0);
    assert_eq!((numbers.requests, numbers.request_bytes, numbers.response_bytes), (1, 100, 40));
    assert_eq!((numbers.total.total(), numbers.total.sum_ns), (1, 1_000_000_000));
    let stages: u64 = numbers.stages.iter().map(|times| times.sum_ns).sum();
    assert_eq!(stages, 1_000_000_000);
    assert!(numbers.stages.iter().all(|times| times.total() == 1));
}

#[test]
fn a_request_without_an_answer_has_a_time_and_no_reply() {
    let metrics = Rc::new(ShardMetrics::default());
    let api = ApiIndex::of(ApiKey::Produce).unwrap();
    RequestClock::start(&metrics, api, 100, rt::now()).end(rt::now());
    // Its connection has gone.
    drop(RequestClock::start(&metrics, api, 100, rt::now()));
    let numbers = metrics.apis.numbers().remove(0);
    assert_eq!((numbers.requests, numbers.total.total(), numbers.response_bytes), (2, 1, 0));
    assert_eq!(numbers.stages[Stage::Reply as usize].total(), 0);
}

#[test]
fn topics_beyond_the_limit_are_summed() {
    let topics = TopicTraffic::default();
    for number in 0..TOPICS_MAX as u16 + 2 {
        let name = Str::from(format!("t{number}"));
        topics.of(id(number), &name).count_in(1, 10);
        topics.of(id(number), &name).count_out(2, 20);
    }
    assert_eq!(topics.numbers().len(), TOPICS_MAX + 1);
    let last = numbers(&topics, &format!("t{}", TOPICS_MAX - 1)).unwrap();
    assert_eq!((last.records_in, last.bytes_in, last.records_out, last.bytes_out), (1, 10, 2, 20));
    assert_eq!(numbers(&topics, &format!("t{TOPICS_MAX}")), None);
    let others = numbers(&topics, OTHER_TOPICS).unwrap();
    assert_eq!((others.records_in, others.bytes_in, others.records_out, others.bytes_out), (2, 20, 4, 40));
}

#[test]
fn a_deleted_topic_makes_room_and_a_late_one_stays_where_it_is() {
    let topics = TopicTraffic::default();
    for number in 0..=TOPICS_MAX as u16 {
        topics.of(id(number), &Str::from(format!("t{number}")));
    }
    let (late, late_name) = (id(TOPICS_MAX as u16), Str::from(format!("t{TOPICS_MAX}")));
    topics.of(late, &late_name).count_in(5, 50);
    topics.forget(id(0));
    topics.forget(id(0));
    assert_eq!(numbers(&topics, "t0"), None);
    topics.of(late, &late_name).count_in(1, 10);
    assert_eq!(
        numbers(&topics, OTHER_TOPICS).unwrap().records_in,
        6,
        "partitions of one topic count in one place"
    );
    topics.of(id(9_999), &Str::from_static("new")).count_in(7, 70);
    assert_eq!(numbers(&topics, "new").unwrap().records_in, 7);
    topics.forget(late);
    assert_eq!(numbers(&topics, OTHER_TOPICS).unwrap().records_in, 6, "a sum never falls");
}

#[test]
fn no_topic_is_taken_for_the_sum() {
    let topics = TopicTraffic::default();
    topics.of(id(1), &Str::from_static(OTHER_TOPICS)).count_in(1, 1);
    assert_eq!(topics.numbers().len(), 1, "one series of that name");
}
