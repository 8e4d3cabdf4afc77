//! Text of a schema file to the model, with errors that name file and line.
//!
//! ```text
//! /// What it is for.
//! request ProduceRequest  key 0  valid 3-13  flexible 9+  listeners broker
//!   TransactionalId: string  3+  nullable 3+  default null
//!   TopicData: []TopicProduceData  0+
//!     Name: string  0-12  ignorable
//!   struct Shared  0+
//!     Id: int32  0+
//! ```
//! Two spaces a level. A field of a struct type is followed by that struct's fields, or names a `struct` of
//! the message. `#` starts a comment line. Attributes are set apart by two spaces.

use crate::schema::{Field, Kind, Message, Struct, Type, Versions};

/// A fault in a schema file.
#[derive(Debug)]
pub(crate) struct SchemaError {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

type Parsed<T> = Result<T, String>;

/// All messages of one file.
///
/// # Errors
/// The first line that can't be understood.
pub(crate) fn parse(file: &str, text: &str) -> Result<Vec<Message>, SchemaError> {
    let mut messages: Vec<Message> = Vec::new();
    let mut doc = String::new();
    // Index into `structs` of the message for each level of indentation.
    let mut open: Vec<usize> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let fail = |what: String| SchemaError { file: file.to_string(), line: i + 1, what };
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        if let Some(text) = body.strip_prefix("///") {
            doc = format!("{doc} {}", text.trim()).trim().to_string();
        } else if indent == 0 {
            let mut message = header(body).map_err(fail)?;
            message.line = i + 1;
            message.doc = std::mem::take(&mut doc);
            if message.doc.is_empty() && message.kind != Kind::Removed {
                return Err(fail(format!("{} has no /// line", message.name)));
            }
            messages.push(message);
            open = vec![0];
        } else {
            let Some(message) = messages.last_mut() else {
                return Err(fail("a field before any message".into()));
            };
            nested(message, &mut open, indent, body, i + 1).map_err(fail)?;
        }
    }
    for message in &messages {
        check(message).map_err(|(line, what)| SchemaError { file: file.to_string(), line, what })?;
    }
    Ok(messages)
}

fn header(body: &str) -> Parsed<Message> {
    let mut parts = body.split("  ").map(str::trim).filter(|p| !p.is_empty());
    let (kind, name) = parts.next().and_then(|p| p.split_once(' ')).ok_or("expected: kind Name")?;
    let kind = match kind {
        "request" => Kind::Request,
        "response" => Kind::Response,
        "coordinator-key" => Kind::CoordinatorKey,
        "coordinator-value" => Kind::CoordinatorValue,
        "metadata" => Kind::Metadata,
        "data" => Kind::Data,
        "removed" => Kind::Removed,
        other => return Err(format!("unknown kind of message: {other}")),
    };
    let mut message = Message {
        kind,
        name: name.to_string(),
        doc: String::new(),
        key: None,
        valid: Versions { min: 0, max: 0 },
        flexible_from: i16::MAX,
        on_broker: false,
        on_controller: false,
        advertised: None,
        structs: vec![Struct { name: name.to_string(), fields: Vec::new() }],
        line: 0,
    };
    for part in parts {
        let (word, value) = part.split_once(' ').ok_or(format!("expected a value after {part}"))?;
        match word {
            "key" => message.key = Some(number(value)?),
            "valid" => message.valid = versions(value)?,
            "flexible" if value == "none" => {}
            "flexible" => message.flexible_from = versions(value)?.min,
            "listeners" => {
                message.on_broker = value.split(',').any(|l| l == "broker");
                message.on_controller = value.split(',').any(|l| l == "controller");
            }
            "advertised" if value == "none" => message.advertised = Some(None),
            "advertised" => message.advertised = Some(Some(versions(value)?)),
            other => return Err(format!("unknown attribute of a message: {other}")),
        }
    }
    if message.valid.max == i16::MAX {
        return Err("valid versions need an end".into());
    }
    Ok(message)
}

fn nested(
    message: &mut Message,
    open: &mut Vec<usize>,
    indent: usize,
    body: &str,
    line: usize,
) -> Parsed<()> {
    let level = indent / 2;
    if !indent.is_multiple_of(2) || level > open.len() {
        return Err("indentation: two spaces a level, below a field of a struct type".into());
    }
    open.truncate(level);
    if let Some(rest) = body.strip_prefix("struct ") {
        let name = rest.split_whitespace().next().ok_or("struct without a name")?;
        open.truncate(1);
        open.push(add_struct(message, name)?);
        return Ok(());
    }
    let owner = *open.last().ok_or("a field outside a message")?;
    let field = field(body, line)?;
    let inner = field.ty.struct_name().map(str::to_string);
    message.structs[owner].fields.push(field);
    if let Some(name) = inner {
        // Its fields come next, or under a `struct` line further down; `check` refuses one without any.
        let at = message.structs.iter().position(|s| s.name == name);
        open.push(match at {
            Some(at) => at,
            None => add_struct(message, &name)?,
        });
    }
    Ok(())
}

fn add_struct(message: &mut Message, name: &str) -> Parsed<usize> {
    if let Some(at) = message.structs.iter().position(|s| s.name == name) {
        // Named by a field above, declared here.
        return if message.structs[at].fields.is_empty() {
            Ok(at)
        } else {
            Err(format!("{name} is declared twice"))
        };
    }
    message.structs.push(Struct { name: name.to_string(), fields: Vec::new() });
    Ok(message.structs.len() - 1)
}

fn field(body: &str, line: usize) -> Parsed<Field> {
    let (name, rest) = body.split_once(": ").ok_or("expected: Name: type  versions")?;
    let mut parts = rest.split("  ").map(str::trim).filter(|p| !p.is_empty());
    let ty = ty(parts.next().ok_or("no type")?)?;
    let declared = versions(parts.next().ok_or("no versions")?)?;
    let mut field = Field {
        name: name.to_string(),
        ty,
        versions: declared,
        nullable: None,
        tag: None,
        default: None,
        ignorable: false,
        line,
    };
    for part in parts {
        match part.split_once(' ').unwrap_or((part, "")) {
            ("ignorable", "") => field.ignorable = true,
            ("nullable", v) => field.nullable = Some(versions(v)?),
            ("default", v) if !v.is_empty() => field.default = Some(v.to_string()),
            ("tag", v) => {
                let (id, range) = v.split_once(" (").ok_or("expected: tag N (versions)")?;
                field.tag = Some(id.parse().map_err(|_| format!("bad tag {id}"))?);
                // A tagged field exists only as such.
                field.versions = versions(range.trim_end_matches(')'))?;
            }
            (other, _) => return Err(format!("unknown attribute of a field: {other}")),
        }
    }
    Ok(field)
}

fn ty(text: &str) -> Parsed<Type> {
    if let Some(of) = text.strip_prefix("[]") {
        return Ok(Type::Array(Box::new(ty(of)?)));
    }
    Ok(match text {
        "bool" => Type::Bool,
        "int8" => Type::I8,
        "int16" => Type::I16,
        "int32" => Type::I32,
        "int64" => Type::I64,
        "uint16" => Type::U16,
        "uint32" => Type::U32,
        "float64" => Type::F64,
        "uuid" => Type::Uuid,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "records" => Type::Records,
        name if name.starts_with(|c: char| c.is_ascii_uppercase()) => Type::Struct(name.to_string()),
        other => return Err(format!("unknown type {other}")),
    })
}

fn versions(text: &str) -> Parsed<Versions> {
    if let Some(min) = text.strip_suffix('+') {
        return Ok(Versions { min: number(min)?, max: i16::MAX });
    }
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    let range = Versions { min: number(min)?, max: number(max)? };
    if range.min > range.max { Err(format!("versions {text} run backwards")) } else { Ok(range) }
}

fn number(text: &str) -> Parsed<i16> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// What a line alone doesn't show.
fn check(message: &Message) -> Result<(), (usize, String)> {
    for s in &message.structs {
        for f in &s.fields {
            check_field(message, s, f).map_err(|what| (f.line, what))?;
        }
    }
    Ok(())
}

fn check_field(message: &Message, s: &Struct, f: &Field) -> Parsed<()> {
    if s.fields.iter().filter(|other| other.name == f.name).count() > 1 {
        return Err(format!("{} is declared twice", f.name));
    }
    if let Some(name) = f.ty.struct_name() {
        let inner = message.find(name).ok_or(format!("no struct {name}"))?;
        if inner.fields.is_empty() {
            return Err(format!("struct {name} has no fields"));
        }
        // The depth of a decoder's recursion is the schema's, never the peer's.
        if contains(message, inner, &s.name, message.structs.len()) {
            return Err(format!("struct {name} is recursive"));
        }
        if matches!(f.ty, Type::Array(_)) && message.min_bytes(inner) == 0 {
            return Err(format!("an element of {name} can take no bytes: its count would be unbounded"));
        }
    }
    if f.nullable.is_some() && !f.ty.can_be_null() {
        return Err(format!("{} can't be null", f.name));
    }
    if f.default.as_deref() == Some("null") && f.nullable.is_none() {
        return Err(format!("{} has null as default and isn't nullable", f.name));
    }
    if let Some(tag) = f.tag {
        if f.versions.min < message.flexible_from {
            return Err(format!("tag {tag} in a version that isn't flexible"));
        }
        if s.fields.iter().filter(|other| other.tag == Some(tag)).count() > 1 {
            return Err(format!("tag {tag} is used twice"));
        }
    }
    Ok(())
}

/// Whether a struct holds `name` within `depth` levels, or has more levels than that.
fn contains(message: &Message, s: &Struct, name: &str, depth: usize) -> bool {
    s.name == name
        || depth == 0
        || s.fields
            .iter()
            .filter_map(|f| message.find(f.ty.struct_name()?))
            .any(|inner| contains(message, inner, name, depth - 1))
}
