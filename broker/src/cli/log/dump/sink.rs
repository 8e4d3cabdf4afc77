//! Where lines go.

use std::fmt::Display;
use std::io::{BufWriter, Stdout, Write};

use serde_json::{Map, Value, json};

use super::super::input::Entry;
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;

/// Prints `kind name=value ..` for people, one JSON object a line for programs. Says at the end whether anything was
/// damaged.
pub(super) struct Sink {
    out: BufWriter<Stdout>,
    output: OutputFormat,
    pub(super) records: bool,
    file: String,
    damaged: u64,
}

/// One line: what it is about, and its fields in order.
pub(super) struct Line {
    kind: &'static str,
    fields: Vec<(&'static str, Value)>,
}

impl Line {
    pub(super) fn new(kind: &'static str) -> Self {
        Self { kind, fields: Vec::new() }
    }

    /// Adds a field.
    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds a field if there is something to tell.
    #[must_use]
    pub(super) fn with_some(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl Sink {
    pub(super) fn new(output: OutputFormat, records: bool) -> Self {
        Self { out: BufWriter::new(std::io::stdout()), output, records, file: String::new(), damaged: 0 }
    }

    /// All lines from now on are about this file.
    pub(super) fn begin(&mut self, entry: &Entry) -> Result<(), CliError> {
        self.file = entry.path.display().to_string();
        match self.output {
            OutputFormat::Table => Ok(writeln!(self.out, "{} ({} bytes)", self.file, entry.bytes)?),
            OutputFormat::Json => self.line(Line::new("file").with("bytes", entry.bytes)),
        }
    }

    pub(super) fn line(&mut self, line: Line) -> Result<(), CliError> {
        match self.output {
            OutputFormat::Json => {
                let mut object =
                    Map::from_iter([("file".into(), json!(self.file)), ("kind".into(), json!(line.kind))]);
                object.extend(line.fields.into_iter().map(|(name, value)| (name.into(), value)));
                writeln!(self.out, "{}", Value::Object(object))?;
            }
            OutputFormat::Table => {
                write!(self.out, "  {}", line.kind)?;
                for (name, value) in &line.fields {
                    // A string stands in quotes where it could be taken for something else.
                    match value {
                        Value::String(text) if is_plain(text) => write!(self.out, " {name}={text}")?,
                        value => write!(self.out, " {name}={value}")?,
                    }
                }
                writeln!(self.out)?;
            }
        }
        Ok(())
    }

    /// Something isn't what it should be.
    pub(super) fn damage(&mut self, position: Option<u64>, what: impl Display) -> Result<(), CliError> {
        self.damaged += 1;
        self.line(Line::new("damaged").with_some("position", position).with("what", what.to_string()))
    }

    /// Whether nothing was damaged.
    pub(super) fn end(mut self) -> Result<bool, CliError> {
        self.out.flush()?;
        if self.damaged > 0 {
            eprintln!("ringlog: {} places are damaged", self.damaged);
        }
        Ok(self.damaged == 0)
    }
}

fn is_plain(text: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || "._-:/+,".contains(char);
    !text.is_empty() && text.chars().all(plain)
}
