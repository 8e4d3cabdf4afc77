//! All names as one page of Markdown.

use std::fmt::Write;

use super::Explained;
use crate::config::keys;

/// The page: docs/configuration.md.
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    page += "\n## Brokers\n";
    for (subject, keys) in keys::broker_subjects() {
        let rows: Vec<Explained> = keys.iter().map(Explained::of_broker).collect();
        section(&mut page, "###", subject, &rows);
    }
    section(&mut page, "##", "Topics", &keys::all_topic().map(Explained::of_topic).collect::<Vec<_>>());
    section(&mut page, "##", "Groups", &keys::all_group().map(Explained::of_group).collect::<Vec<_>>());
    let client_metrics: Vec<Explained> =
        keys::all_client_metrics().map(Explained::of_client_metrics).collect();
    section(&mut page, "##", "Client metrics subscriptions", &client_metrics);
    page
}

const HEAD: &str = "\
# Configuration

<!-- Printed by `ringlog config reference`; edit broker/src/config/keys, then write it again. -->

Every name of a Kafka 4.4 `server.properties` is known here, and Ringlog's own begin with `ringlog.`; what isn't known is ignored with a
warning. A name whose line says *no effect* is accepted, checked and reported, and changes nothing, for the reason given.
`ringlog config explain NAME` tells the same of one name; `ringlog config describe` what is set on a running cluster.

Flags of `ringlog serve` beat `--override`, which beats the file. *Changes* says when a value may be changed: *at start only* is read from file
and command line; the others may be altered by `ringlog config alter`, and act at once. A topic's or group's config that isn't set takes
the value of the broker config named under it, then the default. An empty default is written as \"\".
";

fn section(page: &mut String, level: &str, title: &str, rows: &[Explained]) {
    // Writing to a String doesn't fail.
    let _ = write!(
        page,
        "\n{level} {title}\n\n| name | type | default | allowed | unit | changes | meaning |\n|--|--|--|--|--|--|--|\n"
    );
    for row in rows {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            row.key.name,
            row.key.kind.name(),
            default(row.key.default),
            escaped(&row.allowed()),
            row.unit().unwrap_or_default(),
            row.changes(),
            escaped(&meaning(row)),
        );
    }
}

fn default(text: Option<&str>) -> String {
    match text {
        None => "none".into(),
        Some("") => "\"\"".into(),
        Some(text) => format!("`{}`", escaped(text)),
    }
}

fn meaning(row: &Explained) -> String {
    let mut text = row.key.doc.to_owned();
    if !row.stand_ins.is_empty() {
        let names: Vec<String> = row.stand_ins.iter().map(|name| format!("`{name}`")).collect();
        text += &format!(" Unset: {}.", names.join(", "));
    }
    if let Some(reason) = row.without_effect() {
        text += &format!(" *No effect: {reason}.*");
    }
    text
}

/// A cell's text: a bar would end the cell, angle brackets be taken for a tag, a star begin a slant.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;")
}
