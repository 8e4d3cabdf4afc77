//! Load before anything is measured.

use crate::LoadError;
use crate::result::Outcome;
use crate::scenario::{Acks, ConsumeSpec, Line, ProduceSpec, Scenario, Target, TopicSpec};

/// How long, in s: Kafka's hot code is compiled by then, and its log files and jars are in the page cache.
const SECONDS: f64 = 5.0;

/// Sends and reads records of 100 bytes for some seconds, on a topic of its own: what is measured next shall meet
/// a broker that has been running for a while.
///
/// # Errors
/// The broker can't take it.
pub(crate) fn warm_up(bootstrap: &str) -> Result<(), LoadError> {
    let line = Line {
        name: "warm-up".into(),
        topic: TopicSpec { partitions: 6, ..TopicSpec::default() },
        produce: Some(ProduceSpec { acks: Acks::Leader, ..ProduceSpec::default() }),
        consume: Some(ConsumeSpec::default()),
        warmup_s: 0.0,
        duration_s: SECONDS,
        ..Line::default()
    };
    let result = crate::run(&Scenario::of_line(line), &Target::new(bootstrap))?;
    match result.lines.into_iter().next().map(|line| line.outcome) {
        Some(Outcome::Failed { why }) => {
            Err(LoadError::Usage(format!("the broker can't be warmed up: {why}")))
        }
        _ => Ok(()),
    }
}
