//! One line: prepare, fill, measure, prove, clean up.

use std::time::Duration;

use client::blocking::BlockingClient;

use super::ramp::Ramp;
use super::topics::{Side, Topics};
use super::watch::{Limits, Watched, watch};
use crate::LoadError;
use crate::engine::{Plan, Reading};
use crate::observe::{Observer, Phase};
use crate::producer::Finished;
use crate::result::{LineResult, Outcome, VerifyOutcome};
use crate::scenario::{ConsumeSpec, Delivery, From, Line, ProduceSpec};
use crate::verify::{Rules, settle};

/// Longest time for a backlog, in s.
const BACKLOG_MAX_S: f64 = 24.0 * 3600.0;
/// Longest time for reading back, in s, and the longest pause in it.
const VERIFY_MAX_S: f64 = 24.0 * 3600.0;
const VERIFY_STALL_S: f64 = 60.0;
/// Length of a tick: shorter where few fit.
const TICK: Duration = Duration::from_secs(1);
const TICK_SHORT: Duration = Duration::from_millis(250);
/// Windows below this have short ticks, in s.
const SHORT_S: f64 = 8.0;

/// Runs a line on `shards` shards.
pub(super) fn run_line(
    client: &mut BlockingClient,
    bootstrap: &[String],
    line: &Line,
    shards: u16,
    observer: &mut dyn Observer,
) -> LineResult {
    client.refresh(Some(&[]), false).ok();
    let brokers = client.cluster().nodes().count() as u32;
    if brokers < line.brokers_min {
        let why = format!(
            "it needs {} brokers, there {} {brokers}",
            line.brokers_min,
            if brokers == 1 { "is" } else { "are" }
        );
        return LineResult { figure_2014: line.figure_2014, ..LineResult::not_run(&line.name, why) };
    }
    let mut result =
        LineResult { name: line.name.clone(), figure_2014: line.figure_2014, ..LineResult::default() };
    let run = (rt::random_u64() >> 32) as u32;
    let outcome =
        Topics::prepare(client, &line.topic, &format!("loadgen-{run:08x}")).map_err(LoadError::from);
    let outcome = outcome.and_then(|topics| {
        let work = Work { client, bootstrap, line, shards, run, observer, topics: &topics };
        let outcome = work.all(&mut result);
        // What isn't as it should be stays for whoever looks into it.
        let is_faulty = result.verify.as_ref().is_some_and(|verify| !verify.is_proven());
        if !line.topic.keep
            && !is_faulty
            && let Err(error) = topics.delete(client)
        {
            tracing::debug!("{error}");
        }
        outcome
    });
    if let Err(error) = outcome {
        result.outcome = Outcome::Failed { why: error.to_string() };
    }
    result
}

struct Work<'a> {
    client: &'a mut BlockingClient,
    bootstrap: &'a [String],
    line: &'a Line,
    shards: u16,
    run: u32,
    observer: &'a mut dyn Observer,
    topics: &'a Topics,
}

impl Work<'_> {
    fn all(mut self, result: &mut LineResult) -> Result<(), LoadError> {
        if let Some(backlog) = &self.line.backlog {
            self.fill(backlog)?;
        }
        let latest = self.topics.offsets(self.client, Side::Latest)?;
        let watched = self.measure(&latest, result)?;
        if let Some(why) = &watched.failed {
            result.outcome = Outcome::Failed { why: why.clone() };
        }
        self.observer.window_ended(result);
        if let Some(delivery) = self.line.verify {
            result.verify = Some(self.verify(delivery, watched.finished, latest)?);
        }
        Ok(())
    }

    /// A plan that does nothing yet.
    fn plan(&self, starts: Vec<i64>) -> Plan {
        Plan {
            run: self.run,
            layout: std::sync::Arc::new(self.topics.layout.clone()),
            bootstrap: self.bootstrap.to_vec(),
            nodes: self.topics.nodes.clone(),
            leaders: self.topics.leaders.clone(),
            produce: None,
            reading: None,
            starts,
            ends: None,
            churn: None,
            group: format!("loadgen-{:08x}", self.run),
            tick: TICK,
            verifies: false,
            shards: self.shards,
        }
    }

    /// Sends the backlog, as another run: its records' ages mean nothing.
    fn fill(&mut self, backlog: &ProduceSpec) -> Result<(), LoadError> {
        let mut plan = self.plan(Vec::new());
        plan.run = self.run.wrapping_add(1);
        plan.produce = Some(ProduceSpec { rate_per_s: 0.0, ..backlog.clone() });
        let limits = Limits {
            phase: Some(Phase::Backlog),
            duration_s: BACKLOG_MAX_S,
            produce_records: backlog.records,
            ..Limits::default()
        };
        let watched = watch(plan, 0.0, limits, self.observer)?;
        match watched.failed {
            Some(why) => Err(LoadError::Stopped(format!("the backlog: {why}"))),
            None => Ok(()),
        }
    }

    fn measure(&mut self, latest: &[i64], result: &mut LineResult) -> Result<Watched, LoadError> {
        let line = self.line;
        let earliest = match line.consume.as_ref().map(|consume| consume.from) {
            Some(From::Start) => self.topics.offsets(self.client, Side::Earliest)?,
            _ => latest.to_vec(),
        };
        let reads_only = line.produce.is_none() && line.consume.is_some() && line.churn.is_none();
        let there: u64 = earliest.iter().zip(latest).map(|(start, end)| (end - start).max(0) as u64).sum();
        if reads_only && there == 0 {
            return Err(LoadError::Usage("there is nothing to read".into()));
        }
        let mut plan = self.plan(earliest);
        plan.produce.clone_from(&line.produce);
        plan.reading = line.consume.as_ref().map(|consume| reading(line, consume));
        plan.churn.clone_from(&line.churn);
        plan.verifies = line.verify.is_some();
        let window_s = line.ramp.as_ref().map_or(line.duration_s, |ramp| ramp.step_s);
        plan.tick = if window_s < SHORT_S { TICK_SHORT } else { TICK };
        if reads_only && line.consume.as_ref().is_some_and(|consume| consume.groups == 0) {
            plan.ends = Some(latest.to_vec());
        }
        let copies = line.consume.as_ref().map_or(1, |consume| u64::from(consume.groups.max(consume.copies)));
        let limits = Limits {
            phase: Some(Phase::Measured),
            // What is there to be read is all measured.
            warmup_s: if reads_only { 0.0 } else { line.warmup_s },
            duration_s: line.duration_s,
            produce_records: line.produce.as_ref().map_or(0, |produce| produce.records),
            consume_records: reads_only.then_some(there * copies),
            ramp: line.ramp.clone().map(Ramp::new),
            stall_s: None,
        };
        let rate_per_s = line.produce.as_ref().map_or(0.0, |produce| produce.rate_per_s);
        let watched = watch(plan, rate_per_s, limits, self.observer)?;
        watched.window.fill(result, self.shards);
        result.rate_target = watched.rate_target.or_else(|| Some(rate_per_s).filter(|rate| *rate > 0.0));
        result.series.clone_from(&watched.series);
        result.errors.clone_from(&watched.whole.errors);
        result.events.clone_from(&watched.whole.events);
        result.ramp = watched.ramp.as_ref().map(|ramp| ramp.steps.clone()).unwrap_or_default();
        if !result.ramp.is_empty() && watched.rate_target.is_none() {
            // Rates that broke the bound are no figure; the steps tell of them.
            (result.produced, result.rate_target) = (None, None);
        }
        Ok(watched)
    }

    /// Reads back what came after `starts`, and compares it with what was acknowledged.
    fn verify(
        &mut self,
        delivery: Delivery,
        finished: Vec<Finished>,
        starts: Vec<i64>,
    ) -> Result<VerifyOutcome, LoadError> {
        let began = rt::now();
        let acked = finished.into_iter().flat_map(|finished| finished.acked).collect();
        let ends = self.topics.offsets(self.client, Side::Latest)?;
        let produce = self.line.produce.clone().unwrap_or_default();
        let is_ordered = produce.idempotent || produce.in_flight == 1 || delivery == Delivery::Once;
        let rules = Rules { run: self.run, is_ordered };
        let consumers = u32::from(self.shards).min(self.topics.layout.slots());
        let there: u64 = starts.iter().zip(&ends).map(|(start, end)| (end - start).max(0) as u64).sum();
        let mut plan = self.plan(starts);
        plan.ends = Some(ends);
        plan.tick = TICK_SHORT;
        let read_committed = produce.transaction_ms > 0.0;
        let spec = ConsumeSpec { consumers, read_committed, ..ConsumeSpec::default() };
        plan.reading = Some(Reading { spec, each_record: true, value_bytes: None, rules: Some(rules) });
        let limits = Limits {
            phase: Some(Phase::Verify),
            duration_s: VERIFY_MAX_S,
            consume_records: Some(there.max(1) * 2),
            stall_s: Some(VERIFY_STALL_S),
            ..Limits::default()
        };
        let watched = watch(plan, 0.0, limits, self.observer)?;
        let mut outcome = settle(acked, watched.ledgers, delivery);
        outcome.seconds = (rt::now() - began).as_secs_f64();
        if watched.stalled {
            outcome.unfinished = Some(format!("nothing more could be read for {VERIFY_STALL_S} s"));
        } else if let Some(why) = watched.failed {
            outcome.unfinished = Some(why);
        }
        Ok(outcome)
    }
}

fn reading(line: &Line, spec: &ConsumeSpec) -> Reading {
    let mut sizes = line.produce.iter().chain(&line.backlog).map(|produce| produce.record_bytes.fixed());
    let first = sizes.next().flatten();
    let value_bytes = first.filter(|first| sizes.all(|size| size == Some(*first)));
    Reading {
        each_record: spec.each_record || line.is_open_loop(),
        value_bytes,
        rules: None,
        spec: spec.clone(),
    }
}
