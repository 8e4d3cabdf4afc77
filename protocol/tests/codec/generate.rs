//! Wire bytes from the schema alone, without the types under test.
//!
//! What is written is canonical: tags rise, a tagged field at its default is left out. So the codec must give
//! back the same bytes.

use crate::rng::Rng;
use crate::schema::{Field, Message, Struct, Type};

/// How full a message is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fill {
    /// Nulls and empty arrays wherever they can be.
    Least,
    /// Everything there is, nothing at its default.
    Most,
    /// Anything in between.
    Random,
}

/// One message; `unknown` adds tagged fields no version knows.
pub(crate) fn bytes(message: &Message, version: i16, fill: Fill, unknown: bool, rng: &mut Rng) -> Vec<u8> {
    let mut out = Vec::new();
    let mut generator = Generator { message, version, flexible: message.flexible(version), unknown, rng };
    generator.fields(&mut out, message.root(), fill);
    out
}

struct Generator<'a> {
    message: &'a Message,
    version: i16,
    flexible: bool,
    unknown: bool,
    rng: &'a mut Rng,
}

impl Generator<'_> {
    fn fields(&mut self, out: &mut Vec<u8>, s: &Struct, fill: Fill) {
        let version = self.version;
        for f in s.fields.iter().filter(|f| f.tag.is_none() && f.versions.contains(version)) {
            self.field(out, f, fill);
        }
        if !self.flexible {
            return;
        }
        let mut tags: Vec<(u32, Vec<u8>)> = Vec::new();
        for f in s.fields.iter().filter(|f| f.versions.contains(version)) {
            let Some(tag) = f.tag else { continue };
            if fill == Fill::Most || fill == Fill::Random && self.rng.one_in(2) {
                let mut value = Vec::new();
                // Full, so that it isn't at its default.
                self.field(&mut value, f, Fill::Most);
                tags.push((tag, value));
            }
        }
        if self.unknown && fill != Fill::Least {
            for tag in [40, 41, 1000, u32::MAX - 1] {
                if self.rng.one_in(2) {
                    let len = self.rng.below(200);
                    tags.push((tag, (0..len).map(|_| self.rng.next() as u8).collect()));
                }
            }
        }
        tags.sort();
        uvarint(out, tags.len() as u64);
        for (tag, value) in tags {
            uvarint(out, tag.into());
            uvarint(out, value.len() as u64);
            out.extend(value);
        }
    }

    fn field(&mut self, out: &mut Vec<u8>, f: &Field, fill: Fill) {
        let nullable = f.nullable.is_some_and(|n| n.contains(self.version));
        let null = nullable
            && match fill {
                Fill::Least => true,
                // A value that is null by default is full when it isn't, and the other way round.
                Fill::Most => false,
                Fill::Random => self.rng.one_in(3),
            };
        match &f.ty {
            // A struct that can be null in any version has its byte in all.
            Type::Struct(_) if f.nullable.is_some() => {
                out.push(if null { 0xff } else { 1 });
                if !null {
                    self.value(out, &f.ty, f, fill);
                }
            }
            Type::String if null && !self.flexible => out.extend((-1i16).to_be_bytes()),
            _ if null && !self.flexible => out.extend((-1i32).to_be_bytes()),
            _ if null => out.push(0),
            _ => self.value(out, &f.ty, f, fill),
        }
    }

    fn value(&mut self, out: &mut Vec<u8>, ty: &Type, f: &Field, fill: Fill) {
        match ty {
            Type::Bool => {
                let default = f.default.as_deref() == Some("true");
                out.push(u8::from(if fill == Fill::Most { !default } else { self.rng.one_in(2) }));
            }
            Type::I8 => self.integer(out, 1, f),
            Type::I16 | Type::U16 => self.integer(out, 2, f),
            Type::I32 | Type::U32 => self.integer(out, 4, f),
            Type::I64 => self.integer(out, 8, f),
            Type::F64 => out.extend((self.rng.below(1_000_000) as f64 / 8.0 + 0.125).to_be_bytes()),
            Type::Uuid => self.integer(out, 16, f),
            Type::String => {
                let text = self.text(fill);
                if self.flexible {
                    uvarint(out, text.len() as u64 + 1);
                } else {
                    out.extend((text.len() as u16).to_be_bytes());
                }
                out.extend(text.as_bytes());
            }
            Type::Bytes | Type::Records => {
                let len = match fill {
                    Fill::Least => 0,
                    // Sometimes over the size from which bytes are shared.
                    _ if self.rng.one_in(8) => 2_000,
                    _ => 1 + self.rng.below(40) as usize,
                };
                self.len(out, len);
                out.extend((0..len).map(|i| i as u8));
            }
            Type::Struct(name) => {
                let inner = self.message.find(name).unwrap();
                self.fields(out, inner, fill);
            }
            Type::Array(of) => {
                let len = match fill {
                    Fill::Least => 0,
                    Fill::Most => 1 + self.rng.below(2) as usize,
                    Fill::Random if self.rng.one_in(30) && of.struct_name().is_none() => 150,
                    Fill::Random => self.rng.below(3) as usize,
                };
                self.len(out, len);
                for _ in 0..len {
                    self.value(out, of, f, fill);
                }
            }
        }
    }

    /// Anything but the default: its lowest byte is odd where the default's is even, and the other way round.
    fn integer(&mut self, out: &mut Vec<u8>, width: usize, f: &Field) {
        let default: i64 = f.default.as_deref().and_then(|d| d.parse().ok()).unwrap_or(0);
        let from = out.len();
        out.extend((0..width).map(|_| self.rng.next() as u8));
        let low = out.last_mut().unwrap();
        *low = *low & 0xfe | u8::from(default & 1 == 0);
        if self.rng.one_in(4) {
            // Small numbers are the usual ones.
            out[from..from + width - 1].fill(0);
        }
    }

    fn text(&mut self, fill: Fill) -> String {
        if fill == Fill::Least {
            return String::new();
        }
        let chars = ['a', 'Z', '0', '-', '.', '\u{e9}', '\u{20ac}', '\u{1f980}', '\0'];
        let len = if self.rng.one_in(20) { 100 } else { 1 + self.rng.below(8) };
        (0..len).map(|_| chars[self.rng.below(chars.len() as u64) as usize]).collect()
    }

    fn len(&mut self, out: &mut Vec<u8>, len: usize) {
        if self.flexible {
            uvarint(out, len as u64 + 1);
        } else {
            out.extend((len as u32).to_be_bytes());
        }
    }
}

fn uvarint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
