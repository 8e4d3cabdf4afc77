//! `Wire::read` of a struct.

use std::fmt::Write;

use crate::names::snake;
use crate::schema::{Field, Message, Type};
use crate::structs::{condition, has_tags, is_option, nullable};

/// Fields in schema order, then the tagged section. Fields absent in a version keep their default.
pub(crate) fn emit(out: &mut String, message: &Message, fields: &[&Field]) {
    out.push_str("fn read(r: &mut Reader, version: i16, flexible: bool) -> Result<Self, DecodeError> {\n");
    out.push_str("let mut m = Self::default();\n");
    for f in fields.iter().filter(|f| f.tag.is_none()) {
        let read = format!("m.{} = {};", snake(&f.name), value(message, f));
        let _ = match condition(f.versions, message.valid) {
            None => writeln!(out, "{read}"),
            Some(condition) => writeln!(out, "if {condition} {{ {read} }}"),
        };
    }
    if has_tags(message) {
        out.push_str("if flexible {\n");
        tags(out, message, fields);
        out.push_str("}\n");
    }
    out.push_str("Ok(m)\n}\n");
}

fn tags(out: &mut String, message: &Message, fields: &[&Field]) {
    let known: Vec<_> = fields.iter().filter_map(|f| f.tag.map(|tag| (tag, f))).collect();
    if known.is_empty() {
        out.push_str("m.unknown_tags = UnknownTags::read(r)?;\n");
        return;
    }
    out.push_str("let mut tags = TagReader::new(r)?;\nwhile let Some(tag) = tags.next(r)? {\nmatch tag {\n");
    for (tag, f) in known {
        let guard = condition(f.versions, message.valid).map_or(String::new(), |c| format!(" if {c}"));
        let _ = writeln!(out, "{tag}{guard} => m.{} = {},", snake(&f.name), value(message, f));
    }
    out.push_str(
        "_ => tags.keep(tag, r, &mut m.unknown_tags)?,\n}\ntags.end(r)?;\n}\nm.unknown_tags.settle();\n",
    );
}

fn value(message: &Message, f: &Field) -> String {
    match &f.ty {
        _ if !is_option(f) => "Wire::read(r, version, flexible)?".into(),
        Type::Struct(_) => "read_opt_struct(r, version, flexible)?".into(),
        _ => format!("read_opt(r, version, flexible, {})?", nullable(f, message.valid)),
    }
}
