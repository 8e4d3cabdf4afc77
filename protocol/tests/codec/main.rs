//! The codec as a whole: every message at every version, against itself, against the crate `kafka-protocol`,
//! and against bytes real clients and a real Kafka exchanged.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../build/parse.rs"]
mod parse;
#[allow(dead_code)]
#[path = "../../build/schema.rs"]
mod schema;

mod captured;
mod corpus;
mod cross_check;
mod dispatch;
mod garbage;
mod generate;
mod parser;
mod rng;
mod round_trip;
mod schemas;
