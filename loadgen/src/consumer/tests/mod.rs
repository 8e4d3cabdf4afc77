//! Consumers without a broker: sessions, positions, counting.

mod positions;
mod session;
mod tally;
