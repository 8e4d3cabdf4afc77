//! UpdateFeatures: levels of features finalised (KIP-584, KIP-778).

use protocol::error::ErrorCode;
use protocol::internal::{FeatureLevelRecord, MetadataRecord};
use protocol::messages::update_features_request::FeatureUpdateKey;
use protocol::messages::update_features_response::UpdatableFeatureResult;
use protocol::messages::{UpdateFeaturesRequest, UpdateFeaturesResponse};
use protocol::types::Str;

use super::decider::{Decider, Decision};
use super::request::ControllerReply;
use crate::metadata::features::{METADATA_FEATURE, SUPPORTED};
use crate::metadata::image::Image;
use crate::metadata::limits::METADATA_VERSION;

const UPGRADE: i8 = 1;
const SAFE_DOWNGRADE: i8 = 2;
const UNSAFE_DOWNGRADE: i8 = 3;

impl Decider {
    /// All updates of a request take effect, or none.
    pub(super) fn update_features(&self, image: &Image, request: UpdateFeaturesRequest) -> Decision {
        let mut records: Vec<MetadataRecord> = Vec::new();
        let mut results = Vec::new();
        for update in &request.feature_updates {
            match self.update_feature(image, update) {
                Ok(record) => records.extend(record),
                Err(why) => {
                    let text = format!(
                        "The update failed for all features since the following feature had an error: {why}"
                    );
                    let reply = UpdateFeaturesResponse {
                        error_code: ErrorCode::INVALID_UPDATE_VERSION.code(),
                        error_message: Some(Str::from(text)),
                        ..Default::default()
                    };
                    return Decision::reply(ControllerReply::UpdateFeatures(reply));
                }
            }
            results.push(UpdatableFeatureResult { feature: update.feature.clone(), ..Default::default() });
        }
        if request.validate_only {
            records.clear();
        }
        Decision::atomic(
            records,
            ControllerReply::UpdateFeatures(UpdateFeaturesResponse { results, ..Default::default() }),
        )
    }

    /// The record of one update, none if the level is that already.
    fn update_feature(
        &self,
        image: &Image,
        update: &FeatureUpdateKey,
    ) -> Result<Option<MetadataRecord>, String> {
        let (name, level, kind) = (update.feature.as_str(), update.max_version_level, update.upgrade_type);
        let invalid = |why: &str| Err(format!("Invalid update version {level} for feature {name}. {why}"));
        if !(UPGRADE..=UNSAFE_DOWNGRADE).contains(&kind) {
            return invalid("The controller does not support the given upgrade type.");
        }
        let local = format!("Local controller {}", self.node_id);
        let Some(supported) = SUPPORTED.iter().find(|feature| feature.name == name) else {
            return invalid(&format!("{local} does not support this feature."));
        };
        if level < 0 {
            return invalid("A feature version cannot be less than 0.");
        }
        if !(supported.min..=supported.max).contains(&level) {
            return invalid(&format!("{local} only supports versions {}-{}", supported.min, supported.max));
        }
        let current = match image.feature(name) {
            0 if name == METADATA_FEATURE => METADATA_VERSION,
            current => current,
        };
        if level < current && kind == UPGRADE {
            return invalid(
                "Can't downgrade the version of this feature without setting the upgrade type to either safe or \
                 unsafe downgrade.",
            );
        }
        if level < current && name == METADATA_FEATURE {
            return Err(no_downgrade(current, level, kind));
        }
        let record =
            FeatureLevelRecord { name: update.feature.clone(), feature_level: level, ..Default::default() };
        Ok((level != current).then(|| record.into()))
    }
}

/// Metadata isn't written by older levels here, so it never goes back: Kafka too refuses where something could be lost.
fn no_downgrade(current: i16, level: i16, kind: i8) -> String {
    let why = match kind {
        SAFE_DOWNGRADE => {
            "Refusing to perform the requested downgrade because it might delete metadata information."
        }
        _ => "Unsafe metadata downgrade is not supported in this version.",
    };
    format!("Unsupported metadata.version downgrade from {current} to {level}. {why}")
}
