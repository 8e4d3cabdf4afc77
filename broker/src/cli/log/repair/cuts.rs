//! What of a log stays: pure, over what a scan found.

use storage::{LeaderEpoch, Offset};

use super::scan::{Damage, Scanned};
use super::step::Step;

/// What is done about damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The log ends before the first damaged batch.
    Cut,
    /// Damaged batches go, their offsets stay empty.
    Skip,
}

/// What a start would do by itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recovery {
    /// Where the log starts, as far as that is known: it never ends before.
    pub(super) start: Offset,
    /// Whether there will be any: the last stop wasn't clean.
    pub(super) comes: bool,
    /// Everything below was synced, and isn't cut off by it.
    pub(super) point: Offset,
    /// Where the log ended at least, by what checkpoints say.
    pub(super) end: Offset,
}

/// Records that go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) from: Offset,
    /// The first offset behind them; where that isn't known, the first that is free again.
    pub(super) upto: Offset,
    /// Sound ones among them.
    pub(super) records: u64,
    pub(super) why: String,
}

/// What becomes of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cuts {
    /// Copies of what goes.
    pub(super) keep: Vec<Step>,
    /// Segments that go whole, the last one first.
    pub(super) whole: Vec<Offset>,
    pub(super) cut: Vec<Step>,
    /// Segments whose indexes don't fit any more.
    pub(super) index: Vec<Offset>,
    /// Where the log ends then; none if only the next start knows.
    pub(super) end: Option<Offset>,
    /// The log goes on at its end in a new, empty segment: offsets between the last batch and it stay empty.
    pub(super) goes_on: bool,
    pub(super) lost: Vec<Lost>,
    /// Leader epochs of what stays.
    pub(super) epochs: Vec<(LeaderEpoch, Offset)>,
}

/// Decides over the scanned segments, oldest first.
pub(super) fn decide(segments: &[Scanned], way: Way, recovery: Recovery) -> Cuts {
    let mut cuts = Cuts::default();
    let mut end = Offset::ZERO;
    for (i, segment) in segments.iter().enumerate() {
        let next = segments.get(i + 1);
        let is_left = |damage: &Damage| next.is_none() && recovery.comes && damage.from >= recovery.point;
        let damages = damages(segment, end, next.is_none());
        let Some(first) = damages.iter().find(|damage| !is_left(damage)) else {
            cuts.take_epochs(segment, u64::MAX);
            end = segment.runs.last().map_or(segment.base, |run| run.next).max(end);
            if !damages.is_empty() {
                // What the next start cuts off.
                return cuts;
            }
            continue;
        };
        let nothing_follows = first.bytes.end == segment.bytes;
        let ends_there = nothing_follows && next.is_some_and(|next| next.base == first.from);
        match way {
            Way::Cut if !ends_there => {
                cuts.cut_log(&segments[i..], first, i == 0);
                cuts.end = cuts.end.max(Some(recovery.start));
                return cuts;
            }
            Way::Skip if !nothing_follows => cuts.thin(segment, &damages),
            Way::Cut | Way::Skip => {
                cuts.cut_segment(segment, first);
                if !ends_there {
                    cuts.lost.push(lost(first, next.map_or(first.from, |next| next.base), 0));
                }
            }
        }
        end = segment.runs.last().map_or(segment.base, |run| run.next).max(end);
    }
    cuts.end = Some(end.max(recovery.start));
    if way == Way::Skip {
        cuts.leave_empty(recovery.end);
    }
    cuts
}

/// What is wrong in a segment; zeros are, but at the log's end.
fn damages(segment: &Scanned, end: Offset, is_last: bool) -> Vec<Damage> {
    let mut damages = segment.damages.clone();
    if segment.zeros > 0 && !is_last {
        let from = segment.runs.last().map_or(segment.base, |run| run.next).max(end);
        let why = format!("{} bytes of zeros, and it isn't the last segment", segment.zeros);
        damages.push(Damage { bytes: segment.bytes - segment.zeros..segment.bytes, from, why });
    }
    damages
}

fn lost(damage: &Damage, upto: Offset, records: u64) -> Lost {
    Lost { from: damage.from, upto: upto.max(damage.from), records, why: damage.why.clone() }
}

impl Cuts {
    /// The log ends at `at`, in the first of these segments.
    fn cut_log(&mut self, segments: &[Scanned], at: &Damage, is_first: bool) {
        let [segment, later @ ..] = segments else { return };
        let behind = |run: &&super::scan::Run| run.bytes.start >= at.bytes.start;
        let gone = segment.runs.iter().filter(behind).chain(later.iter().flat_map(|later| &later.runs));
        let (mut upto, mut records) = (at.from, 0);
        for run in gone {
            upto = upto.max(run.next);
            records += run.records;
        }
        self.lost.push(lost(at, upto, records));
        for later in later.iter().rev() {
            self.whole.push(later.base);
        }
        if at.bytes.start == 0 && !is_first {
            // Nothing of it stays, and the one before goes on.
            self.whole.push(segment.base);
            self.end = Some(at.from);
            return;
        }
        self.cut_segment(segment, at);
        self.end = Some(at.from.max(segment.base));
    }

    fn cut_segment(&mut self, segment: &Scanned, at: &Damage) {
        let position = at.bytes.start;
        self.keep.push(keep(segment, position));
        self.cut.push(Step::Cut { segment: segment.base, bytes: position });
        self.index.push(segment.base);
        self.take_epochs(segment, position);
    }

    /// Only its sound batches stay.
    fn thin(&mut self, segment: &Scanned, damages: &[Damage]) {
        for damage in damages {
            let behind = segment.runs.iter().find(|run| run.bytes.start >= damage.bytes.end);
            self.lost.push(lost(damage, behind.map_or(damage.from, |run| run.first), 0));
        }
        self.keep.push(keep(segment, 0));
        let pieces = segment.runs.iter().map(|run| run.bytes.clone()).collect();
        self.cut.push(Step::KeepOnly { segment: segment.base, pieces });
        self.index.push(segment.base);
        self.take_epochs(segment, u64::MAX);
    }

    /// Offsets behind the last sound batch aren't given out again either, up to where the log ended.
    fn leave_empty(&mut self, upto: Offset) {
        if self.lost.is_empty() || self.end.is_none_or(|end| end >= upto) {
            return;
        }
        for lost in self.lost.iter_mut().filter(|lost| lost.upto <= lost.from) {
            lost.upto = upto;
        }
        (self.end, self.goes_on) = (Some(upto), true);
    }

    fn take_epochs(&mut self, segment: &Scanned, upto: u64) {
        let runs = segment.runs.iter().filter(|run| run.bytes.start < upto);
        self.epochs.extend(runs.flat_map(|run| &run.epochs));
    }
}

/// The name is given when it is known which ones are free.
fn keep(segment: &Scanned, position: u64) -> Step {
    let name = storage::inspect::damaged_part_name(segment.base, position);
    Step::Keep { segment: segment.base, position, bytes: segment.bytes - position, name }
}
