//! A broker that only acknowledges: what the load generator reaches against it is the load generator's own limit.
//!
//! It has every topic that is asked for, keeps nothing, checks nothing, and runs on as many cores as it gets.

mod answer;
mod serve;

pub use serve::serve;
