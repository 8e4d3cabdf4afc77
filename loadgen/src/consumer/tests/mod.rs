//! Consumers without a broker: sessions, positions, counting.

mod aborted;
mod positions;
mod session;
mod tally;
