//! Every served API in every advertised version is answered by something a client of that version can read.
//!
//! A handler that sets a field which its version can't carry makes an answer that can't be written, and costs the client its connection.
//! Only sending each version finds these.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use broker::server::dispatch::SERVED;
use bytes::{Bytes, BytesMut};
use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::header::{ResponseHeader, request_frame};
use protocol::messages::{
    ApiVersionsRequest, CreateTopicsRequest, DeleteTopicsRequest, InitProducerIdRequest, JoinGroupResponse,
    Message, Request, VersionRange,
};
use protocol::types::Str;
use protocol::wire::Reader;
use rt::net::Conn;
use rt::sim::Sim;

use crate::node::BrokerNode;
use crate::requests::groups::{self, Membership};
use crate::requests::{Target, admin, configs, records, switched_off, topics};

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which versions of which API were asked.
type Asked = BTreeSet<(ApiKey, i16)>;

fn versions(api: ApiKey) -> VersionRange {
    let info = api.info();
    let both = info.valid.zip(info.advertised).and_then(|(valid, advertised)| valid.intersect(advertised));
    both.unwrap_or_else(|| panic!("{api} is served and has no version"))
}

/// A client that speaks any version of anything.
struct Polyglot {
    conn: Rc<Conn>,
    next_id: i32,
    received: BytesMut,
    asked: Asked,
}

impl Polyglot {
    async fn connect(broker: SocketAddr) -> Polyglot {
        loop {
            match rt::net::connect(broker).await {
                Ok(conn) => {
                    return Polyglot {
                        conn: Rc::new(conn),
                        next_id: 7,
                        received: BytesMut::new(),
                        asked: Asked::new(),
                    };
                }
                Err(_) => rt::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    /// Asks, and reads the answer to its last byte.
    async fn ask<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        let id = self.next_id;
        self.next_id += 1;
        self.asked.insert((R::API, version));
        let what = format!("{} {version}", R::API);
        let frame = request_frame(id, Some("polyglot".into()), request, version);
        let frame =
            frame.unwrap_or_else(|error| panic!("{what}: the test's request can't be written: {error}"));
        self.conn.send(frame.into_bufs()).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        let received = rt::timeout(PATIENCE, self.frame()).await;
        let Ok(Some(frame)) = received else { panic!("{what}: no answer ({received:?}) to {request:?}") };
        let mut reader = Reader::new(frame);
        let header = ResponseHeader::decode(&mut reader, R::API.response_header_version(version));
        assert_eq!(header.map(|header| header.correlation_id), Ok(id), "{what}");
        let response = R::Response::decode(&mut reader, version);
        let response = response.unwrap_or_else(|error| panic!("{what}: {error}; asked {request:?}"));
        assert_eq!(reader.remaining(), 0, "{what}: bytes after {response:?}");
        response
    }

    /// Asks everything that `make` makes, in each version.
    async fn ask_all<R: Request>(&mut self, make: impl Fn(i16) -> Vec<R>) {
        let VersionRange { min, max } = versions(R::API);
        for version in min..=max {
            for request in make(version) {
                self.ask(version, &request).await;
            }
        }
    }

    async fn frame(&mut self) -> Option<Bytes> {
        loop {
            if let Some(prefix) = self.received.first_chunk::<4>() {
                let len = usize::try_from(i32::from_be_bytes(*prefix)).expect("sizes aren't negative");
                if self.received.len() >= 4 + len {
                    let mut frame = self.received.split_to(4 + len).freeze();
                    return Some(frame.split_off(4));
                }
            }
            self.received.reserve(64 << 10);
            let (received, buf) = self.conn.recv(std::mem::take(&mut self.received)).await;
            self.received = buf;
            if !matches!(received, Ok(1..)) {
                return None;
            }
        }
    }
}

async fn target(client: &mut Polyglot) -> Target {
    let topic = protocol::messages::create_topics_request::CreatableTopic {
        name: "orders".into(),
        num_partitions: 2,
        replication_factor: 1,
        ..Default::default()
    };
    let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 1_000, ..Default::default() };
    let response = client.ask(versions(ApiKey::CreateTopics).max, &request).await;
    Target { name: "orders".into(), id: response.topics[0].topic_id }
}

/// What needs a group is asked of nobody, of a group, of a stranger; in each version by a group of its own.
async fn ask_groups(client: &mut Polyglot, target: &Target, shards: u16) {
    let nobody = Membership::invented("no such group");
    ask_as(client, target, &nobody).await;
    client.ask_all(groups::find_coordinator).await;
    ask_as(client, target, &nobody).await;
    client.ask_all(|_| groups::bad_joins()).await;
    let VersionRange { min, max } = versions(ApiKey::JoinGroup);
    for version in min..=max {
        let instances = if version >= 5 { vec![None, Some(Str::from("instance"))] } else { vec![None] };
        for instance in instances {
            let group = Str::from(format!("group-{version}-{shards}-{}", instance.is_some()));
            let who = Membership { group, member: Str::default(), instance, generation: -1 };
            live_in_group(client, target, who, version).await;
        }
    }
    client.ask_all(groups::list_groups).await;
}

async fn live_in_group(client: &mut Polyglot, target: &Target, mut who: Membership, version: i16) {
    let joined = join(client, &mut who, version).await;
    assert_eq!(ErrorCode::from_code(joined.error_code), ErrorCode::NONE, "{who:?} in version {version}");
    let of = |api: ApiKey| version.clamp(versions(api).min, versions(api).max);
    let synced = client.ask(of(ApiKey::SyncGroup), &groups::sync_group(of(ApiKey::SyncGroup), &who)).await;
    assert_eq!(ErrorCode::from_code(synced.error_code), ErrorCode::NONE, "{who:?} in version {version}");
    // All of it by a member, though most go on with another version than they joined with.
    ask_as(client, target, &who).await;
    let fenced = Membership { generation: who.generation + 5, ..who.clone() };
    client.ask_all(|version| vec![groups::heartbeat(version, &fenced)]).await;
    // Of a group that isn't empty, then of one that is.
    client.ask_all(|_| groups::delete_groups(&who.group)).await;
    client.ask(of(ApiKey::LeaveGroup), &groups::leave_group(of(ApiKey::LeaveGroup), &who)).await;
    client.ask_all(|version| groups::describe_groups(version, &who.group)).await;
    client.ask_all(|_| groups::delete_groups(&who.group)).await;
}

async fn join(client: &mut Polyglot, who: &mut Membership, version: i16) -> JoinGroupResponse {
    let mut joined = client.ask(version, &groups::join_group(who)).await;
    if ErrorCode::from_code(joined.error_code) == ErrorCode::MEMBER_ID_REQUIRED {
        who.member = joined.member_id;
        joined = client.ask(version, &groups::join_group(who)).await;
    }
    who.member = joined.member_id.clone();
    who.generation = joined.generation_id;
    joined
}

/// Everything that names a member or a group, but doesn't end it.
async fn ask_as(client: &mut Polyglot, target: &Target, who: &Membership) {
    client.ask_all(|version| vec![groups::sync_group(version, who)]).await;
    client.ask_all(|version| vec![groups::heartbeat(version, who)]).await;
    client.ask_all(|version| vec![groups::offset_commit(version, who, target)]).await;
    client.ask_all(|version| groups::offset_fetch(version, &who.group, target)).await;
    client.ask_all(|version| groups::describe_groups(version, &who.group)).await;
    client.ask_all(groups::list_groups).await;
    client.ask_all(|_| admin::offset_delete(&who.group, target)).await;
    let stranger = Membership { member: "a stranger".into(), instance: None, ..who.clone() };
    client.ask_all(|version| vec![groups::leave_group(version, &stranger)]).await;
    client.ask_all(|version| vec![groups::offset_commit(version, &stranger, target)]).await;
    client
        .ask_all(|_| {
            vec![groups::join_group(&stranger)].into_iter().filter(|_| who.member == "nobody").collect()
        })
        .await;
}

async fn ask_admin(client: &mut Polyglot, target: &Target) {
    client.ask_all(|_| admin::describe_producers(target)).await;
    client.ask_all(|_| admin::offset_for_leader_epoch(target)).await;
    client.ask_all(|_| admin::delete_records(target)).await;
    client.ask_all(|_| admin::describe_log_dirs(target)).await;
    client.ask_all(|_| admin::alter_replica_log_dirs(target)).await;
    client.ask_all(|_| admin::describe_quorum()).await;
    client.ask_all(admin::describe_cluster).await;
    client.ask_all(|_| admin::describe_topic_partitions(target)).await;
    client.ask_all(admin::list_config_resources).await;
    client.ask_all(|version| admin::elect_leaders(version, target)).await;
    client.ask_all(admin::update_features).await;
    client.ask_all(|_| switched_off::alter_partition_reassignments(target)).await;
    client.ask_all(|_| switched_off::list_partition_reassignments()).await;
}

async fn ask_what_is_off(client: &mut Polyglot) {
    client.ask_all(|_| switched_off::sasl_handshake()).await;
    client.ask_all(|_| switched_off::sasl_authenticate()).await;
    client.ask_all(|_| switched_off::describe_acls()).await;
    client.ask_all(|_| switched_off::create_acls()).await;
    client.ask_all(|_| switched_off::delete_acls()).await;
    client.ask_all(|_| switched_off::create_delegation_token()).await;
    client.ask_all(|_| switched_off::renew_delegation_token()).await;
    client.ask_all(|_| switched_off::expire_delegation_token()).await;
    client.ask_all(|_| switched_off::describe_delegation_token()).await;
    client.ask_all(|_| switched_off::consumer_group_heartbeat()).await;
    client.ask_all(|_| switched_off::share_group_heartbeat()).await;
    client.ask_all(|_| switched_off::streams_group_heartbeat()).await;
    client.ask_all(|_| switched_off::consumer_group_describe()).await;
    client.ask_all(|_| switched_off::share_group_describe()).await;
    client.ask_all(|_| switched_off::streams_group_describe()).await;
}

async fn ask_everything(broker: SocketAddr, shards: u16) -> Asked {
    let mut client = Polyglot::connect(broker).await;
    let target = target(&mut client).await;
    client.ask_all(topics::api_versions).await;
    client.ask_all(|version| topics::metadata(version, &target)).await;
    client.ask_all(|version| topics::create_topics(version, shards, &target)).await;
    client.ask_all(|version| topics::delete_topics(version, shards)).await;
    client.ask_all(|version| configs::describe_configs(version, &target)).await;
    client.ask_all(|_| configs::alter_configs(&target)).await;
    client.ask_all(|_| configs::incremental_alter_configs(&target)).await;
    client.ask_all(|_| configs::create_partitions(&target)).await;
    client.ask_all(records::init_producer_id).await;
    client.ask_all(|_| records::produce(&target)).await;
    client.ask_all(|version| records::fetch(version, &target)).await;
    client.ask_all(|_| records::list_offsets(&target)).await;
    ask_admin(&mut client, &target).await;
    ask_what_is_off(&mut client).await;
    ask_groups(&mut client, &target, shards).await;
    client.asked
}

#[test]
fn every_api_is_answered_in_every_version() {
    for shards in 1..=3 {
        let sim = Sim::new(u64::from(shards));
        let (broker, client) = (BrokerNode::add(&sim, &[]), sim.node("client"));
        broker.start(shards);
        let asked = sim.block_on(&client, ask_everything(broker.address(), shards));
        for api in SERVED {
            let VersionRange { min, max } = versions(api);
            for version in min..=max {
                assert!(
                    asked.contains(&(api, version)),
                    "{api} {version} has no request in this test: add one"
                );
            }
        }
    }
}

/// Creates topics until the controller has no space left, not even for a small one.
async fn fill_metadata_log(client: &mut Polyglot) {
    let large = "0:1,".repeat(8_000) + "0:1";
    let mut refusals = 0;
    for number in 0.. {
        let config = protocol::messages::create_topics_request::CreatableTopicConfig {
            name: "follower.replication.throttled.replicas".into(),
            value: Some(Str::from(if refusals == 0 { large.as_str() } else { "0:1" })),
            ..Default::default()
        };
        let topic = protocol::messages::create_topics_request::CreatableTopic {
            name: format!("filler-{number}").into(),
            num_partitions: 1,
            replication_factor: 1,
            configs: vec![config],
            ..Default::default()
        };
        let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 1_000, ..Default::default() };
        let response = client.ask(versions(ApiKey::CreateTopics).max, &request).await;
        match ErrorCode::from_code(response.topics[0].error_code) {
            ErrorCode::NONE => {}
            ErrorCode::KAFKA_STORAGE_ERROR if refusals == 0 => refusals = 1,
            ErrorCode::KAFKA_STORAGE_ERROR => return,
            code => panic!("{code}: {:?}", response.topics[0].error_message),
        }
    }
}

/// Without space for its log the controller refuses: answers to the request as a whole.
async fn ask_a_full_broker(mut client: Polyglot, target: Target) {
    fill_metadata_log(&mut client).await;
    let refused = |code: i16| assert_ne!(code, 0, "a full disk takes nothing");
    let VersionRange { min, max } = versions(ApiKey::CreateTopics);
    for version in min..=max {
        let request = &topics::create_topics(version, 0, &target)[0];
        client.ask(version, request).await.topics.iter().for_each(|topic| refused(topic.error_code));
    }
    let VersionRange { min, max } = versions(ApiKey::DeleteTopics);
    for version in min..=max {
        let by_name = DeleteTopicsRequest { topic_names: vec![target.name.clone()], ..Default::default() };
        let state = protocol::messages::delete_topics_request::DeleteTopicState {
            topic_id: target.id,
            ..Default::default()
        };
        let by_id = DeleteTopicsRequest { topics: vec![state], ..Default::default() };
        let response = client.ask(version, if version < 6 { &by_name } else { &by_id }).await;
        response.responses.iter().for_each(|topic| refused(topic.error_code));
    }
    client.ask_all(|version| topics::metadata(version, &target)).await;
    client.ask_all(groups::find_coordinator).await;
    client.ask_all(|_| configs::alter_configs(&target)).await;
    client.ask_all(|_| configs::incremental_alter_configs(&target)).await;
    client.ask_all(|_| configs::create_partitions(&target)).await;
    let VersionRange { min, max } = versions(ApiKey::InitProducerId);
    for version in min..=max {
        let response = client
            .ask(version, &InitProducerIdRequest { transactional_id: None, ..Default::default() })
            .await;
        refused(response.error_code);
    }
}

#[test]
fn refusals_are_answered_in_every_version() {
    let sim = Sim::new(7);
    let (broker, client) = (BrokerNode::add(&sim, &[]), sim.node("client"));
    broker.start(2);
    let address = broker.address();
    let (polyglot, target) = sim.block_on(&client, async move {
        let mut polyglot = Polyglot::connect(address).await;
        let target = target(&mut polyglot).await;
        (polyglot, target)
    });
    broker.fill_disk();
    sim.block_on(&client, ask_a_full_broker(polyglot, target));
}

#[test]
fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let sim = Sim::new(8);
    let (broker, client) = (BrokerNode::add(&sim, &[]), sim.node("client"));
    broker.start(1);
    let address = broker.address();
    let response = sim.block_on(&client, async move {
        let mut client = Polyglot::connect(address).await;
        let mut frame = request_frame(5, None, &ApiVersionsRequest::default(), 3)
            .expect("it can be written")
            .into_bytes()
            .to_vec();
        frame[6..8].copy_from_slice(&99i16.to_be_bytes());
        client.conn.send(vec![frame.into()]).await.expect("the connection is there");
        let mut reader = Reader::new(client.frame().await.expect("KIP-511: an answer"));
        assert_eq!(reader.i32(), Ok(5));
        protocol::messages::ApiVersionsResponse::decode(&mut reader, 0).expect("in version 0")
    });
    assert_eq!(ErrorCode::from_code(response.error_code), ErrorCode::UNSUPPORTED_VERSION);
    let named = response.api_keys.iter().find(|api| api.api_key == ApiKey::ApiVersions.code());
    assert!(named.is_some_and(|api| api.max_version >= 3), "the versions to choose from");
}
