//! Topics, or some of their partitions, as options name them.

use std::str::FromStr;

/// `TOPIC` or `TOPIC:PARTITION[,PARTITION..]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TopicArg {
    pub(super) topic: String,
    /// Empty for all.
    pub(super) partitions: Vec<i32>,
}

impl FromStr for TopicArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // No topic's name has a colon.
        let (topic, numbers) = text.split_once(':').map_or((text, None), |(topic, rest)| (topic, Some(rest)));
        if topic.is_empty() {
            return Err("the topic's name is missing".into());
        }
        let number = |digits: &str| {
            let parsed = digits.trim().parse::<i32>().ok().filter(|partition| *partition >= 0);
            parsed.ok_or_else(|| format!("{digits:?} is no partition: write TOPIC or TOPIC:0,1,2"))
        };
        let mut partitions = numbers.map_or(Ok(Vec::new()), |numbers| {
            numbers.split(',').map(number).collect::<Result<Vec<_>, _>>()
        })?;
        partitions.sort_unstable();
        partitions.dedup();
        Ok(Self { topic: topic.into(), partitions })
    }
}
