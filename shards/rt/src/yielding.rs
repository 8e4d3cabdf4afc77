//! Giving other tasks a turn, and calls that block.

/// Lets the shard look at its rings if it has worked for 200 us or moved 256 KiB since it last did; else
/// returns at once.
///
/// Call it once a request, a batch or a file in every loop that might not wait otherwise: without it a busy
/// connection holds up all others of its shard for 100 ms and more. Costs ~25 ns when nothing is due.
pub async fn yield_point() {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::facade::yield_point().await;
    }
    crate::real::current::expect("rt::yield_point").pass().await;
}

/// Counts `bytes` of work towards the next [`yield_point`]. In a simulation the seed decides that alone.
pub fn consume_budget(bytes: usize) {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return;
    }
    crate::real::current::expect("rt::consume_budget").turns.consume(bytes);
}

/// Runs a call that blocks, on a helper thread; in a simulation inline.
pub async fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        crate::sim::facade::yield_point().await;
        return call();
    }
    let helpers = crate::real::current::expect("rt::blocking").helpers.clone();
    helpers.run(call).await
}
