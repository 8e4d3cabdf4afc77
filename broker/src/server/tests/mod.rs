//! Whole shards in the simulator: connections, budgets, the stop.

mod client;
mod connections;
mod deleting;
mod node;
mod stopping;
mod strays;
