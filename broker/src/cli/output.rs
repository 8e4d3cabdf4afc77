//! Tables for people, JSON for programs.

use std::io::{self, Write};

use protocol::types::Uuid;
use serde_json::{Value, json};

use super::args::OutputFormat;

/// Rows under headings, each column as wide as its widest cell.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// Prints a result the way that was asked for.
pub(super) fn print(
    format: OutputFormat,
    table: impl FnOnce() -> Table,
    json: impl FnOnce() -> Value,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        OutputFormat::Table => table().write(&mut out),
        OutputFormat::Json => writeln!(out, "{:#}", json()),
    }
}

/// Prints a line for people; programs get `json`.
pub(super) fn say(format: OutputFormat, line: &str, json: impl FnOnce() -> Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        OutputFormat::Table => writeln!(out, "{line}"),
        OutputFormat::Json => writeln!(out, "{:#}", json()),
    }
}

/// Numbers with commas; `-` for none.
pub(super) fn list(numbers: &[i32]) -> String {
    if numbers.is_empty() {
        return "-".into();
    }
    numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(",")
}

/// A topic's id; none from brokers that have no topic ids.
pub(super) fn topic_id(id: Uuid) -> Option<String> {
    (!id.is_zero()).then(|| id.to_string())
}

/// A number, or `-`.
pub(super) fn or_dash(number: Option<i64>) -> String {
    number.map_or_else(|| "-".into(), |number| number.to_string())
}

/// Text as a string, other bytes as `{"hex": ...}`, so that neither is taken for the other.
pub(super) fn text_or_hex(bytes: Option<&[u8]>) -> Value {
    let Some(bytes) = bytes else { return Value::Null };
    match std::str::from_utf8(bytes) {
        Ok(text) => json!(text),
        Err(_) => json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()}),
    }
}
