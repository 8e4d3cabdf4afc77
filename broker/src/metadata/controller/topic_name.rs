//! Names of topics.

use protocol::error::ErrorCode;

use super::fault::Fault;
use crate::metadata::limits::TOPIC_NAME_LEN_MAX;

/// Whether a topic may have that name, with Kafka's text if not.
///
/// # Errors
/// Why it may not.
pub fn check_topic_name(name: &str) -> Result<(), String> {
    let why = match name {
        "" => "the empty string is not allowed".to_string(),
        "." | ".." => format!("'{name}' is not allowed"),
        _ if name.len() > TOPIC_NAME_LEN_MAX => {
            format!("the length of '{name}' is longer than the max allowed length {TOPIC_NAME_LEN_MAX}")
        }
        _ if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)) => {
            format!(
                "'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
            )
        }
        _ => return Ok(()),
    };
    Err(format!("Topic name is invalid: {why}"))
}

pub(super) fn check_new(name: &str) -> Result<(), Fault> {
    check_topic_name(name).map_err(|why| Fault::new(ErrorCode::INVALID_TOPIC_EXCEPTION, why))?;
    if name == "__cluster_metadata" {
        let text = format!("Creation of internal topic {name} is prohibited.");
        return Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
    }
    Ok(())
}
