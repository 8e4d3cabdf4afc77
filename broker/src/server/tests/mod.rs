//! Whole shards in the simulator: connections, budgets, the stop, the start.

mod client;
mod connections;
mod deleted_offsets;
mod deleting;
mod node;
mod repeats;
mod stopping;
mod strays;
