//! [`Mover`]: an operator who moves partitions between log directories all the time.

use std::rc::Rc;
use std::time::Duration;

use protocol::error::ErrorCode;
use protocol::messages::alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic};
use protocol::messages::{AlterReplicaLogDirsRequest, DescribeLogDirsRequest};
use protocol::types::Str;

use crate::link::{Link, Lost};
use crate::story::{Story, random};
use crate::topics::Topic;

/// Codes that a move may be refused with: the topic isn't there yet, a directory is offline, or the node is just starting.
const REFUSALS: [ErrorCode; 2] = [ErrorCode::REPLICA_NOT_AVAILABLE, ErrorCode::KAFKA_STORAGE_ERROR];

/// Moves anything anywhere until the story ends.
pub(crate) struct Mover {
    story: Rc<Story>,
    dirs: &'static [&'static str],
}

impl Mover {
    pub(crate) fn new(story: Rc<Story>, dirs: &'static [&'static str]) -> Mover {
        Mover { story, dirs }
    }

    /// Runs until the story ends.
    pub(crate) async fn run(self) {
        while !self.story.is_ending() {
            if let Err(lost) = self.connected().await {
                self.story.note(format_args!("mover: {lost}"));
            }
            rt::sleep(Duration::from_millis(20 + random(200))).await;
        }
    }

    async fn connected(&self) -> Result<(), Lost> {
        let mut link = Link::open(self.story.broker(), "mover").await?;
        while !self.story.is_ending() {
            self.move_one(&mut link).await?;
            // Some are called off by the next.
            rt::sleep(Duration::from_millis(random(400))).await;
            self.look(&mut link).await?;
        }
        Ok(())
    }

    async fn move_one(&self, link: &mut Link) -> Result<(), Lost> {
        let topics = Topic::ALL.map(|topic| (topic.name(), topic.partitions()));
        let (name, partitions) = match random(4) as usize {
            3 => ("__consumer_offsets", 1),
            topic => topics[topic],
        };
        let partition = random(partitions.unsigned_abs().into()) as i32;
        let to = self.dirs[random(self.dirs.len() as u64) as usize];
        let topic = AlterReplicaLogDirTopic {
            name: Str::from(name),
            partitions: vec![partition],
            ..Default::default()
        };
        let dir = AlterReplicaLogDir { path: Str::from(to), topics: vec![topic], ..Default::default() };
        let request = AlterReplicaLogDirsRequest { dirs: vec![dir], ..Default::default() };
        let answer = link.call(&request, i16::MAX, Duration::ZERO).await?;
        let code = ErrorCode::from_code(answer.results[0].partitions[0].error_code);
        assert!(code == ErrorCode::NONE || REFUSALS.contains(&code), "{name}-{partition} to {to}: {code}");
        self.story.note(format_args!("{name}-{partition} goes to {to}: {code}"));
        Ok(())
    }

    /// Both directories are told of, whatever is under way.
    async fn look(&self, link: &mut Link) -> Result<(), Lost> {
        let request = DescribeLogDirsRequest { topics: None, ..Default::default() };
        let answer = link.call(&request, i16::MAX, Duration::ZERO).await?;
        assert_eq!(answer.results.len(), self.dirs.len());
        Ok(())
    }
}
