//! What a comparison found, as it is written to JSON and drawn.

use serde::{Deserialize, Serialize};

use super::{Machine, Metric, Summary};

/// Two brokers over one suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The suite's name.
    pub suite: String,
    /// How far it was shrunk.
    pub scale: String,
    /// Rounds that count.
    pub rounds: u32,
    /// The command that repeats it.
    pub command: String,
    /// Where and when.
    pub machine: Machine,
    /// A and B.
    pub targets: [TargetFacts; 2],
    /// The suite's lines in their order.
    pub lines: Vec<Line>,
    /// Why system calls weren't counted, if they weren't.
    pub syscalls_not_counted: Option<String>,
}

/// What one of the two is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its short name, unique among the two.
    pub name: String,
    /// Version, settings, or address.
    pub what: String,
}

/// One line of the suite on both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name in the suite.
    pub name: String,
    /// Why it was not run, or failed.
    pub not_run: Option<String>,
    /// The figures that both or one of them have.
    pub rows: Vec<Row>,
    /// Of the round nearest to the median rate.
    pub curves: [Option<Curves>; 2],
    /// msg/s of the same line in the benchmark of 2014, on three machines of that time.
    pub msgs_per_s_2014: Option<f64>,
}

/// One figure of one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which.
    pub metric: Metric,
    /// A's and B's; `None` where it was not measured.
    pub sides: [Option<Summary>; 2],
}

/// How one run went over time, and how its latencies lie.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curves {
    /// Second since the start, msg/s in it.
    pub rate: Vec<(f64, f64)>,
    /// Percentile (50 to 99.99), latency in ms.
    pub latency: Vec<(f64, f64)>,
}

impl Row {
    /// B's median by A's. `None` if one is missing, or A's is zero.
    pub fn ratio(&self) -> Option<f64> {
        let [Some(a), Some(b)] = &self.sides else { return None };
        (a.median != 0.0).then(|| b.median / a.median)
    }
}

impl Line {
    /// One figure, if it was measured on either.
    pub fn row(&self, metric: Metric) -> Option<&Row> {
        self.rows.iter().find(|row| row.metric == metric)
    }
}
