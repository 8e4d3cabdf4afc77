//! The table, row by row where a row is special.

use super::*;
use crate::messages::VersionRange;

#[test]
fn keys_are_their_rows() {
    let keys: Vec<ApiKey> = ApiKey::all().collect();
    assert_eq!(keys.len(), 95);
    for (code, key) in keys.into_iter().enumerate() {
        assert_eq!(key.code() as usize, code);
        assert_eq!(ApiKey::from_code(key.code()), Some(key));
        assert_eq!(key.info().key, key);
        assert_eq!(format!("{key:?}"), key.name());
        assert!(!key.info().doc.is_empty());
    }
    for code in [-1, 95, i16::MIN, i16::MAX] {
        assert_eq!(ApiKey::from_code(code), None);
    }
}

#[test]
fn counts_are_kafkas() {
    let count = |test: fn(&ApiInfo) -> bool| ApiKey::all().filter(|key| test(key.info())).count();
    assert_eq!(count(|row| row.valid.is_some()), 91);
    assert_eq!(count(|row| row.on_broker), 79);
    assert_eq!(count(|row| row.on_controller && !row.on_broker), 12);
    // All of the broker's but the two of telemetry.
    assert_eq!(count(|row| row.advertised.is_some()), 77);
}

#[test]
fn what_is_advertised_is_what_is_valid_with_two_exceptions() {
    assert_eq!(ApiKey::Produce.info().advertised, Some(VersionRange::new(0, 13)));
    assert_eq!(ApiKey::Produce.valid_versions(), Some(VersionRange::new(3, 13)));
    assert_eq!(ApiKey::InitProducerId.info().advertised, Some(VersionRange::new(0, 5)));
    for key in ApiKey::all().filter(|key| ![ApiKey::Produce, ApiKey::InitProducerId].contains(key)) {
        let row = key.info();
        assert!(row.advertised.is_none() || row.advertised == row.valid, "{key}");
        assert_eq!(key.advertised_min(), row.advertised.map(|range| range.min));
    }
}

#[test]
fn removed_keys_have_no_versions() {
    for code in 4..=7 {
        let key = ApiKey::from_code(code).unwrap();
        assert_eq!((key.valid_versions(), key.info().on_broker), (None, false), "{key}");
    }
}

#[test]
fn headers_follow_flexible_versions() {
    assert_eq!(
        (ApiKey::Metadata.request_header_version(8), ApiKey::Metadata.request_header_version(9)),
        (1, 2)
    );
    assert_eq!(
        (ApiKey::Metadata.response_header_version(8), ApiKey::Metadata.response_header_version(9)),
        (0, 1)
    );
    assert_eq!(
        (ApiKey::ApiVersions.request_header_version(3), ApiKey::ApiVersions.response_header_version(3)),
        (2, 0)
    );
    assert_eq!(ApiKey::SaslHandshake.request_header_version(1), 1);
    assert_eq!(ApiKey::OffsetDelete.response_header_version(0), 0);
    assert_eq!(ApiKey::BrokerRegistration.request_header_version(0), 2);
}
