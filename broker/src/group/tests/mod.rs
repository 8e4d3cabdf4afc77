//! The group machine in virtual time.

mod joins;
mod limits;
mod liveness;
mod offsets;
mod property;
mod restart;
mod statics;
mod syncs;
mod unit;
mod versions;
mod world;
