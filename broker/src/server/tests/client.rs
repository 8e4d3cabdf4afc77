//! A client that says what a test wants, also nonsense.

use std::net::SocketAddr;

use bytes::{Buf, Bytes, BytesMut};
use protocol::header::{ResponseHeader, request_frame};
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{
    ApiMessage, CreateTopicsRequest, DeleteTopicsRequest, FetchRequest, FetchResponse, Message,
    ProduceRequest, ProduceResponse, Request,
};
use protocol::records::{BatchBuilder, RecordBatch};
use protocol::types::Str;
use protocol::wire::Reader;
use rt::net::{Conn, connect};

pub(super) const TOPIC: &str = "orders";
pub(super) const PRODUCE_VERSION: i16 = 9;
pub(super) const FETCH_VERSION: i16 = 12;

pub(super) struct Client {
    conn: Conn,
    buf: BytesMut,
    next: i32,
}

impl Client {
    /// Connects, as soon as somebody listens.
    pub(super) async fn connect(to: SocketAddr) -> Client {
        loop {
            if let Ok(conn) = connect(to).await {
                return Client { conn, buf: BytesMut::new(), next: 0 };
            }
            rt::sleep(std::time::Duration::from_millis(1)).await;
        }
    }

    pub(super) fn conn(&self) -> &Conn {
        &self.conn
    }

    /// Sends a request; its number.
    pub(super) async fn post<M: Request>(&mut self, request: &M, version: i16) -> std::io::Result<i32> {
        self.next += 1;
        let frame = request_frame(self.next, Some(Str::from_static("test")), request, version).unwrap();
        self.conn.send(frame.into_bufs()).await?;
        Ok(self.next)
    }

    /// The next answer without its size; none at the end of the stream.
    pub(super) async fn frame(&mut self) -> Option<Bytes> {
        loop {
            if self.buf.len() >= 4 {
                let len = u32::from_be_bytes(self.buf[..4].try_into().unwrap()) as usize;
                if self.buf.len() >= 4 + len {
                    self.buf.advance(4);
                    return Some(self.buf.split_to(len).freeze());
                }
            }
            self.buf.reserve(64 << 10);
            let (read, buf) = self.conn.recv(std::mem::take(&mut self.buf)).await;
            self.buf = buf;
            if !matches!(read, Ok(1..)) {
                return None;
            }
        }
    }

    /// The next answer, to this kind of request; its number with it.
    pub(super) async fn answer<M: Request>(&mut self, version: i16) -> Option<(i32, M::Response)> {
        let mut reader = Reader::new(self.frame().await?);
        let header = M::API.response_header_version(version);
        let number = ResponseHeader::decode(&mut reader, header).unwrap().correlation_id;
        Some((number, M::Response::decode(&mut reader, version).unwrap()))
    }

    pub(super) async fn call<M: Request>(&mut self, request: &M, version: i16) -> M::Response {
        let asked = self.post(request, version).await.unwrap();
        let (answered, response) = self.answer::<M>(version).await.expect("an answer");
        assert_eq!((asked, <M::Response as ApiMessage>::API), (answered, M::API));
        response
    }

    pub(super) async fn create_topic(&mut self, partitions: i32) {
        self.create_topic_named(TOPIC, partitions).await;
    }

    pub(super) async fn create_topic_named(&mut self, name: &'static str, partitions: i32) {
        let topic = CreatableTopic {
            name: Str::from_static(name),
            num_partitions: partitions,
            replication_factor: 1,
            ..Default::default()
        };
        let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 10_000, ..Default::default() };
        let response = self.call(&request, 7).await;
        assert_eq!(response.topics[0].error_code, 0, "{response:?}");
    }

    pub(super) async fn delete_topic(&mut self) {
        self.delete_topic_named(TOPIC).await;
    }

    pub(super) async fn delete_topic_named(&mut self, name: &'static str) {
        let request = DeleteTopicsRequest {
            topic_names: vec![Str::from_static(name)],
            timeout_ms: 10_000,
            ..Default::default()
        };
        let response = self.call(&request, 5).await;
        assert_eq!(response.responses[0].error_code, 0, "{response:?}");
    }

    /// Sends a record to a partition, acks=all.
    pub(super) async fn post_produce(&mut self, partition: i32, value: &[u8]) -> std::io::Result<i32> {
        self.post(&produce_request(partition, value), PRODUCE_VERSION).await
    }

    /// The next answer to a Produce: its number, error and offset.
    pub(super) async fn produced(&mut self) -> Option<(i32, i16, i64)> {
        let (number, response) = self.answer::<ProduceRequest>(PRODUCE_VERSION).await?;
        let ProduceResponse { responses, .. } = response;
        let partition = &responses[0].partition_responses[0];
        Some((number, partition.error_code, partition.base_offset))
    }

    pub(super) async fn produce(&mut self, partition: i32, value: &[u8]) -> i64 {
        let asked = self.post_produce(partition, value).await.unwrap();
        let (answered, error, offset) = self.produced().await.expect("an answer");
        assert_eq!((asked, 0), (answered, error));
        offset
    }

    pub(super) async fn post_fetch(
        &mut self,
        wanted: &[(i32, i64)],
        max_wait_ms: i32,
    ) -> std::io::Result<i32> {
        self.post(&fetch_request(wanted, max_wait_ms), FETCH_VERSION).await
    }

    /// The next answer to a Fetch: values of the records of each partition, in order.
    pub(super) async fn fetched(&mut self) -> Option<Vec<Vec<Bytes>>> {
        let (_, response) = self.answer::<FetchRequest>(FETCH_VERSION).await?;
        let FetchResponse { error_code: 0, responses, .. } = response else { panic!("{response:?}") };
        let partitions = responses.into_iter().flat_map(|topic| topic.partitions);
        let values = partitions.map(|partition| {
            assert_eq!(partition.error_code, 0);
            values(partition.records.map(|records| records.to_bytes()).unwrap_or_default())
        });
        Some(values.collect())
    }

    pub(super) async fn fetch(&mut self, wanted: &[(i32, i64)], max_wait_ms: i32) -> Vec<Vec<Bytes>> {
        self.post_fetch(wanted, max_wait_ms).await.unwrap();
        self.fetched().await.expect("an answer")
    }
}

pub(super) fn produce_request(partition: i32, value: &[u8]) -> ProduceRequest {
    let mut batch = BatchBuilder::new();
    batch.push(rt::unix_ms(), None, Some(value), &[]);
    let data = PartitionProduceData {
        index: partition,
        records: Some(batch.build().unwrap()),
        ..Default::default()
    };
    let topic =
        TopicProduceData { name: Str::from_static(TOPIC), partition_data: vec![data], ..Default::default() };
    ProduceRequest { acks: -1, timeout_ms: 30_000, topic_data: vec![topic], ..Default::default() }
}

pub(super) fn fetch_request(wanted: &[(i32, i64)], max_wait_ms: i32) -> FetchRequest {
    let partitions = wanted.iter().map(|(partition, offset)| FetchPartition {
        partition: *partition,
        current_leader_epoch: -1,
        fetch_offset: *offset,
        last_fetched_epoch: -1,
        partition_max_bytes: 50 << 20,
        ..Default::default()
    });
    let topic =
        FetchTopic { topic: Str::from_static(TOPIC), partitions: partitions.collect(), ..Default::default() };
    FetchRequest {
        replica_id: -1,
        max_wait_ms,
        min_bytes: 1,
        max_bytes: 50 << 20,
        session_epoch: -1,
        topics: vec![topic],
        ..Default::default()
    }
}

fn values(mut bytes: Bytes) -> Vec<Bytes> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let batch = RecordBatch::split_from(&mut bytes).unwrap();
        values.extend(batch.records().map(|record| record.unwrap().value.unwrap()));
    }
    values
}
