//! Whole shards in the simulator: connections, budgets, the stop, the start.

mod client;
mod connections;
mod core_moves;
mod costs;
mod deleted_offsets;
mod deleting;
mod full_disk;
mod idle;
mod log_dirs;
mod lost_dirs;
mod moving;
mod node;
mod placement;
mod repeats;
mod retention;
mod stopping;
mod strays;
mod told_once;
