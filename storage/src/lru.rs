//! A small cache bounded by cost: the least recently used goes first.

use std::collections::BTreeMap;

/// Values by key, each with a cost; when the costs exceed the capacity the least recently used ones go. O(log
/// n) each.
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    capacity: usize,
    cost: usize,
    tick: u64,
    values: BTreeMap<K, Held<V>>,
    order: BTreeMap<u64, K>,
}

#[derive(Debug)]
struct Held<V> {
    value: V,
    cost: usize,
    tick: u64,
}

impl<K: Ord + Clone, V: Clone> Lru<K, V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, cost: 0, tick: 0, values: BTreeMap::new(), order: BTreeMap::new() }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<V> {
        let held = self.values.get_mut(key)?;
        self.order.remove(&held.tick);
        self.tick += 1;
        held.tick = self.tick;
        self.order.insert(self.tick, key.clone());
        Some(held.value.clone())
    }

    /// Adds or replaces a value. Returns what had to go for it. A value dearer than the capacity isn't kept.
    pub(crate) fn insert(&mut self, key: K, value: V, cost: usize) -> Vec<V> {
        let mut gone: Vec<V> = self.remove(&key).into_iter().collect();
        if cost > self.capacity {
            gone.push(value);
            return gone;
        }
        self.tick += 1;
        self.order.insert(self.tick, key.clone());
        self.values.insert(key, Held { value, cost, tick: self.tick });
        self.cost += cost;
        while self.cost > self.capacity {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            if let Some(held) = self.values.remove(&oldest) {
                self.cost -= held.cost;
                gone.push(held.value);
            }
        }
        gone
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let held = self.values.remove(key)?;
        self.order.remove(&held.tick);
        self.cost -= held.cost;
        Some(held.value)
    }

    /// Removes the values with keys from `first` to `last`, both included.
    pub(crate) fn remove_range(&mut self, first: K, last: K) -> Vec<V> {
        let keys: Vec<K> = self.values.range(first..=last).map(|(key, _)| key.clone()).collect();
        keys.iter().filter_map(|key| self.remove(key)).collect()
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.values.into_values().map(|held| held.value)
    }

    /// What the values held cost together.
    pub(crate) fn cost(&self) -> usize {
        self.cost
    }
}

#[cfg(test)]
mod tests;
