//! Which versions the broker knows.

use std::collections::BTreeMap;

use protocol::api::ApiKey;
use protocol::messages::{ApiVersionsResponse, Request, VersionRange};

use crate::SendError;

/// The broker's versions, as ApiVersions told them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions {
    by_key: BTreeMap<i16, VersionRange>,
}

impl Versions {
    /// Takes them from an answer. Keys this client doesn't know are kept: they harm nothing.
    pub fn of(answer: &ApiVersionsResponse) -> Self {
        let by_key = answer
            .api_keys
            .iter()
            .map(|api| (api.api_key, VersionRange::new(api.min_version, api.max_version)));
        Self { by_key: by_key.collect() }
    }

    /// What the broker knows of `api`.
    pub fn of_broker(&self, api: ApiKey) -> Option<VersionRange> {
        self.by_key.get(&api.code()).copied()
    }

    /// The highest version of request `R` that both sides know and the caller can fill, which is up to `max`.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn choose<R: Request>(&self, max: i16) -> Result<i16, SendError> {
        let broker = self.of_broker(R::API);
        let ours = VersionRange::new(R::VERSIONS.min, R::VERSIONS.max.min(max));
        let both = broker.and_then(|broker| broker.intersect(ours));
        both.map(|both| both.max).ok_or(SendError::Unsupported { api: R::API, broker })
    }
}
