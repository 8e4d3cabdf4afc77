//! Broker configs that stand in for each other.

/// All names that decide about a broker config, the first that is set wins; only itself for most.
pub fn broker_synonyms(name: &str) -> &'static [&'static str] {
    match name {
        "log.roll.ms" | "log.roll.hours" => &["log.roll.ms", "log.roll.hours"],
        "log.roll.jitter.ms" | "log.roll.jitter.hours" => &["log.roll.jitter.ms", "log.roll.jitter.hours"],
        // The other way round there is nothing: the interval of the scheduler stands for itself.
        "log.flush.interval.ms" => &["log.flush.interval.ms", "log.flush.scheduler.interval.ms"],
        "log.retention.ms" | "log.retention.minutes" | "log.retention.hours" => {
            &["log.retention.ms", "log.retention.minutes", "log.retention.hours"]
        }
        _ => &[],
    }
}
