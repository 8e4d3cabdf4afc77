//! Records as `ringlog consume --output json` prints them.

use serde_json::{Map, Value};

use super::{NewHeader, NewRecord};

/// Reads an object with `value`, and if they are there `key`, `headers`, `timestamp` (ms since 1970) and `partition`; other
/// fields, as `offset`, say nothing about a new record. Texts are strings, other bytes `{"hex": ".."}`, null is null.
///
/// # Errors
/// Words for what is wrong with it.
pub(super) fn record(line: &[u8]) -> Result<NewRecord, String> {
    let object = match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => object,
        Ok(_) => return Err("it isn't a JSON object".into()),
        Err(error) => return Err(format!("it isn't JSON: {error}")),
    };
    let value = object.get("value").ok_or("it has no \"value\" (null makes a tombstone)")?;
    let partition = match number(&object, "partition", 0)? {
        Some(number) => Some(i32::try_from(number).map_err(|_| format!("partition {number} can't be"))?),
        None => None,
    };
    Ok(NewRecord {
        key: bytes("key", object.get("key").unwrap_or(&Value::Null))?,
        value: bytes("value", value)?,
        headers: headers(object.get("headers").unwrap_or(&Value::Null))?,
        timestamp_ms: number(&object, "timestamp", NO_TIMESTAMP)?,
        partition,
    })
}

/// The timestamp of a record that has none, as `consume` prints it too. It is sent as it is.
const NO_TIMESTAMP: i64 = -1;

fn number(object: &Map<String, Value>, name: &str, least: i64) -> Result<Option<i64>, String> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64().filter(|number| *number >= least) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("{name:?} is no number from {least} on")),
        },
    }
}

fn bytes(name: &str, value: &Value) -> Result<Option<Vec<u8>>, String> {
    let fault = || format!("{name:?} must be a string, null, or {{\"hex\": \"..\"}}");
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_bytes().to_vec())),
        Value::Object(object) if object.len() == 1 => {
            let digits = object.get("hex").and_then(Value::as_str).ok_or_else(fault)?;
            unhex(digits).map(Some).ok_or_else(|| format!("{name:?}: {digits:?} isn't hexadecimal"))
        }
        _ => Err(fault()),
    }
}

fn headers(value: &Value) -> Result<Vec<NewHeader>, String> {
    let fault = "\"headers\" must be a list of [key, value]";
    let list = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        _ => return Err(fault.into()),
    };
    let one = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => {
            let key = bytes("headers", key)?.ok_or("a header's key can't be null")?;
            Ok((key, bytes("headers", value)?))
        }
        _ => Err(fault.to_owned()),
    };
    list.iter().map(one).collect()
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? * 16 + digit(*low)?) as u8);
    if odd.is_empty() { pairs.iter().map(byte).collect() } else { None }
}
