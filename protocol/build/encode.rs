//! `Wire::write` of a struct.

use std::fmt::Write;

use crate::names::snake;
use crate::schema::{Field, Message, Struct, Type};
use crate::structs::{condition, has_tags, is_default, is_option, nullable};

/// Fields in schema order, then the tagged section. A field the version doesn't have must be at its default,
/// unless it is ignorable; a tagged field at its default isn't written.
pub(crate) fn emit(out: &mut String, message: &Message, s: &Struct, fields: &[&Field]) {
    out.push_str(
        "fn write(&self, w: &mut Writer, version: i16, flexible: bool) -> Result<(), EncodeError> {\n",
    );
    for f in fields.iter().filter(|f| f.tag.is_none()) {
        let write = format!("{};", value(message, s, f));
        let _ = match condition(f.versions, message.valid) {
            None => writeln!(out, "{write}"),
            Some(condition) => writeln!(out, "if {condition} {{ {write} }}{}", otherwise(s, f)),
        };
    }
    if has_tags(message) {
        out.push_str("if flexible {\n");
        tags(out, message, s, fields);
        out.push_str("} else {\n");
        // Tagged fields that exist in later versions only.
        for f in fields.iter().filter(|f| f.tag.is_some() && !f.ignorable) {
            let _ = writeln!(out, "{}", absent(s, f));
        }
        out.push_str("self.unknown_tags.refuse(version)?;\n}\n");
    }
    out.push_str("Ok(())\n}\n");
}

fn tags(out: &mut String, message: &Message, s: &Struct, fields: &[&Field]) {
    let known: Vec<_> = fields.iter().filter_map(|f| f.tag.map(|tag| (tag, f))).collect();
    if known.is_empty() {
        out.push_str("self.unknown_tags.write(w)?;\n");
        return;
    }
    out.push_str("let mut tags = TagWriter::default();\n");
    for (tag, f) in known {
        let write =
            format!("if !({}) {{ let w = tags.field({tag}); {}; }}", is_default(f), value(message, s, f));
        let valid =
            crate::schema::Versions { min: message.flexible_from.max(message.valid.min), ..message.valid };
        let _ = match condition(f.versions, valid) {
            None => writeln!(out, "{write}"),
            Some(condition) => writeln!(out, "if {condition} {{ {write} }}{}", otherwise(s, f)),
        };
    }
    out.push_str("tags.finish(&self.unknown_tags, w)?;\n");
}

fn otherwise(s: &Struct, f: &Field) -> String {
    if f.ignorable { String::new() } else { format!(" else {{ {} }}", absent(s, f)) }
}

fn absent(s: &Struct, f: &Field) -> String {
    format!("absent({}, \"{}.{}\", version)?;", is_default(f), s.name, f.name)
}

fn value(message: &Message, s: &Struct, f: &Field) -> String {
    let name = snake(&f.name);
    match &f.ty {
        _ if !is_option(f) => format!("self.{name}.write(w, version, flexible)?"),
        Type::Struct(_) => format!("write_opt_struct(&self.{name}, w, version, flexible)?"),
        _ => format!(
            "write_opt(&self.{name}, w, version, flexible, {}, \"{}.{}\")?",
            nullable(f, message.valid),
            s.name,
            f.name
        ),
    }
}
