//! `ringlog-unrecovered`: partitions that a crash left and no start has opened since. A clean stop leaves it beside
//! its mark, so that they are recovered once metadata that know them are back. Kafka skips it.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::TopicPartition;
use crate::segment::names;

/// The file's name.
pub(crate) const UNRECOVERED: &str = "ringlog-unrecovered";

/// A directory's name per line.
pub(crate) fn to_text(partitions: &BTreeSet<TopicPartition>) -> String {
    let mut text = String::from("0\n");
    for partition in partitions {
        // Writing to a String doesn't fail.
        let _ = writeln!(text, "{}", names::dir_name(partition));
    }
    text
}

/// Reads the file.
///
/// # Errors
/// Words for what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<BTreeSet<TopicPartition>, String> {
    let mut lines = text.lines();
    match lines.next() {
        Some("0") => {}
        other => return Err(format!("{other:?} isn't version 0")),
    }
    lines.map(|name| names::parse_dir_name(name).ok_or(format!("{name:?} is no partition"))).collect()
}
