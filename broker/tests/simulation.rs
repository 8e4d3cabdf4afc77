//! The whole broker in the simulator: shards, storage, metadata, groups and connections, with clients that check what they are told.
//!
//! `play` is a run: clients (`producer`, `reader`, `member`) talk over `link` to a broker (`node`) that is killed, loses power, is cut off.
//! The `checkers` know what must hold all the same. `every_version` sends each API in each of its versions.

#[path = "simulation/batch.rs"]
mod batch;
#[path = "simulation/checkers/mod.rs"]
mod checkers;
#[path = "simulation/every_version.rs"]
mod every_version;
#[path = "simulation/failing_disk.rs"]
mod failing_disk;
#[path = "simulation/final_read.rs"]
mod final_read;
#[path = "simulation/first_batches.rs"]
mod first_batches;
#[path = "simulation/link.rs"]
mod link;
#[path = "simulation/member.rs"]
mod member;
#[path = "simulation/mover.rs"]
mod mover;
#[path = "simulation/node.rs"]
mod node;
#[path = "simulation/play.rs"]
mod play;
#[path = "simulation/producer.rs"]
mod producer;
#[path = "simulation/reader.rs"]
mod reader;
#[path = "simulation/requests/mod.rs"]
mod requests;
#[path = "simulation/story.rs"]
mod story;
#[path = "simulation/tests.rs"]
mod tests;
#[path = "simulation/topics.rs"]
mod topics;
