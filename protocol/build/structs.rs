//! Structs, their defaults, and their `Wire` and `Message` implementations.

use std::fmt::Write;

use crate::names::snake;
use crate::schema::{Field, Kind, Message, Struct, Type, Versions};
use crate::{decode, encode};

/// One module a message.
pub(crate) fn emit(messages: &[&Message]) -> String {
    let mut out = String::new();
    for message in messages {
        let module = snake(&message.name);
        let _ = writeln!(out, "/// [`{}`] and the structs in it.\npub mod {module} {{", message.name);
        out.push_str("#[allow(unused_imports)] use bytes::Bytes;\n");
        out.push_str("#[allow(unused_imports)] use crate::types::{Records, Str, Uuid};\n");
        out.push_str("use crate::{messages::{Message, VersionRange}, wire::*};\n");
        for s in &message.structs {
            emit_struct(&mut out, message, s);
        }
        let Versions { min, max } = message.valid;
        let _ = writeln!(
            out,
            "impl Message for {name} {{ const NAME: &'static str = \"{name}\"; \
             const VERSIONS: VersionRange = VersionRange::new({min}, {max}); \
             const FLEXIBLE_FROM: i16 = {flex}; }}\n}}\npub use {module}::{name};",
            name = message.name,
            flex = message.flexible_from,
        );
    }
    out
}

/// A macro that runs a body for the type of every record.
pub(crate) fn emit_for_each(messages: &[&Message]) -> String {
    let mut out = String::from(
        "/// Runs a block once for every record type, named by the given alias.\n#[macro_export]\n\
         macro_rules! for_each_record { ($T:ident => $body:expr) => {\n",
    );
    for message in messages {
        let _ = writeln!(out, "{{ type $T = $crate::internal::{}; $body }}", message.name);
    }
    out + "}; }\n"
}

fn emit_struct(out: &mut String, message: &Message, s: &Struct) {
    let fields: Vec<&Field> = s.fields.iter().filter(|f| f.versions.overlaps(message.valid)).collect();
    let plain = fields.iter().all(|f| is_plain_default(f));
    let root = s.name == message.name;
    let _ = if root {
        writeln!(out, "{}", doc(message))
    } else {
        writeln!(out, "/// Part of [`{}`].", message.name)
    };
    let derive = if plain { "Debug, Clone, PartialEq, Default" } else { "Debug, Clone, PartialEq" };
    let _ = writeln!(out, "#[derive({derive})]\npub struct {} {{", s.name);
    for f in &fields {
        let _ = writeln!(
            out,
            "{}\npub {}: {},",
            field_doc(f, message.valid),
            snake(&f.name),
            rust_type(message, f)
        );
    }
    if has_tags(message) {
        out.push_str("/// Tagged fields of later versions, as they came.\npub unknown_tags: UnknownTags,\n");
    }
    out.push_str("}\n");
    if !plain {
        emit_default(out, message, s, &fields);
    }
    let _ = writeln!(out, "impl Wire for {} {{ const BYTES_MIN: usize = {};", s.name, message.min_bytes(s));
    decode::emit(out, message, &fields);
    encode::emit(out, message, s, &fields);
    out.push_str("}\n");
}

fn emit_default(out: &mut String, message: &Message, s: &Struct, fields: &[&Field]) {
    let _ = write!(out, "impl Default for {} {{ fn default() -> Self {{ Self {{", s.name);
    for f in fields {
        let _ = write!(out, "{}: {}, ", snake(&f.name), default_value(f));
    }
    if has_tags(message) {
        out.push_str("unknown_tags: UnknownTags::default(), ");
    }
    out.push_str("} } }\n");
}

/// Whether any version of the message is flexible.
pub(crate) fn has_tags(message: &Message) -> bool {
    message.flexible_from <= message.valid.max
}

/// Whether null is a value of this field at some version.
pub(crate) fn is_option(f: &Field) -> bool {
    f.nullable.is_some()
}

/// Whether the default is null: said so, or record bytes, or a struct, which have no other.
fn default_is_null(f: &Field) -> bool {
    is_option(f) && (f.default.as_deref() == Some("null") || matches!(f.ty, Type::Records | Type::Struct(_)))
}

fn is_plain_default(f: &Field) -> bool {
    if is_option(f) {
        default_is_null(f)
    } else {
        f.default.as_deref().is_none_or(|d| matches!(d, "0" | "false"))
    }
}

fn default_value(f: &Field) -> String {
    if is_option(f) {
        return if default_is_null(f) { "None".into() } else { "Some(Default::default())".into() };
    }
    f.default.clone().unwrap_or_else(|| "Default::default()".into())
}

/// An expression that is true when the field is at its default.
pub(crate) fn is_default(f: &Field) -> String {
    let name = format!("self.{}", snake(&f.name));
    match &f.ty {
        _ if default_is_null(f) => format!("{name}.is_none()"),
        _ if is_option(f) => format!("{name}.as_ref().is_some_and(|x| x.is_empty())"),
        Type::String | Type::Bytes | Type::Records | Type::Array(_) => format!("{name}.is_empty()"),
        Type::Bool if f.default.as_deref() != Some("true") => format!("!{name}"),
        Type::Bool => name,
        Type::Struct(_) | Type::Uuid => format!("{name} == Default::default()"),
        Type::F64 => format!("{name} == 0.0"),
        _ => format!("{name} == {}", f.default.as_deref().unwrap_or("0")),
    }
}

/// The condition under which a field is in a message: `None` for always.
pub(crate) fn condition(versions: Versions, valid: Versions) -> Option<String> {
    let from = (versions.min > valid.min).then(|| format!("version >= {}", versions.min));
    let to = (versions.max < valid.max).then(|| format!("version <= {}", versions.max));
    match (from, to) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(one),
        (Some(from), Some(to)) => Some(format!("{from} && {to}")),
    }
}

/// Whether null is allowed, as an expression.
pub(crate) fn nullable(f: &Field, valid: Versions) -> String {
    let present = Versions { min: f.versions.min.max(valid.min), max: f.versions.max.min(valid.max) };
    match f.nullable {
        Some(range) if range.overlaps(present) => condition(range, present).unwrap_or("true".into()),
        _ => "false".into(),
    }
}

fn rust_type(message: &Message, f: &Field) -> String {
    let plain = plain_type(message, &f.ty);
    if is_option(f) { format!("Option<{plain}>") } else { plain }
}

fn plain_type(message: &Message, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::I8 => "i8".into(),
        Type::I16 => "i16".into(),
        Type::I32 => "i32".into(),
        Type::I64 => "i64".into(),
        Type::U16 => "u16".into(),
        Type::U32 => "u32".into(),
        Type::F64 => "f64".into(),
        Type::Uuid => "Uuid".into(),
        Type::String => "Str".into(),
        // What is received is one buffer; what is sent may be pieces of a log.
        Type::Records if message.kind == Kind::Response => "Records".into(),
        Type::Bytes | Type::Records => "Bytes".into(),
        Type::Struct(name) => name.clone(),
        Type::Array(of) => format!("Vec<{}>", plain_type(message, of)),
    }
}

fn doc(message: &Message) -> String {
    let Versions { min, max } = message.valid;
    let flexible = if has_tags(message) {
        format!("flexible from {}", message.flexible_from)
    } else {
        "never flexible".into()
    };
    format!("/// {}\n///\n/// Versions {min} to {max}, {flexible}.", message.doc.replace('[', "\\["))
}

fn field_doc(f: &Field, valid: Versions) -> String {
    let mut text = format!("/// `{}`", f.name);
    if let Some(condition) = condition(f.versions, valid) {
        let _ = write!(text, ", {condition}");
    }
    if let Some(tag) = f.tag {
        let _ = write!(text, ", tag {tag}");
    }
    if is_option(f) {
        let when = nullable(f, valid);
        let _ =
            if when == "true" { write!(text, ", nullable") } else { write!(text, ", nullable when {when}") };
    }
    if let Some(default) = &f.default {
        let _ = write!(text, ", default {default}");
    }
    if f.ignorable {
        text.push_str(", ignorable");
    }
    text + "."
}
