//! Requests and answers of a connection that is ready.

use std::time::Duration;

use protocol::api::ApiKey;
use protocol::messages::metadata_response::MetadataResponseBroker;
use protocol::messages::{MetadataRequest, MetadataResponse, ProduceRequest};

use super::{START, answer, ready, sent};
use crate::{Connection, ConnectionError, RequestId, SendError};

fn ask(connection: &mut Connection, now: Duration, extra_s: u64) -> Result<RequestId, SendError> {
    connection.send(now, &MetadataRequest::default(), 12, Duration::from_secs(extra_s))
}

fn of_controller(id: i32) -> MetadataResponse {
    MetadataResponse { controller_id: id, ..Default::default() }
}

#[test]
fn answers_come_in_order_however_the_bytes_are_cut() {
    let mut whole = Vec::new();
    for id in 1..=3 {
        whole.extend_from_slice(&answer(id, &of_controller(10 + id), 12));
    }
    for cut in 1..whole.len() {
        let mut connection = ready();
        let ids: Vec<RequestId> = (0..3).map(|_| ask(&mut connection, START, 0).unwrap()).collect();
        assert_eq!(
            sent(&mut connection).iter().map(|header| header.correlation_id).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        for piece in whole.chunks(cut) {
            connection.handle_bytes(START, piece).unwrap();
        }
        for (at, id) in ids.into_iter().enumerate() {
            let answer = connection.poll_answer().unwrap();
            assert_eq!((answer.id, answer.api, answer.version), (id, ApiKey::Metadata, 12));
            assert_eq!(answer.decode::<MetadataRequest>().unwrap().controller_id, 11 + at as i32);
        }
        assert_eq!((connection.in_flight(), connection.poll_timeout()), (0, None));
    }
}

/// Receives `bytes` as a socket does that has them all: as many at once as there is room for, at most `most`. Gives the largest
/// room there was.
fn receive(connection: &mut Connection, mut bytes: &[u8], most: usize) -> usize {
    let mut largest = 0;
    while !bytes.is_empty() {
        let mut buffer = connection.receive_buffer();
        let room = buffer.capacity() - buffer.len();
        assert!(room > 0, "a receive needs room");
        largest = largest.max(room);
        let (now, later) = bytes.split_at(room.min(most).min(bytes.len()));
        buffer.extend_from_slice(now);
        connection.handle_received(START, buffer).unwrap();
        bytes = later;
    }
    largest
}

#[test]
fn answers_of_any_size_are_received_where_they_stay() {
    let host = "h".repeat(30_000);
    let large = MetadataResponse {
        controller_id: 12,
        brokers: (0..20)
            .map(|id| MetadataResponseBroker {
                node_id: id,
                host: host.as_str().into(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let whole: Vec<u8> = [&of_controller(11), &large, &of_controller(13)]
        .into_iter()
        .zip(1..)
        .flat_map(|(message, id)| answer(id, message, 12))
        .collect();
    for most in [1_000, 4_097, 65_536, usize::MAX] {
        let mut connection = ready();
        for _ in 0..3 {
            ask(&mut connection, START, 0).unwrap();
        }
        let largest = receive(&mut connection, &whole, most);
        assert!((400_000..700_000).contains(&largest), "room for the rest of the large one: {largest}");
        for id in 11..=13 {
            let answer = connection.poll_answer().unwrap().decode::<MetadataRequest>().unwrap();
            assert_eq!(answer.controller_id, id);
            assert!(answer.brokers.iter().all(|broker| broker.host.as_str() == host));
        }
    }
}

#[test]
fn an_announced_size_alone_makes_no_room() {
    let mut connection = ready();
    ask(&mut connection, START, 0).unwrap();
    let announced = [&(200_i32 << 20).to_be_bytes()[..], &[0; 40_000]].concat();
    assert!(receive(&mut connection, &announced, usize::MAX) <= 70_000);
}

#[test]
fn only_so_many_are_in_flight() {
    let mut connection = ready();
    for _ in 0..3 {
        ask(&mut connection, START, 0).unwrap();
    }
    assert_eq!(ask(&mut connection, START, 0), Err(SendError::Full));
    assert_eq!(sent(&mut connection).len(), 3, "a refused request leaves nothing behind");
    connection.handle_bytes(START, &answer(1, &of_controller(1), 12)).unwrap();
    assert!(ask(&mut connection, START, 0).is_ok());
}

#[test]
fn an_unanswered_produce_leaves_no_hole() {
    let mut connection = ready();
    connection.send_unanswered(&ProduceRequest::default(), 12).unwrap();
    ask(&mut connection, START, 0).unwrap();
    assert_eq!(connection.in_flight(), 1);
    connection.handle_bytes(START, &answer(2, &of_controller(1), 12)).unwrap();
    assert!(connection.poll_answer().is_some());
}

#[test]
fn the_earliest_deadline_counts() {
    let mut connection = ready();
    ask(&mut connection, START, 60).unwrap();
    ask(&mut connection, START, 0).unwrap();
    let due = START + Duration::from_secs(5);
    assert_eq!(connection.poll_timeout(), Some(due));
    assert_eq!(connection.handle_timeout(due - Duration::from_nanos(1)), Ok(()));
    assert_eq!(connection.handle_timeout(due), Err(ConnectionError::TimedOut { api: ApiKey::Metadata }));
    assert_eq!(ask(&mut connection, due, 0), Err(SendError::Over));
    assert!(connection.poll_transmit().is_none() && connection.poll_timeout().is_none());
}

#[test]
fn the_peer_s_faults_end_the_connection() {
    let wrong = |bytes: &[u8]| {
        let mut connection = ready();
        ask(&mut connection, START, 0).unwrap();
        let error = connection.handle_bytes(START, bytes).unwrap_err();
        assert_eq!(connection.handle_timeout(START), Err(error.clone()));
        error
    };
    let other = wrong(&answer(7, &of_controller(1), 12));
    assert_eq!(other, ConnectionError::Correlation { got: 7, expected: Some(1) });
    assert_eq!(wrong(b"HTTP/1.1 400"), ConnectionError::FrameSize { size: i32::from_be_bytes(*b"HTTP") });
    assert_eq!(wrong(&[0xff; 4]), ConnectionError::FrameSize { size: -1 });
    assert!(matches!(wrong(&[0, 0, 0, 2, 0, 0]), ConnectionError::Decode(_)));
    let unasked = ready().handle_bytes(START, &answer(1, &of_controller(1), 12));
    assert_eq!(unasked, Err(ConnectionError::Correlation { got: 1, expected: None }));
}

#[test]
fn a_short_answer_is_an_error_of_its_decoding() {
    let mut connection = ready();
    ask(&mut connection, START, 0).unwrap();
    connection.handle_bytes(START, &[0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0]).unwrap();
    let answer = connection.poll_answer().unwrap();
    assert!(matches!(answer.decode::<MetadataRequest>(), Err(ConnectionError::Decode(_))));
}

#[test]
fn a_closed_connection_tells_what_is_unanswered() {
    let mut connection = ready();
    ask(&mut connection, START, 0).unwrap();
    assert_eq!(connection.handle_eof(), Err(ConnectionError::Closed { unanswered: 1 }));
}
