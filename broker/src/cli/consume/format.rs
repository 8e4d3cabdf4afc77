//! How a record is printed.

use std::io::{self, Write};
use std::str::FromStr;

use protocol::records::Record;
use serde_json::{Value, json};

use crate::cli::output::text_or_hex;

/// `--format`, or JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Format(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Json,
    Pieces(Vec<Piece>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Topic,
    Partition,
    Offset,
    Timestamp,
    Key,
    Value,
    KeyBytes,
    ValueBytes,
    Headers,
}

impl Format {
    /// One JSON object a line.
    pub(super) fn json() -> Self {
        Self(Kind::Json)
    }

    /// Prints a record.
    pub(super) fn write(
        &self,
        topic: &str,
        partition: i32,
        record: &Record,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let pieces = match &self.0 {
            Kind::Json => return writeln!(out, "{}", as_json(topic, partition, record)),
            Kind::Pieces(pieces) => pieces,
        };
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.write_all(text)?,
                Piece::Topic => out.write_all(topic.as_bytes())?,
                Piece::Partition => write!(out, "{partition}")?,
                Piece::Offset => write!(out, "{}", record.offset)?,
                Piece::Timestamp => write!(out, "{}", record.timestamp)?,
                Piece::Key => out.write_all(record.key.as_deref().unwrap_or_default())?,
                Piece::Value => out.write_all(record.value.as_deref().unwrap_or_default())?,
                Piece::KeyBytes => write!(out, "{}", length(record.key.as_deref()))?,
                Piece::ValueBytes => write!(out, "{}", length(record.value.as_deref()))?,
                Piece::Headers => write_headers(record, out)?,
            }
        }
        Ok(())
    }
}

/// Length in bytes, -1 for null.
fn length(bytes: Option<&[u8]>) -> i64 {
    bytes.map_or(-1, |bytes| bytes.len() as i64)
}

fn write_headers(record: &Record, out: &mut impl Write) -> io::Result<()> {
    for (i, header) in record.headers.iter().enumerate() {
        out.write_all(if i > 0 { b"," } else { b"" })?;
        out.write_all(&header.key)?;
        out.write_all(b"=")?;
        out.write_all(header.value.as_deref().unwrap_or(b"NULL"))?;
    }
    Ok(())
}

fn as_json(topic: &str, partition: i32, record: &Record) -> Value {
    let headers = record
        .headers
        .iter()
        .map(|header| json!([text_or_hex(Some(&header.key)), text_or_hex(header.value.as_deref())]));
    json!({
        "topic": topic, "partition": partition, "offset": record.offset, "timestamp": record.timestamp,
        "key": text_or_hex(record.key.as_deref()), "value": text_or_hex(record.value.as_deref()),
        "headers": headers.collect::<Vec<_>>(),
    })
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            match char {
                '%' | '\\' => match special(char, chars.next())? {
                    Piece::Text(text) => literal.extend(text),
                    piece => {
                        push_literal(&mut pieces, &mut literal);
                        pieces.push(piece);
                    }
                },
                other => literal.extend(other.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_literal(&mut pieces, &mut literal);
        Ok(Self(Kind::Pieces(pieces)))
    }
}

fn push_literal(pieces: &mut Vec<Piece>, literal: &mut Vec<u8>) {
    if !literal.is_empty() {
        pieces.push(Piece::Text(std::mem::take(literal)));
    }
}

fn special(sign: char, letter: Option<char>) -> Result<Piece, String> {
    Ok(match (sign, letter) {
        ('%', Some('t')) => Piece::Topic,
        ('%', Some('p')) => Piece::Partition,
        ('%', Some('o')) => Piece::Offset,
        ('%', Some('T')) => Piece::Timestamp,
        ('%', Some('k')) => Piece::Key,
        ('%', Some('v' | 's')) => Piece::Value,
        ('%', Some('K')) => Piece::KeyBytes,
        ('%', Some('S')) => Piece::ValueBytes,
        ('%', Some('h')) => Piece::Headers,
        ('%', Some('%')) => Piece::Text(b"%".to_vec()),
        ('\\', Some('n')) => Piece::Text(b"\n".to_vec()),
        ('\\', Some('t')) => Piece::Text(b"\t".to_vec()),
        ('\\', Some('0')) => Piece::Text(b"\0".to_vec()),
        ('\\', Some('\\')) => Piece::Text(b"\\".to_vec()),
        (sign, Some(letter)) => return Err(format!("{sign}{letter} means nothing here")),
        (sign, None) => return Err(format!("a {sign} at the end means nothing")),
    })
}
