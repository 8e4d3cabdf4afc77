//! Features and their levels (KIP-584).

use std::collections::BTreeMap;

use client::ClientError;
use client::blocking::Target;
use protocol::messages::ApiVersionsRequest;

use crate::cli::session::Session;

/// A feature.
pub(super) struct Feature {
    pub(super) name: String,
    /// The level in force, 0 for off.
    pub(super) level: i16,
    /// Lowest and highest level that the broker asked supports.
    pub(super) supported: Option<(i16, i16)>,
}

const API_VERSIONS_MAX: i16 = 4;

/// All features that are supported or in force, by name.
pub(super) fn features(session: &mut Session) -> Result<Vec<Feature>, ClientError> {
    let (_, answer) = session.client.call(Target::Any, API_VERSIONS_MAX, |_| ApiVersionsRequest {
        client_software_name: "ringlog".into(),
        client_software_version: env!("CARGO_PKG_VERSION").into(),
        ..Default::default()
    })?;
    ClientError::check(answer.error_code, None, || "the broker's versions".into())?;
    let mut features: BTreeMap<String, Feature> = BTreeMap::new();
    let named = |name: &str| Feature { name: name.to_owned(), level: 0, supported: None };
    for found in &answer.supported_features {
        let feature = features.entry(found.name.to_string()).or_insert_with(|| named(&found.name));
        feature.supported = Some((found.min_version, found.max_version));
    }
    for found in &answer.finalized_features {
        features.entry(found.name.to_string()).or_insert_with(|| named(&found.name)).level =
            found.max_version_level;
    }
    Ok(features.into_values().collect())
}
