//! Tests of what is told about names, and that docs/configuration.md is up to date.

use super::*;
use crate::config::key::Kind;
use crate::config::keys;

fn all() -> Vec<Explained> {
    let broker = keys::all_broker().map(Explained::of_broker);
    let topic = keys::all_topic().map(Explained::of_topic);
    let group = keys::all_group().map(Explained::of_group);
    broker
        .chain(topic)
        .chain(group)
        .chain(keys::all_client_metrics().map(Explained::of_client_metrics))
        .collect()
}

#[test]
fn the_page_in_docs_is_what_is_printed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
    if std::env::var_os("RINGLOG_WRITE_DOCS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a test, on its own thread")]
        std::fs::write(path, markdown()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let differs =
        page.lines().zip(markdown().lines()).find(|(is, should)| is != should).map(|(is, _)| is.to_owned());
    assert!(
        page == markdown(),
        "docs/configuration.md is stale, first at {differs:?}: write it again by \
         `RINGLOG_WRITE_DOCS=1 cargo test -p broker --lib the_page_in_docs` or `ringlog config reference > docs/configuration.md`"
    );
}

#[test]
fn every_name_has_a_sentence_and_says_what_is_allowed() {
    for row in all() {
        let name = row.key.name;
        let doc = row.key.doc;
        assert!(doc.ends_with('.') && doc.split_whitespace().count() >= 2, "{name}: {doc:?} is no sentence");
        assert!(
            doc.starts_with(|first: char| first.is_uppercase() || name.starts_with("ringlog.")),
            "{name}: {doc:?}"
        );
        assert!(!row.allowed().is_empty(), "{name}");
        if let Some(reason) = row.without_effect() {
            assert!(!reason.is_empty() && !reason.ends_with('.'), "{name}: {reason:?} is no clause");
        }
    }
}

#[test]
fn units_agree_with_names_and_docs() {
    for row in all() {
        let (name, doc, unit) = (row.key.name, row.key.doc, row.unit());
        for (phrase, wanted) in [(", in ms", "ms"), (", in bytes", "bytes"), (", in s.", "s")] {
            assert!(!doc.contains(phrase) || unit == Some(wanted), "{name} is in {unit:?}, but: {doc}");
        }
        let is_number = matches!(row.key.kind, Kind::Int | Kind::Short | Kind::Long | Kind::Double);
        for (ending, wanted) in [(".ms", "ms"), (".bytes", "bytes"), (".seconds", "s"), (".hours", "h")] {
            assert!(!(is_number && name.ends_with(ending)) || unit == Some(wanted), "{name} is in {unit:?}");
        }
    }
}

#[test]
fn a_name_is_explained_in_each_scope_it_has() {
    let found = explain("min.insync.replicas");
    let scopes: Vec<Scope> = found.iter().map(|row| row.scope).collect();
    assert_eq!(scopes, [Scope::Broker, Scope::Topic]);
    assert_eq!(found[1].stand_ins, ["min.insync.replicas"]);

    let [retention] = &explain("retention.ms")[..] else { panic!("not one") };
    assert_eq!((retention.scope, retention.unit(), retention.is_dynamic()), (Scope::Topic, Some("ms"), true));
    assert_eq!(retention.allowed(), "-1 or more");
    assert_eq!(retention.stand_ins, ["log.retention.ms", "log.retention.minutes", "log.retention.hours"]);

    let [session] = &explain("consumer.session.timeout.ms")[..] else { panic!("not one") };
    let bounds =
        "1 or more, between group.consumer.min.session.timeout.ms and group.consumer.max.session.timeout.ms";
    assert_eq!((session.scope, session.allowed().as_str()), (Scope::Group, bounds));

    let [listeners] = &explain("listeners")[..] else { panic!("not one") };
    assert_eq!((listeners.changes(), listeners.is_dynamic()), ("at start only", false));
    assert_eq!(explain("listener.name.internal.ssl.keystore.location")[0].key.name, "ssl.keystore.location");
    assert_eq!(explain("compression.gzip.level")[0].allowed(), "-1, or 1 to 9");
    assert!(explain("no.such.name").is_empty());
}

#[test]
fn names_written_wrong_are_found() {
    assert_eq!(similar("retention.bites")[0], "retention.bytes");
    assert!(similar("acks.all").contains(&"ringlog.acks.all.sync"));
    assert!(similar("log.retention.hour").contains(&"log.retention.hours"));
    for nothing in ["", "zzzzzzzzzzzz", &"x".repeat(10_000)] {
        assert!(similar(nothing).is_empty(), "{nothing}");
    }
}

#[test]
fn a_page_has_a_row_for_each_name() {
    let page = markdown();
    for row in all() {
        assert!(page.contains(&format!("| `{}` | ", row.key.name)), "{}", row.key.name);
    }
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 8, "{line}");
    }
}
