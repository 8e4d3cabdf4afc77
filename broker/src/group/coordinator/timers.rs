//! All deadlines of a coordinator in one heap.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Stale heap entries that are always tolerated before the heap is rebuilt.
const STALE_ENTRIES_SLACK: usize = 64;

/// Named deadlines. Moving one later, which every heartbeat does, touches only the map: the heap's entry is put right when it
/// comes up. So the heap holds about one entry a timer, whatever the rate of heartbeats.
///
/// Invariant: an armed timer has a heap entry at or before its deadline.
#[derive(Debug)]
pub struct Timers<K> {
    deadlines: BTreeMap<K, Armed>,
    heap: BinaryHeap<Reverse<(i64, u64, K)>>,
    next_sequence: u64,
}

/// A timer: when it is due, and the heap entry that stands for it.
#[derive(Debug, Clone, Copy)]
struct Armed {
    deadline_ms: i64,
    entry_ms: i64,
    sequence: u64,
}

impl<K: Ord + Clone> Timers<K> {
    /// None armed.
    pub fn new() -> Self {
        Self { deadlines: BTreeMap::new(), heap: BinaryHeap::new(), next_sequence: 0 }
    }

    /// How many are armed.
    pub fn len(&self) -> usize {
        self.deadlines.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.deadlines.is_empty()
    }

    /// When `key` is due, if it is armed.
    pub fn deadline_ms(&self, key: &K) -> Option<i64> {
        self.deadlines.get(key).map(|armed| armed.deadline_ms)
    }

    /// Arms `key`, or moves it.
    pub fn arm(&mut self, key: K, deadline_ms: i64) {
        if let Some(armed) = self.deadlines.get_mut(&key)
            && armed.entry_ms <= deadline_ms
        {
            armed.deadline_ms = deadline_ms;
            return;
        }
        self.push(key, deadline_ms);
    }

    /// Stops `key`.
    pub fn stop(&mut self, key: &K) {
        self.deadlines.remove(key);
        self.bound_stale();
    }

    /// The earliest time at which [`Timers::pop_due`] may have something; possibly too early, never too late.
    pub fn next_ms(&self) -> Option<i64> {
        self.heap.peek().map(|Reverse((at_ms, _, _))| *at_ms)
    }

    /// Takes the next timer that is due at `now_ms`, earliest first, those of the same ms in the order they were armed.
    pub fn pop_due(&mut self, now_ms: i64) -> Option<K> {
        while self.next_ms()? <= now_ms {
            let Reverse((_, sequence, key)) = self.heap.pop()?;
            let Some(armed) = self.deadlines.get(&key).copied().filter(|armed| armed.sequence == sequence)
            else {
                continue;
            };
            if armed.deadline_ms <= now_ms {
                self.deadlines.remove(&key);
                return Some(key);
            }
            self.push(key, armed.deadline_ms);
        }
        None
    }

    fn push(&mut self, key: K, deadline_ms: i64) {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.deadlines.insert(key.clone(), Armed { deadline_ms, entry_ms: deadline_ms, sequence });
        self.heap.push(Reverse((deadline_ms, sequence, key)));
        self.bound_stale();
    }

    /// Rebuilds the heap once most of it is stale: amortised O(1) a change.
    fn bound_stale(&mut self) {
        if self.heap.len() <= 2 * self.deadlines.len() + STALE_ENTRIES_SLACK {
            return;
        }
        let deadlines = &self.deadlines;
        self.heap.retain(|Reverse((_, sequence, key))| {
            deadlines.get(key).is_some_and(|armed| armed.sequence == *sequence)
        });
    }
}

impl<K: Ord + Clone> Default for Timers<K> {
    fn default() -> Self {
        Self::new()
    }
}
