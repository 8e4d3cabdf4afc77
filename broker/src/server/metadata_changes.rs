//! What a shard does when metadata changes: bring its image forward, open, create and delete the logs it owns, lead them.

use std::collections::BTreeSet;
use std::rc::Rc;

use futures_util::stream::{self, StreamExt};
use protocol::internal::MetadataRecord;
use protocol::types::Uuid;
use shards::PartitionKey;
use storage::{LeaderEpoch, TopicPartition};

use super::compacting;
use super::deleting;
use super::leading::{self, Wanted, log_config};
use super::state::ShardState;
use crate::config::TopicConfig;
use crate::config::topic::Overrides;
use crate::metadata::image::{RESOURCE_BROKER, RESOURCE_TOPIC, Topic};
use crate::metadata::{Delta, Image};

/// Logs opened or made at the same time.
const OPENS_MAX: usize = 16;

/// Applies a committed delta. When this returns, the shard serves what the delta made.
///
/// # Panics
/// If the delta doesn't fit the image: the shard would go on with another state than the quorum's.
pub async fn apply(shard: &Rc<ShardState>, delta: Delta) {
    let _turn = shard.metadata_turn.take(1).await;
    let (removed, leaders) = {
        let mut image = shard.image.borrow_mut();
        let broker_changed = changes_broker(shard, &delta);
        let removed = removed_by(&delta, &image);
        if let Err(error) = image.apply_delta(&delta) {
            panic!("metadata at offset {} can't be applied: {error}", delta.base_offset);
        }
        // Topics take what they don't set themselves from the broker.
        let leaders = if broker_changed {
            resolve_broker(shard, &image);
            place(shard, image.topics())
        } else {
            let touched = touched_by(&delta, &image);
            place(shard, touched.iter().filter_map(|id| image.topic_by_id(*id)))
        };
        (removed, leaders)
    };
    for (id, name, partitions) in removed {
        forget(shard, id, &name, partitions).await;
    }
    lead_each(shard, leaders, true).await;
}

/// Leads what the image at the start says. The logs that exist are opened, missing ones made. Coordinators wait for the node's registration,
/// which makes all its leaderships anew: started here, each would load twice at once.
pub async fn lead_all(shard: &Rc<ShardState>) {
    let leaders = {
        let image = shard.image.borrow();
        resolve_broker(shard, &image);
        place(shard, image.topics())
    };
    lead_each(shard, leaders, false).await;
}

/// Has the shard serve what its image says of a topic.
pub(super) async fn catch_up(shard: &Rc<ShardState>, topic_id: Uuid) {
    let _turn = shard.metadata_turn.take(1).await;
    let leaders = {
        let image = shard.image.borrow();
        place(shard, image.topic_by_id(topic_id).into_iter())
    };
    lead_each(shard, leaders, true).await;
}

/// Several at a time: opening and making logs waits for the device most of the time.
async fn lead_each(shard: &Rc<ShardState>, leaders: Vec<Wanted>, coordinate: bool) {
    let leading = |wanted| leading::lead(shard, wanted, coordinate);
    stream::iter(leaders).for_each_concurrent(OPENS_MAX, leading).await;
}

/// Whether the delta changes configs of this broker, or of all.
fn changes_broker(shard: &Rc<ShardState>, delta: &Delta) -> bool {
    let own = shard.node.config.node_id;
    delta.records.iter().any(|record| match record {
        MetadataRecord::Config(changed) if changed.resource_type == RESOURCE_BROKER => {
            changed.resource_name.is_empty() || changed.resource_name.parse() == Ok(own)
        }
        _ => false,
    })
}

/// Puts what was set while the broker ran over what it was started with.
fn resolve_broker(shard: &Rc<ShardState>, image: &Image) {
    let mut values = shard.node.config.values.clone();
    let (on_this, on_all) = image.dynamic_broker_configs(shard.node.config.node_id);
    values.set_dynamic(on_this, on_all);
    *shard.values.borrow_mut() = Rc::new(values);
    compacting::set_rate(shard);
}

/// Topics that the delta deletes: id, name and number of partitions.
fn removed_by(delta: &Delta, image: &Image) -> Vec<(Uuid, String, usize)> {
    let removed = delta.records.iter().filter_map(|record| match record {
        MetadataRecord::RemoveTopic(removed) => image.topic_by_id(removed.topic_id),
        _ => None,
    });
    removed.map(|topic| (topic.id, topic.name.to_string(), topic.partitions.len())).collect()
}

/// Topics that the delta makes or changes, as of the image after it.
fn touched_by(delta: &Delta, image: &Image) -> BTreeSet<Uuid> {
    let touched = delta.records.iter().filter_map(|record| match record {
        MetadataRecord::Topic(made) => Some(made.topic_id),
        MetadataRecord::Partition(made) => Some(made.topic_id),
        MetadataRecord::PartitionChange(changed) => Some(changed.topic_id),
        MetadataRecord::Config(changed) if changed.resource_type == RESOURCE_TOPIC => {
            image.topic(&changed.resource_name).map(|topic| topic.id)
        }
        _ => None,
    });
    touched.collect()
}

/// Places new partitions and resolves configs; gives those this shard is to lead and doesn't, or leads in an older epoch.
fn place<'a>(shard: &Rc<ShardState>, topics: impl Iterator<Item = &'a Topic>) -> Vec<Wanted> {
    let mut placement = shard.placement.borrow_mut();
    let mut configs = shard.topic_configs.borrow_mut();
    let partitions = shard.partitions.borrow();
    let mut wanted = Vec::new();
    let values = shard.broker_values();
    let plain = Rc::new(TopicConfig::resolve(&Overrides::new(), &values));
    for topic in topics {
        // In the order of the metadata, whether or not it is led here.
        shard.metrics.topics.of(topic.id, &topic.name);
        let config = if topic.configs.is_empty() {
            Rc::clone(&plain)
        } else {
            Rc::new(TopicConfig::resolve(&topic.configs, &values))
        };
        let config = match configs.get(&topic.id) {
            Some(known) if **known == *config => Rc::clone(known),
            _ => {
                configs.insert(topic.id, Rc::clone(&config));
                config
            }
        };
        for (index, partition) in topic.partitions.iter().enumerate() {
            let key = PartitionKey { topic_id: topic.id, partition: index as i32 };
            let owner = placement.place(key);
            // One on its way is caught up with when it is there.
            let is_here = owner == shard.id && !shard.held.contains(&key);
            let leads = partition.leader == shard.node.config.node_id && is_here;
            let epoch = LeaderEpoch(partition.leader_epoch);
            let known = partitions.get(&key).is_some_and(|known| known.leader_epoch() == epoch);
            if leads && !known {
                wanted.extend(Wanted::of(shard, topic, key.partition, Rc::clone(&config)));
            } else if let Some(known) = partitions.get(&key).filter(|_| leads) {
                known.log().set_config(log_config(shard, &config));
            }
        }
    }
    wanted
}

async fn forget(shard: &Rc<ShardState>, topic_id: Uuid, name: &str, partitions: usize) {
    shard.topic_configs.borrow_mut().remove(&topic_id);
    shard.metrics.topics.forget(topic_id);
    for index in 0..partitions as i32 {
        let key = PartitionKey { topic_id, partition: index };
        shard.placement.borrow_mut().remove(&key);
        let led = shard.partitions.borrow_mut().remove(&key);
        if led.is_some() {
            deleting::delete(shard, TopicPartition::new(name, index), topic_id).await;
        }
    }
    shard.coordinators.topic_deleted(name, topic_id);
}
