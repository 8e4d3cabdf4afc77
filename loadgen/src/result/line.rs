//! One line of a scenario.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BrokerSample, ClientCost, Figure, Flow, Latency, Second, VerifyOutcome};

/// What one line of a scenario measured. All rates and latencies are those of the measured window, without the
/// warm-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineResult {
    /// The line's name.
    pub name: String,
    /// Whether it was run.
    pub outcome: Outcome,
    /// Length of the measured window, in s.
    pub measured_s: f64,
    /// The rate asked for in records a second, for an open loop; nothing for a closed one.
    pub rate_target: Option<f64>,
    /// What was produced and acknowledged (with acks=0: sent).
    pub produced: Option<Flow>,
    /// What was consumed.
    pub consumed: Option<Flow>,
    /// From a record's intended send time (open loop) or its making (closed loop) to its acknowledgement.
    pub produce_latency: Option<Latency>,
    /// From a fetch's sending to its answer, of fetches that brought records.
    pub fetch_latency: Option<Latency>,
    /// From a record's intended send time to its receipt by a consumer.
    pub end_to_end_latency: Option<Latency>,
    /// The measured window by the second.
    pub series: Vec<Second>,
    /// The steps of a ramp, in order; the last one that kept the bound is the line's figure.
    pub ramp: Vec<RampStep>,
    /// Errors met, by what they were, with their number. Retried ones count too.
    pub errors: BTreeMap<String, u64>,
    /// What happened besides, by name: connections opened, group members that joined or left.
    pub events: BTreeMap<String, u64>,
    /// What verification found, if it was asked for.
    pub verify: Option<VerifyOutcome>,
    /// What the load generator itself took.
    pub client: ClientCost,
    /// What the broker took, if its process could be watched.
    pub broker: Option<BrokerSample>,
    /// What the benchmark of 2014 reported for this line.
    pub figure_2014: Option<Figure>,
}

impl LineResult {
    /// A line that wasn't run.
    pub fn not_run(name: &str, why: impl Into<String>) -> Self {
        let outcome = Outcome::NotRun { why: why.into() };
        Self { name: name.to_owned(), outcome, ..Self::default() }
    }

    /// Records a second of the line's main flow: what was consumed where nothing was produced, else what was
    /// produced.
    pub fn records_per_s(&self) -> f64 {
        self.main_flow().map_or(0.0, |flow| flow.records_per_s)
    }

    /// MB a second of the line's main flow.
    pub fn mb_per_s(&self) -> f64 {
        self.main_flow().map_or(0.0, |flow| flow.mb_per_s)
    }

    fn main_flow(&self) -> Option<&Flow> {
        self.produced.as_ref().or(self.consumed.as_ref())
    }
}

/// Whether a line was run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Outcome {
    /// It ran to its end.
    #[default]
    Done,
    /// It can't run against this target.
    NotRun {
        /// Why.
        why: String,
    },
    /// It was begun and failed; what it measured before stands in the line.
    Failed {
        /// Why.
        why: String,
    },
}

/// One step of a ramp.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RampStep {
    /// Records a second asked for.
    pub rate_target: f64,
    /// Records a second acknowledged.
    pub records_per_s: f64,
    /// 99th percentile of the produce latency, in ms.
    pub p99_ms: f64,
    /// Whether the rate was reached and the bound kept.
    pub kept: bool,
}
