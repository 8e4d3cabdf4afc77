//! The partition's life on its core: which shard owns it, its leader, and the lanes by which pieces of requests travel.
//!
//! Nothing is shared and nothing is locked: a shard reaches another shard's partition only by a piece sent through the
//! [`Mesh`]. [`Placement`] says whose partition it is, [`Partition`] is its leader here.
mod mesh;
mod partition;
mod placement;
mod traffic;

pub use mesh::{CREDITS, Mesh, MeshPiece, MeshPorts, MeshStats, WAITS_MAX, mesh};
pub use partition::{Appended, Partition, PartitionError};
pub use placement::{PartitionKey, Placed, Placement};
pub use traffic::Traffic;
