//! Where records come from: standard input or a file, a line each.

#![expect(clippy::disallowed_types, reason = "runs on the command line's own thread, never on a shard")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::cli::error::CliError;

/// Lines, one after another.
pub(super) struct Input {
    reader: BufReader<Box<dyn Read>>,
    line: Vec<u8>,
    /// Number of the last line read, from 1.
    number: u64,
}

/// Bytes read at once.
const READ_BYTES: usize = 1 << 20;
/// Longest line taken, in bytes: longer ones would hardly pass a broker's message.max.bytes.
const LINE_BYTES_MAX: u64 = 64 << 20;

impl Input {
    /// Standard input, or a file if one is named.
    pub(super) fn open(file: Option<&Path>) -> Result<Self, CliError> {
        let source: Box<dyn Read> = match file {
            None => Box::new(std::io::stdin().lock()),
            Some(path) => Box::new(
                File::open(path).map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))?,
            ),
        };
        Ok(Self { reader: BufReader::with_capacity(READ_BYTES, source), line: Vec::new(), number: 0 })
    }

    /// Whether reading on may have to wait for somebody to write.
    pub(super) fn may_wait(&self) -> bool {
        self.reader.buffer().is_empty()
    }

    /// The next line with its end, none at the end.
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>, CliError> {
        self.line.clear();
        Read::take(&mut self.reader, LINE_BYTES_MAX + 1).read_until(b'\n', &mut self.line)?;
        if self.line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        if self.line.len() as u64 > LINE_BYTES_MAX {
            return Err(self.fault(format!("it is longer than {LINE_BYTES_MAX} bytes")));
        }
        Ok(Some(&self.line))
    }

    /// What is wrong with the last line.
    pub(super) fn fault(&self, why: impl std::fmt::Display) -> CliError {
        CliError::Usage(format!("line {}: {why}", self.number))
    }
}
