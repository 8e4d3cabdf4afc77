//! The `ApiKey` enum, its table, and what ties messages to keys.

use std::fmt::Write;

use crate::schema::{Kind, Message, Versions};

/// The enum and its table, by key; every number from 0 on must be there.
pub(crate) fn emit(messages: &[Message]) -> Result<String, String> {
    let mut rows: Vec<&Message> =
        messages.iter().filter(|m| matches!(m.kind, Kind::Request | Kind::Removed)).collect();
    rows.sort_by_key(|m| m.key);
    let mut keys = String::new();
    let mut table = String::new();
    for (i, m) in rows.iter().enumerate() {
        if m.key != Some(i as i16) {
            return Err(format!("schema/api: expected key {i} and found {:?} of {}", m.key, m.name));
        }
        let name = api_name(m);
        let doc =
            if m.kind == Kind::Removed { "Removed in Kafka 4.0; the key stays reserved." } else { &m.doc };
        let valid = if m.kind == Kind::Removed { None } else { Some(m.valid) };
        let advertised = match m.advertised {
            Some(said) => said,
            None if m.on_broker => valid,
            None => None,
        };
        let _ = writeln!(keys, "/// {}\n{name} = {i},", doc.replace('[', "\\["));
        let _ = writeln!(
            table,
            "ApiInfo {{ key: ApiKey::{name}, name: {name:?}, doc: {doc:?}, valid: {}, advertised: {}, \
             flexible_from: {}, on_broker: {}, on_controller: {} }},",
            range(valid),
            range(advertised),
            m.flexible_from,
            m.on_broker,
            m.on_controller
        );
    }
    Ok(format!(
        "use super::ApiInfo;\nuse crate::messages::VersionRange;\n\
         /// All API keys of Kafka 4.4.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\n#[repr(i16)]\n\
         pub enum ApiKey {{\n{keys}}}\n\
         pub(super) static TABLE: [ApiInfo; {}] = [\n{table}];\n",
        rows.len()
    ))
}

/// `ApiMessage` and `Request` of every message, and macros from a key to its types.
pub(crate) fn emit_traits(messages: &[&Message]) -> Result<String, String> {
    let mut out = String::from("use crate::{api::ApiKey, messages::{ApiMessage, Request}};\n");
    let mut arms = [String::new(), String::new()];
    for m in messages {
        let name = api_name(m);
        let _ = writeln!(out, "impl ApiMessage for {} {{ const API: ApiKey = ApiKey::{name}; }}", m.name);
        let response = m.kind == Kind::Response;
        let _ = writeln!(
            arms[usize::from(response)],
            "$crate::api::ApiKey::{name} => {{ type $T = $crate::messages::{}; $body }}",
            m.name
        );
        if !response {
            let answer = format!("{name}Response");
            if !messages.iter().any(|other| other.name == answer && other.key == m.key) {
                return Err(format!("schema/api: {} has no {answer}", m.name));
            }
            let _ = writeln!(out, "impl Request for {} {{ type Response = {answer}; }}", m.name);
        }
    }
    let [requests, responses] = arms;
    for (name, what, arms) in
        [("with_request", "request", requests), ("with_response", "response", responses)]
    {
        let _ = writeln!(
            out,
            "/// Evaluates an expression for the {what} type of a key, named by the given alias; another one for \
             keys without messages.\n#[macro_export]\n\
             macro_rules! {name} {{ ($key:expr, $T:ident => $body:expr, _ => $none:expr) => {{ match $key {{\n\
             {arms}_ => $none }} }}; }}"
        );
    }
    Ok(out)
}

fn api_name(m: &Message) -> &str {
    m.name.strip_suffix("Request").or(m.name.strip_suffix("Response")).unwrap_or(&m.name)
}

fn range(versions: Option<Versions>) -> String {
    versions.map_or("None".into(), |v| format!("Some(VersionRange::new({}, {}))", v.min, v.max))
}
