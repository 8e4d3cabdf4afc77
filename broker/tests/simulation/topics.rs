//! The topics of a run, and what each promises.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::{CreateTopicsRequest, MetadataRequest};
use protocol::types::{Str, Uuid};

use crate::link::{Link, Lost};

/// A topic of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// Written with acks=all, synced before it is acknowledged: the default.
    Synced,
    /// Written with acks=1.
    Leader,
    /// Written with acks=all, and told not to wait for syncs.
    Cached,
}

/// What of a topic outlives which crash. A kill costs nothing that was told, whatever the topic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Promise {
    acks: bool,
    reads: bool,
}

impl Promise {
    /// Whether acknowledged records are still there after a loss of power.
    pub(crate) fn acks_survive_power_cuts(self) -> bool {
        self.acks
    }

    /// Whether what a consumer saw is.
    pub(crate) fn reads_survive_power_cuts(self) -> bool {
        self.reads
    }
}

impl Topic {
    pub(crate) const ALL: [Topic; 3] = [Topic::Synced, Topic::Leader, Topic::Cached];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Topic::Synced => "synced",
            Topic::Leader => "leader",
            Topic::Cached => "cached",
        }
    }

    /// The topic of that name.
    pub(crate) fn named(name: &str) -> Topic {
        let found = Topic::ALL.into_iter().find(|topic| topic.name() == name);
        found.unwrap_or_else(|| panic!("nobody asked for topic {name}"))
    }

    pub(crate) fn partitions(self) -> i32 {
        match self {
            Topic::Synced => 3,
            Topic::Leader | Topic::Cached => 2,
        }
    }

    /// What its producers ask for.
    pub(crate) fn acks(self) -> i16 {
        match self {
            Topic::Synced | Topic::Cached => -1,
            Topic::Leader => 1,
        }
    }

    pub(crate) fn promise(self) -> Promise {
        match self {
            Topic::Synced => Promise { acks: true, reads: true },
            // The high watermark waits for the sync, whatever the producer asked for.
            Topic::Leader => Promise { acks: false, reads: true },
            Topic::Cached => Promise { acks: false, reads: false },
        }
    }

    pub(crate) fn places(self) -> impl Iterator<Item = Place> {
        (0..self.partitions()).map(move |partition| Place { topic: self, partition })
    }

    fn creation(self, segment_bytes: u64) -> CreatableTopic {
        let config = |name: &str, value: String| CreatableTopicConfig {
            name: name.into(),
            value: Some(value.into()),
            ..Default::default()
        };
        let mut configs = vec![config("internal.segment.bytes", segment_bytes.to_string())];
        if self == Topic::Cached {
            configs.push(config("ringlog.acks.all.sync", "false".into()));
        }
        CreatableTopic {
            name: Str::from_static(self.name()),
            num_partitions: self.partitions(),
            replication_factor: 1,
            configs,
            ..Default::default()
        }
    }
}

/// A partition of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) topic: Topic,
    pub(crate) partition: i32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic.name(), self.partition)
    }
}

/// Creates the topics; the connection may be lost at any point, then some are there and the next call finds them.
pub(crate) async fn create(link: &mut Link, segment_bytes: u64) -> Result<(), Lost> {
    let topics = Topic::ALL.map(|topic| topic.creation(segment_bytes)).to_vec();
    let request = CreateTopicsRequest { topics, timeout_ms: 3_000, ..Default::default() };
    let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
    for topic in response.topics {
        let code = ErrorCode::from_code(topic.error_code);
        let is_there = matches!(code, ErrorCode::NONE | ErrorCode::TOPIC_ALREADY_EXISTS);
        assert!(is_there, "{} can't be created: {code} {:?}", topic.name, topic.error_message);
    }
    Ok(())
}

/// What metadata tell of the topics.
#[derive(Debug)]
pub(crate) struct Known {
    ids: BTreeMap<Topic, Uuid>,
    leader_epochs: BTreeMap<Place, i32>,
}

impl Known {
    /// Asks.
    ///
    /// # Errors
    /// Also if the topics aren't all there yet.
    pub(crate) async fn ask(link: &mut Link) -> Result<Known, Lost> {
        let named = |topic: Topic| MetadataRequestTopic {
            name: Some(Str::from_static(topic.name())),
            ..Default::default()
        };
        let topics = Some(Topic::ALL.map(named).to_vec());
        let request = MetadataRequest { topics, allow_auto_topic_creation: false, ..Default::default() };
        let response = link.call(&request, i16::MAX, Duration::ZERO).await?;
        let mut known = Known { ids: BTreeMap::new(), leader_epochs: BTreeMap::new() };
        for (topic, found) in Topic::ALL.into_iter().zip(response.topics) {
            let code = ErrorCode::from_code(found.error_code);
            if code.is_error() {
                return Err(Lost::refused(topic.name(), code));
            }
            known.ids.insert(topic, found.topic_id);
            for (place, partition) in topic.places().zip(found.partitions) {
                known.leader_epochs.insert(place, partition.leader_epoch);
            }
        }
        Ok(known)
    }

    /// The topic's id.
    pub(crate) fn id(&self, topic: Topic) -> Uuid {
        self.ids[&topic]
    }

    /// The topic with that id.
    pub(crate) fn by_id(&self, id: Uuid) -> Topic {
        let found = self.ids.iter().find(|(_, known)| **known == id);
        *found.unwrap_or_else(|| panic!("nobody asked for topic {id}")).0
    }

    /// The partition's leader epoch.
    pub(crate) fn leader_epoch(&self, place: Place) -> i32 {
        self.leader_epochs[&place]
    }
}
