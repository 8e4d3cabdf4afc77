//! Plans as CSV, in the two forms of Kafka's tool.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::offsets::Place;

/// Offsets by group and partition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows(BTreeMap<String, BTreeMap<Place, i64>>);

impl Rows {
    /// Reads `topic,partition,offset`, which is of the group `only`, or `group,topic,partition,offset`; a field may stand
    /// in quotes.
    ///
    /// # Errors
    /// Words for what is wrong with it.
    pub(crate) fn parse(text: &str, only: Option<&str>) -> Result<Self, String> {
        let mut rows = Self::default();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let fault = |why: &str| format!("line {}: {why}", i + 1);
            let fields =
                fields(line).ok_or_else(|| fault("a quote isn't closed, or there is text behind it"))?;
            let (group, rest) = match (&fields[..], only) {
                ([topic, partition, offset], Some(group)) => (group, [topic, partition, offset]),
                ([_, _, _], None) => {
                    return Err(fault(
                        "it tells no group: name exactly one, or add the groups as a first column",
                    ));
                }
                ([group, topic, partition, offset], _) => (group.as_str(), [topic, partition, offset]),
                _ => return Err(fault("it isn't topic,partition,offset or group,topic,partition,offset")),
            };
            let partition = rest[1].trim().parse::<i32>().ok().filter(|partition| *partition >= 0);
            let partition = partition.ok_or_else(|| fault(&format!("{:?} is no partition", rest[1])))?;
            let offset = rest[2].trim().parse::<i64>().ok().filter(|offset| *offset >= 0);
            let offset = offset.ok_or_else(|| fault(&format!("{:?} is no offset", rest[2])))?;
            let of_group = rows.0.entry(group.to_owned()).or_default();
            if of_group.insert((rest[0].clone(), partition), offset).is_some() {
                return Err(fault("the partition is there twice"));
            }
        }
        Ok(rows)
    }

    /// Adds a row.
    pub(crate) fn insert(&mut self, group: &str, place: Place, offset: i64) {
        self.0.entry(group.to_owned()).or_default().insert(place, offset);
    }

    /// What is said of a group; nothing if it isn't mentioned.
    pub(crate) fn of(&self, group: &str) -> BTreeMap<Place, i64> {
        self.0.get(group).cloned().unwrap_or_default()
    }

    /// One row a line, the group first if it is to be told.
    pub(crate) fn to_text(&self, with_group: bool) -> String {
        let mut text = String::new();
        for (group, offsets) in &self.0 {
            for ((topic, partition), offset) in offsets {
                if with_group {
                    text += &quoted(group);
                    text.push(',');
                }
                // Writing to a String doesn't fail.
                let _ = writeln!(text, "{},{partition},{offset}", quoted(topic));
            }
        }
        text
    }
}

/// The fields of a line, their quotes taken off; none if quotes don't match.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line.trim_end_matches('\r');
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        fields.push(field.replace("\"\"", "\""));
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return after.is_empty().then_some(fields),
        }
    }
}

/// What stands before the closing quote, and what behind it. Two quotes are one of the text.
fn unquote(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some((&text[..at], &text[at + 1..]));
        }
        from = at + 2;
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
