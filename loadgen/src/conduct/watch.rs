//! Watching the shards through one phase.

use std::time::Duration;

use super::host;
use super::measured::{Window, second};
use super::ramp::Ramp;
use super::ticks::Ticks;
use crate::LoadError;
use crate::engine::{Engine, Plan, Report, Stats};
use crate::observe::{Observer, Phase, Progress};
use crate::producer::Finished;
use crate::result::Second;
use crate::verify::Ledger;

/// When a phase begins to count, and when it ends.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) phase: Option<Phase>,
    pub(super) warmup_s: f64,
    /// At the longest, after the warm-up.
    pub(super) duration_s: f64,
    /// Records after which producers end by themselves; 0 for none.
    pub(super) produce_records: u64,
    /// Records after which consumers have read all.
    pub(super) consume_records: Option<u64>,
    pub(super) ramp: Option<Ramp>,
    /// Without progress for this long, the phase is given up.
    pub(super) stall_s: Option<f64>,
}

/// What a phase gave.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pub(super) window: Window,
    pub(super) series: Vec<Second>,
    /// All errors and events, of warm-up and end too.
    pub(super) whole: Stats,
    pub(super) finished: Vec<Finished>,
    pub(super) ledgers: Vec<Ledger>,
    pub(super) ramp: Option<Ramp>,
    pub(super) rate_target: Option<f64>,
    pub(super) failed: Option<String>,
    pub(super) stalled: bool,
}

/// Time between the last shard's being up and the start.
const LEAD: Duration = Duration::from_millis(50);
/// How often the clock is looked at without reports.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a plan to its end.
pub(super) fn watch(
    plan: Plan,
    rate_per_s: f64,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Watched, LoadError> {
    let (shards, tick_s) = (plan.shards, plan.tick.as_secs_f64());
    let has_producers = plan.produce.is_some();
    let rate_per_s = limits.ramp.as_ref().map_or(rate_per_s, |ramp| ramp.spec().start_per_s);
    let engine = Engine::start(plan, rate_per_s)?;
    if limits.phase == Some(Phase::Measured) {
        observer.load_begins();
    }
    let start_ns = (rt::now() + LEAD).as_nanos();
    engine.control().start_at(start_ns);
    let first_tick = (limits.warmup_s / tick_s).ceil() as u64;
    let end_tick = first_tick + (limits.duration_s / tick_s).round().max(1.0) as u64;
    let watch = Watch {
        engine,
        shards,
        tick_s,
        has_producers,
        start_ns,
        first_tick,
        end_tick,
        limits,
        observer,
        out: Watched::default(),
        counted: Stats::default(),
        before: Stats::default(),
        last_counted_tick: 0,
        cpu_at_start_s: host::cpu_s(),
        cpu_at_window_s: None,
        cpu_at_end_s: None,
        stopped: false,
        first_send_ns: None,
        last_record_ns: 0,
        produced_shards: 0,
        consumed_shards: 0,
        progress_at_tick: (0, 0),
        step: Step { rate: rate_per_s, from_tick: first_tick, stats: Stats::default() },
        best: None,
    };
    Ok(watch.run())
}

struct Watch<'a> {
    engine: Engine,
    shards: u16,
    tick_s: f64,
    has_producers: bool,
    start_ns: u64,
    /// First tick that is measured, and the one after the last.
    first_tick: u64,
    end_tick: u64,
    limits: Limits,
    observer: &'a mut dyn Observer,
    out: Watched,
    /// Measured ticks together.
    counted: Stats,
    /// Those of the warm-up.
    before: Stats,
    last_counted_tick: u64,
    cpu_at_start_s: f64,
    cpu_at_window_s: Option<f64>,
    cpu_at_end_s: Option<f64>,
    stopped: bool,
    /// When the first request of a producer left.
    first_send_ns: Option<u64>,
    last_record_ns: u64,
    produced_shards: u16,
    consumed_shards: u16,
    /// Records so far, and the tick at which they last became more.
    progress_at_tick: (u64, u64),
    step: Step,
    /// The best step of a ramp.
    best: Option<(f64, Window)>,
}

/// The step of a ramp under way.
struct Step {
    rate: f64,
    from_tick: u64,
    stats: Stats,
}

impl Watch<'_> {
    fn run(mut self) -> Watched {
        let mut ticks = Ticks::new(self.shards);
        let mut ended = 0;
        while ended < self.shards {
            self.look_at_clock();
            match self.engine.recv(LOOK) {
                Some(Report::Tick { index, stats, last_record_ns }) => {
                    self.last_record_ns = self.last_record_ns.max(last_record_ns);
                    if let Some((index, stats)) = ticks.take(index, &stats) {
                        self.tick(index, stats);
                    }
                }
                Some(Report::Produced(finished)) => self.produced(finished),
                Some(Report::Consumed) => {
                    self.consumed_shards += 1;
                    if self.consumed_shards == self.shards && !self.has_producers {
                        self.stop();
                    }
                }
                Some(Report::Proven(ledgers)) => self.out.ledgers.extend(ledgers),
                Some(Report::Failed(why)) => {
                    self.out.failed.get_or_insert(why);
                    self.stop();
                }
                Some(Report::Ended) => ended += 1,
                Some(Report::Ready) | None => {}
            }
        }
        for (index, stats) in ticks.rest() {
            self.tick(index, stats);
        }
        self.close()
    }

    fn elapsed_s(&self) -> f64 {
        rt::now().as_nanos().saturating_sub(self.start_ns) as f64 / 1e9
    }

    fn look_at_clock(&mut self) {
        let elapsed_s = self.elapsed_s();
        if self.cpu_at_window_s.is_none() && elapsed_s >= self.first_tick as f64 * self.tick_s {
            self.cpu_at_window_s = Some(host::cpu_s());
            if self.limits.phase == Some(Phase::Measured) {
                self.observer.window_begins();
            }
        }
        if self.limits.ramp.is_none() && elapsed_s >= self.end_tick as f64 * self.tick_s {
            self.stop();
        }
    }

    fn stop(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.cpu_at_end_s = Some(host::cpu_s());
            self.engine.control().stop();
        }
    }

    fn produced(&mut self, finished: Vec<Finished>) {
        let failed = finished.iter().find_map(|finished| finished.error.clone());
        self.last_record_ns =
            finished.iter().map(|finished| finished.last_ack_ns).fold(self.last_record_ns, u64::max);
        let first_sends = finished.iter().filter_map(|finished| finished.first_send_ns);
        self.first_send_ns = first_sends.chain(self.first_send_ns).min();
        self.out.finished.extend(finished);
        self.produced_shards += 1;
        if let Some(why) = failed {
            self.out.failed.get_or_insert(why);
            self.stop();
        }
        if self.has_producers && self.produced_shards == self.shards {
            self.stop();
        }
    }

    fn tick(&mut self, index: u64, mut stats: Stats) {
        self.tell(index, &stats);
        self.look_for_stall(index, &stats);
        let is_measured = index >= self.first_tick && (index < self.end_tick || self.limits.ramp.is_some());
        if is_measured {
            let at_s = (index + 1 - self.first_tick) as f64 * self.tick_s;
            self.out.series.push(second(&stats, at_s, self.tick_s));
            self.last_counted_tick = index;
        }
        if let Some(ramp) = self.limits.ramp.take() {
            self.limits.ramp = Some(self.step(index, &stats, ramp));
        }
        stats.lag = 0;
        self.out.whole.add(&Stats {
            errors: stats.errors.clone(),
            events: stats.events.clone(),
            ..Stats::default()
        });
        if is_measured {
            self.counted.add(&stats);
        } else if index < self.first_tick {
            self.before.add(&stats);
        }
        if let Some(records) = self.limits.consume_records
            && self.counted.consumed.records + self.before.consumed.records >= records
        {
            self.stop();
        }
    }

    fn tell(&mut self, index: u64, stats: &Stats) {
        let records = self.before.produced.records + self.counted.produced.records + stats.produced.records;
        let read = self.before.consumed.records + self.counted.consumed.records + stats.consumed.records;
        let part = |done: u64, all: u64| if all == 0 { 0.0 } else { done as f64 / all as f64 };
        let by_time = self.elapsed_s() / (self.end_tick as f64 * self.tick_s);
        let by_records = part(records, self.limits.produce_records)
            .max(part(read, self.limits.consume_records.unwrap_or(0)));
        let phase = match self.limits.phase {
            Some(Phase::Measured) if index < self.first_tick => Phase::WarmUp,
            phase => phase.unwrap_or(Phase::Measured),
        };
        let second = second(stats, (index + 1) as f64 * self.tick_s, self.tick_s);
        self.observer.progress(&Progress { phase, done: by_time.max(by_records).min(1.0), second });
    }

    fn look_for_stall(&mut self, index: u64, stats: &Stats) {
        let records = stats.produced.records + stats.consumed.records;
        if records > 0 {
            self.progress_at_tick = (records, index);
        }
        let stall_s = (index - self.progress_at_tick.1.min(index)) as f64 * self.tick_s;
        if self.limits.stall_s.is_some_and(|stall_max_s| stall_s > stall_max_s) {
            self.out.stalled = true;
            self.stop();
        }
    }

    /// A tick of a ramp.
    fn step(&mut self, index: u64, stats: &Stats, mut ramp: Ramp) -> Ramp {
        let ticks = (ramp.spec().step_s / self.tick_s).round().max(2.0) as u64;
        let skipped = ticks.div_ceil(5);
        if self.stopped || index < self.step.from_tick + skipped {
            return ramp;
        }
        self.step.stats.add(stats);
        if index + 1 < self.step.from_tick + ticks {
            return ramp;
        }
        let seconds = (ticks - skipped) as f64 * self.tick_s;
        let measured = std::mem::take(&mut self.step.stats);
        let per_s = measured.produced.records as f64 / seconds;
        let p99_ms = measured.produce_us.value_at_quantile(0.99) as f64 / 1000.0;
        let step = ramp.judge(self.step.rate, per_s, p99_ms);
        if step.kept && self.best.as_ref().is_none_or(|(rate, _)| *rate < self.step.rate) {
            self.best = Some((self.step.rate, Window { stats: measured, seconds, cpu_s: 0.0 }));
        }
        match ramp.next(step) {
            Some(rate) => {
                self.step.rate = rate;
                self.step.from_tick = index + 2;
                self.engine.control().set_rate(rate);
            }
            None => self.stop(),
        }
        ramp
    }

    fn close(mut self) -> Watched {
        let cpu_at_end_s = self.cpu_at_end_s.unwrap_or_else(host::cpu_s);
        let window_cpu_s = cpu_at_end_s - self.cpu_at_window_s.unwrap_or(cpu_at_end_s);
        let end_s = |from_ns: u64| self.last_record_ns.saturating_sub(from_ns) as f64 / 1e9;
        let records = |stats: &Stats| stats.produced.records + stats.consumed.records;
        let window_ns = self.start_ns + (self.first_tick as f64 * self.tick_s * 1e9) as u64;
        let ran_out = self.last_counted_tick + 1 < self.end_tick;
        let mut out = self.out;
        out.window = match self.best {
            Some((rate, mut window)) => {
                // The whole ramp's share: its steps aren't told apart.
                let whole_s = (cpu_at_end_s - self.cpu_at_start_s) / (end_s(self.start_ns)).max(f64::EPSILON);
                window.cpu_s = whole_s * window.seconds;
                out.rate_target = Some(rate);
                window
            }
            // All was over before much was measured: then all of it is the window.
            None if ran_out && records(&self.counted) <= records(&self.before) => {
                self.counted.add(&self.before);
                self.observer.window_is_whole_load();
                let cpu_s = cpu_at_end_s - self.cpu_at_start_s;
                // Getting connections and producer ids isn't what is measured.
                let seconds = end_s(self.first_send_ns.unwrap_or(self.start_ns));
                Window { stats: self.counted, seconds, cpu_s }
            }
            None if ran_out => Window { stats: self.counted, seconds: end_s(window_ns), cpu_s: window_cpu_s },
            None => {
                let seconds = (self.end_tick - self.first_tick) as f64 * self.tick_s;
                Window { stats: self.counted, seconds, cpu_s: window_cpu_s }
            }
        };
        out.ramp = self.limits.ramp;
        out
    }
}
