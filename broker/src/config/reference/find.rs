//! Finding a name, or one like it.

use super::Explained;
use crate::config::keys;

/// All that a name means: one per scope that has it. A listener's own name (`listener.name.NAME.X`) means X.
pub fn explain(name: &str) -> Vec<Explained> {
    let broker = keys::broker(name).or_else(|| keys::base_of_listener(name)).map(Explained::of_broker);
    let topic = keys::topic(name).map(Explained::of_topic);
    let group = keys::group(name).map(Explained::of_group);
    let client_metrics = keys::client_metrics(name).map(Explained::of_client_metrics);
    [broker, topic, group, client_metrics].into_iter().flatten().collect()
}

/// Names that somebody who wrote `name` may have meant, the likeliest first, at most five.
pub fn similar(name: &str) -> Vec<&'static str> {
    let broker = keys::all_broker().map(|key| key.name);
    let topic = keys::all_topic().map(|topic| topic.key.name);
    let group = keys::all_group().map(|group| group.key.name);
    let all = broker.chain(topic).chain(group).chain(keys::all_client_metrics().map(|key| key.name));
    let mut close: Vec<(usize, &str)> =
        all.filter_map(|known| Some((distance(name, known)?, known))).collect();
    close.sort_unstable();
    close.dedup();
    close.into_iter().map(|(_, known)| known).take(SIMILAR_MAX).collect()
}

const SIMILAR_MAX: usize = 5;

/// How far a name is from a known one; none for too far. A part of a name is closer than one with letters changed.
fn distance(name: &str, known: &str) -> Option<usize> {
    if name.len() >= PART_BYTES_MIN && known.contains(name) {
        return Some(known.len() - name.len());
    }
    let edits = edits(name, known);
    (edits <= known.len() / 4).then(|| known.len() + edits)
}

/// Shortest piece of a name that counts as one.
const PART_BYTES_MIN: usize = 3;
/// Names longer than this aren't compared letter by letter.
const NAME_BYTES_MAX: usize = 128;

/// Letters to insert, remove or replace (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > NAME_BYTES_MAX {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
