//! One load.

use serde::{Deserialize, Serialize};

use super::{Acks, Build, ConsumeSpec, Delivery, ProduceSpec, TopicSpec};
use crate::payload::STAMP_BYTES;
use crate::result::Figure;

/// One load: who sends, who reads, how long.
///
/// It ends after `duration_s`, or once producers have sent `produce.records` and consumers have read all that is
/// there, whichever comes first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Line {
    /// Name, as in tables.
    pub name: String,
    /// The topic.
    pub topic: TopicSpec,
    /// Who sends; nobody if not set.
    pub produce: Option<ProduceSpec>,
    /// Who reads; nobody if not set.
    pub consume: Option<ConsumeSpec>,
    /// What is sent before anything is measured, for consumers to find: its `records`, as fast as they go.
    pub backlog: Option<ProduceSpec>,
    /// Load before the measured window, in s.
    pub warmup_s: f64,
    /// The measured window, in s, at the longest.
    pub duration_s: f64,
    /// Sends at a share of what another line reached, in place of `produce.rate_per_s`.
    pub rate_of: Option<RateOf>,
    /// Rising rates until a bound is broken.
    pub ramp: Option<RampSpec>,
    /// Connections and group members that come and go meanwhile.
    pub churn: Option<ChurnSpec>,
    /// Reads everything back afterwards and proves this.
    pub verify: Option<Delivery>,
    /// Brokers without which the line makes no sense; with fewer it is counted as not run.
    pub brokers_min: u32,
    /// What the benchmark of 2014 reported.
    pub figure_2014: Option<Figure>,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            name: "run".into(),
            topic: TopicSpec::default(),
            produce: None,
            consume: None,
            backlog: None,
            warmup_s: 1.0,
            duration_s: 30.0,
            rate_of: None,
            ramp: None,
            churn: None,
            verify: None,
            brokers_min: 1,
            figure_2014: None,
        }
    }
}

/// A rate that an earlier line of the scenario decides. In a comparison the first broker's first round decides it for
/// all rounds of both: equal load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateOf {
    /// Name of the earlier line.
    pub line: String,
    /// Share of the records a second that were acknowledged in it; more than 0, at most 10.
    pub share: f64,
}

/// Rising rates: each step is held for `step_s`, then raised by `factor`, until the produce latency's 99th
/// percentile exceeds `p99_max_ms` or the rate isn't reached; then the space between the last good and the first
/// bad rate is halved `refine` times. The last good step is what the line reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RampSpec {
    /// First rate, in records a second.
    pub start_per_s: f64,
    /// What a good rate is multiplied by.
    pub factor: f64,
    /// The bound, in ms.
    pub p99_max_ms: f64,
    /// Length of a step, in s; its first fifth isn't measured.
    pub step_s: f64,
    /// Halvings after the first bad step.
    pub refine: u32,
}

impl Default for RampSpec {
    fn default() -> Self {
        Self { start_per_s: 10_000.0, factor: 1.5, p99_max_ms: 20.0, step_s: 6.0, refine: 2 }
    }
}

/// Connections and group members that come and go.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChurnSpec {
    /// Connections opened each second, each of which negotiates, asks for metadata and closes.
    pub connections_per_s: f64,
    /// Group members that leave each second and join again.
    pub rejoins_per_s: f64,
}

/// Largest share of another line's rate.
const SHARE_MAX: f64 = 10.0;
/// Longest window, in s: a week.
const SECONDS_MAX: f64 = 7.0 * 86_400.0;

impl Line {
    /// Whether the load has an intended rate.
    pub fn is_open_loop(&self) -> bool {
        self.ramp.is_some()
            || self.rate_of.is_some()
            || self.produce.as_ref().is_some_and(|produce| produce.rate_per_s > 0.0)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.produce.is_none() && self.consume.is_none() && self.churn.is_none() {
            return Err("nobody sends and nobody reads".into());
        }
        let seconds = |name: &str, value: f64, min: f64| {
            let fits = (min..=SECONDS_MAX).contains(&value);
            if fits { Ok(()) } else { Err(format!("{name} is {value}, not {min} to {SECONDS_MAX}")) }
        };
        seconds("duration_s", self.duration_s, 0.1)?;
        seconds("warmup_s", self.warmup_s, 0.0)?;
        self.topic.check()?;
        for produce in self.produce.iter().chain(&self.backlog) {
            produce.check()?;
        }
        if self.backlog.as_ref().is_some_and(|backlog| backlog.records == 0) {
            return Err("backlog.records isn't set".into());
        }
        if let Some(consume) = &self.consume {
            consume.check()?;
        }
        self.check_rate_of()?;
        self.check_ramp()?;
        self.check_churn()?;
        self.check_verify()
    }

    fn check_rate_of(&self) -> Result<(), String> {
        let Some(rate_of) = &self.rate_of else { return Ok(()) };
        if self.produce.is_none() || self.ramp.is_some() {
            return Err("rate_of needs producers, and no ramp".into());
        }
        if !(rate_of.share > 0.0 && rate_of.share <= SHARE_MAX) {
            return Err(format!(
                "rate_of.share is {}, not more than 0 and at most {SHARE_MAX}",
                rate_of.share
            ));
        }
        Ok(())
    }

    fn check_ramp(&self) -> Result<(), String> {
        let Some(ramp) = &self.ramp else { return Ok(()) };
        if self.produce.is_none() {
            return Err("a ramp needs producers".into());
        }
        let fits = ramp.start_per_s >= 1.0
            && ramp.factor > 1.0
            && ramp.p99_max_ms > 0.0
            && ramp.step_s >= 0.5
            && ramp.refine <= 20;
        if fits { Ok(()) } else { Err(format!("this ramp can't rise: {ramp:?}")) }
    }

    fn check_churn(&self) -> Result<(), String> {
        let Some(churn) = &self.churn else { return Ok(()) };
        if churn.rejoins_per_s > 0.0 && self.consume.as_ref().is_none_or(|consume| consume.groups == 0) {
            return Err("rejoins_per_s needs consumers in a group".into());
        }
        let fits = |rate: f64| (0.0..=100_000.0).contains(&rate);
        if fits(churn.connections_per_s) && fits(churn.rejoins_per_s) {
            return Ok(());
        }
        Err(format!("churn of {churn:?} is no rate"))
    }

    fn check_verify(&self) -> Result<(), String> {
        let Some(delivery) = self.verify else { return Ok(()) };
        let Some(produce) = &self.produce else { return Err("verify needs producers".into()) };
        if produce.build == Build::Prebuilt {
            return Err("verify needs build = \"records\": prebuilt batches repeat their records".into());
        }
        if produce.record_bytes.min() < STAMP_BYTES {
            return Err(format!(
                "verify needs records of at least {STAMP_BYTES} bytes, to carry their proof"
            ));
        }
        if produce.acks == Acks::None && delivery == Delivery::Once {
            return Err("with acks = \"0\" nothing is acknowledged that could be proven".into());
        }
        Ok(())
    }
}
