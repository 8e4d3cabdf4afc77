//! Codes against another implementation's table, and what it lacks.

use super::*;

#[test]
fn codes_are_contiguous_and_named() {
    let codes: Vec<ErrorCode> = ErrorCode::all().collect();
    assert_eq!(codes.len(), 138);
    for (i, code) in codes.iter().enumerate() {
        assert_eq!(i32::from(code.code()), i as i32 - 1);
        assert!(!code.name().is_empty() && !code.message().is_empty());
    }
    let mut names: Vec<_> = codes.iter().map(|code| code.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), codes.len());
}

#[test]
fn a_code_nobody_knows_is_kept() {
    for code in [-2, 137, i16::MIN, i16::MAX] {
        let error = ErrorCode::from_code(code);
        assert_eq!((error.code(), error.name(), error.is_retriable()), (code, "UNKNOWN_CODE", false));
    }
}

#[test]
fn well_known_codes() {
    assert_eq!(ErrorCode::NONE, ErrorCode::default());
    assert!(ErrorCode::NONE.is_none() && !ErrorCode::NONE.is_error());
    assert_eq!(ErrorCode::UNKNOWN_SERVER_ERROR.code(), -1);
    assert_eq!(ErrorCode::INVALID_RECORD.code(), 87);
    assert_eq!(ErrorCode::CONTROLLER_ID_NOT_REGISTERED.code(), 136);
    assert_eq!(i16::from(ErrorCode::MEMBER_ID_REQUIRED), 79);
    assert_eq!(ErrorCode::NOT_COORDINATOR.to_string(), "NOT_COORDINATOR (16)");
}

/// The other crate names codes in camel case and stops at 133; what follows it can't check.
#[test]
fn names_and_retriability_are_those_of_another_table() {
    for code in ErrorCode::all().filter(|code| (1..=133).contains(&code.code())) {
        let Some(other) = kafka_protocol::error::ResponseError::try_from_code(code.code()) else {
            panic!("{code} is unknown there");
        };
        let camel: String = format!("{other:?}").to_lowercase();
        assert_eq!(code.name().replace('_', "").to_lowercase(), camel, "{code}");
        // Retriable in Kafka's clients, if not in that table.
        let retriable = other.is_retriable() || code == ErrorCode::CONCURRENT_TRANSACTIONS;
        assert_eq!(code.is_retriable(), retriable, "{code}");
    }
}
