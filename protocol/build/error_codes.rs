//! `Response::visit_error_codes` of every response.

use std::fmt::Write;

use crate::names::snake;
use crate::schema::{Field, Kind, Message, Struct, Type};
use crate::structs::is_option;

/// A method for every struct that holds an error code or a struct that does, and the trait for each response.
pub(crate) fn emit(messages: &[&Message]) -> String {
    let mut out = String::from("use crate::{error::ErrorCode, messages::Response};\n");
    for message in messages.iter().filter(|message| message.kind == Kind::Response) {
        for s in message.structs.iter().skip(1).filter(|s| has_codes(message, s)) {
            let path = format!("{}::{}", snake(&message.name), s.name);
            let _ = writeln!(
                out,
                "impl {path} {{ fn visit_error_codes(&self, each: &mut dyn FnMut(ErrorCode)) {{\n{}}} }}",
                body(message, s)
            );
        }
        let _ = writeln!(
            out,
            "impl Response for {} {{ fn visit_error_codes(&self, each: &mut dyn FnMut(ErrorCode)) {{\n{}}} }}",
            message.name,
            body(message, message.root())
        );
    }
    out
}

fn present<'a>(message: &'a Message, s: &'a Struct) -> impl Iterator<Item = &'a Field> {
    s.fields.iter().filter(|field| field.versions.overlaps(message.valid))
}

fn is_code(field: &Field) -> bool {
    field.ty == Type::I16 && field.name.ends_with("ErrorCode")
}

fn has_codes(message: &Message, s: &Struct) -> bool {
    present(message, s).any(|field| is_code(field) || holds_codes(message, field))
}

/// Whether the field is a struct, or an array of one, that has a code somewhere.
fn holds_codes(message: &Message, field: &Field) -> bool {
    field.ty.struct_name().and_then(|name| message.find(name)).is_some_and(|s| has_codes(message, s))
}

fn body(message: &Message, s: &Struct) -> String {
    let mut out = String::new();
    for field in present(message, s) {
        let name = snake(&field.name);
        if is_code(field) {
            let _ = writeln!(out, "each(ErrorCode::from_code(self.{name}));");
        } else if holds_codes(message, field) {
            let _ = match (&field.ty, is_option(field)) {
                (Type::Array(_), false) => {
                    writeln!(out, "for x in &self.{name} {{ x.visit_error_codes(each); }}")
                }
                (Type::Array(_), true) => {
                    writeln!(out, "for x in self.{name}.iter().flatten() {{ x.visit_error_codes(each); }}")
                }
                (_, false) => writeln!(out, "self.{name}.visit_error_codes(each);"),
                (_, true) => writeln!(out, "if let Some(x) = &self.{name} {{ x.visit_error_codes(each); }}"),
            };
        }
    }
    out
}
