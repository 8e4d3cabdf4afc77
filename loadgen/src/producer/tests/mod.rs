//! Producers without a broker: batches, order, failures, time.

mod batches;
mod machine;
mod retries;
mod times;
