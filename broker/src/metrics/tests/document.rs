//! docs/metrics.md, the families and the text say the same.

use std::collections::BTreeSet;

use super::sample::sample;
use crate::metrics::{ALL, Family, Kind};

const DOCUMENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/metrics.md"));

const DASHBOARD: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/grafana-dashboard.json"));

/// A family's row.
fn row(family: &Family) -> String {
    let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
    let kafka = if family.kafka.is_empty() { String::new() } else { format!("`{}`", family.kafka) };
    let Family { name, unit, help, .. } = family;
    format!("| `{name}` | {} | {} | {unit} | {help} | {kafka} |", family.kind.name(), labels.join(", "))
}

#[test]
fn the_document_has_a_row_for_every_family_and_no_other() {
    let documented: Vec<&str> = DOCUMENT.lines().filter(|line| line.starts_with("| `")).collect();
    let wanted: Vec<String> = ALL.iter().map(|family| row(family)).collect();
    assert_eq!(documented, wanted, "docs/metrics.md should have these rows:\n{}\n", wanted.join("\n"));
}

#[test]
fn every_family_is_exported_and_no_other() {
    let text = sample();
    let exported: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(exported, ALL.iter().map(|family| family.name).collect());
    for family in ALL {
        let is_sample = |line: &str| line.strip_prefix(family.name).is_some_and(|rest| !rest.is_empty());
        assert!(text.lines().any(is_sample), "{} has no sample", family.name);
    }
}

#[test]
fn names_follow_the_conventions() {
    let mut names = BTreeSet::new();
    for family in ALL {
        assert!(names.insert(family.name), "{} twice", family.name);
        let is_plain =
            |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(
            is_plain(family.name) && family.labels.iter().all(|label| is_plain(label)),
            "{}",
            family.name
        );
        assert_eq!(family.kind == Kind::Counter, family.name.ends_with("_total"), "{}", family.name);
        assert!(family.kind != Kind::Histogram || family.name.ends_with("_seconds"), "{}", family.name);
        assert!(family.help.ends_with('.') && !family.help.contains(['|', '\n', '\\']), "{}", family.help);
        assert!(!family.unit.is_empty(), "{}", family.name);
    }
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let expressions: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(expressions.len() >= 20);
    for expression in expressions {
        let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let names: Vec<&str> =
            words.filter(|word| word.starts_with("ringlog_") || word.starts_with("process_")).collect();
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let exists = |family: &&Family| match family.kind {
                Kind::Histogram => Some(family.name) == of_histogram,
                Kind::Counter | Kind::Gauge => family.name == name,
            };
            assert!(ALL.iter().any(exists), "{name} of {expression}");
        }
    }
}
