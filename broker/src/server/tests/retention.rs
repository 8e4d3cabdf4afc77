//! Retention end to end: a topic's settings, a look at its logs, what clients see.

use std::time::Duration;

use protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use protocol::messages::{FetchRequest, IncrementalAlterConfigsRequest};
use protocol::types::Str;

use super::client::{Client, FETCH_VERSION, TOPIC, fetch_request};
use super::node::Broker;

const OFFSET_OUT_OF_RANGE: i16 = 1;
/// `log.retention.check.interval.ms` and some time for the look.
const A_LOOK: Duration = Duration::from_secs(310);

async fn alter(client: &mut Client, name: &'static str, value: &'static str) {
    let config = AlterableConfig {
        name: Str::from_static(name),
        value: Some(Str::from_static(value)),
        ..Default::default()
    };
    let resource = AlterConfigsResource {
        resource_type: 2,
        resource_name: Str::from_static(TOPIC),
        configs: vec![config],
        ..Default::default()
    };
    let request = IncrementalAlterConfigsRequest { resources: vec![resource], ..Default::default() };
    let response = client.call(&request, 1).await;
    assert_eq!(response.responses[0].error_code, 0, "{response:?}");
}

/// The error of a read at offset 0 of each partition.
async fn errors_at_0(client: &mut Client) -> Vec<i16> {
    let request: FetchRequest = fetch_request(&[(0, 0), (1, 0)], 0);
    let response = client.call(&request, FETCH_VERSION).await;
    response.responses.iter().flat_map(|topic| &topic.partitions).map(|one| one.error_code).collect()
}

#[test]
fn a_topic_is_emptied_once_its_records_are_old_and_nothing_comes_back() {
    rt::sim::for_each_seed(10, |seed| {
        let broker = Broker::start(seed, 2);
        let to = broker.address();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            client.create_topic(2).await;
            assert_eq!(client.produce(0, b"old").await, 0);
            assert_eq!(client.produce(1, b"old").await, 0);
            rt::sleep(A_LOOK).await;
            assert_eq!(client.fetch(&[(0, 0), (1, 0)], 0).await, [[&b"old"[..]], [&b"old"[..]]]);
            alter(&mut client, "retention.ms", "60000").await;
            rt::sleep(A_LOOK).await;
            assert_eq!(errors_at_0(&mut client).await, [OFFSET_OUT_OF_RANGE; 2]);
            assert_eq!(client.produce(0, b"new").await, 1);
            assert_eq!(client.fetch(&[(0, 1)], 0).await, [[&b"new"[..]]]);
            alter(&mut client, "retention.ms", "-1").await;
            rt::sleep(A_LOOK).await;
            assert_eq!(client.fetch(&[(0, 1)], 0).await, [[&b"new"[..]]]);
        });
        let deleted = |broker: &Broker| {
            let names = [0, 1].map(|index| broker.disk().names(format!("/data/{TOPIC}-{index}")));
            names.into_iter().flatten().filter(|name| name.ends_with(".deleted")).count()
        };
        assert_eq!(deleted(&broker), 0, "file.delete.delay.ms is over");
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(errors_at_0(&mut client).await, [OFFSET_OUT_OF_RANGE; 2]);
            assert_eq!(client.fetch(&[(0, 1)], 0).await, [[&b"new"[..]]]);
            assert_eq!(client.produce(1, b"new").await, 1);
        });
        broker.stop();
        let (_, ended) = broker.ended(Duration::from_secs(60));
        assert_eq!(ended, [Ok(()), Ok(())]);
        assert!(broker.is_clean());
    });
}
