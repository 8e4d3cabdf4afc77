//! UpdateFeatures, with the answers of Apache Kafka 4.4.

use protocol::messages::update_features_request::FeatureUpdateKey;
use protocol::messages::{UpdateFeaturesRequest, UpdateFeaturesResponse};

use super::*;

fn update(world: &mut World, updates: &[(&str, i16, i8)]) -> UpdateFeaturesResponse {
    let one = |(feature, level, kind): &(&str, i16, i8)| FeatureUpdateKey {
        feature: Str::from(*feature),
        max_version_level: *level,
        upgrade_type: *kind,
        ..Default::default()
    };
    let feature_updates = updates.iter().map(one).collect();
    match world.ask(ControllerRequest::UpdateFeatures(UpdateFeaturesRequest {
        feature_updates,
        ..Default::default()
    })) {
        ControllerReply::UpdateFeatures(response) => response,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_refused() {
    let mut world = World::new();
    for (feature, level, kind, why) in [
        ("metadata.version", 99, 1, "Local controller 1 only supports versions 7-33"),
        ("metadata.version", 0, 1, "Local controller 1 only supports versions 7-33"),
        ("no.such", 1, 1, "Local controller 1 does not support this feature."),
        ("group.version", -1, 1, "A feature version cannot be less than 0."),
        ("group.version", 1, 1, "Local controller 1 only supports versions 0-0"),
        ("group.version", 0, 0, "The controller does not support the given upgrade type."),
        (
            "metadata.version",
            32,
            1,
            "Can't downgrade the version of this feature without setting the upgrade type to \
                                     either safe or unsafe downgrade.",
        ),
        (
            "metadata.version",
            32,
            2,
            "Unsupported metadata.version downgrade from 33 to 32. Refusing to perform the \
                                     requested downgrade because it might delete metadata information.",
        ),
        (
            "metadata.version",
            7,
            3,
            "Unsupported metadata.version downgrade from 33 to 7. Unsafe metadata downgrade is \
                                    not supported in this version.",
        ),
    ] {
        let response = update(&mut world, &[("metadata.version", 33, 1), (feature, level, kind)]);
        assert_eq!((response.error_code, response.results.len()), (95, 0), "{feature} {level} {kind}");
        let message = response.error_message.unwrap_or_default();
        let begin = "The update failed for all features since the following feature had an error: ";
        // As in Kafka a downgrade of the metadata is told without.
        let what = match why.starts_with("Unsupported") {
            true => String::new(),
            false => format!("Invalid update version {level} for feature {feature}. "),
        };
        assert_eq!(&*message, format!("{begin}{what}{why}"));
    }
}

#[test]
fn what_is_so_already() {
    let mut world = World::new();
    let offset = world.image.offset;
    let response = update(&mut world, &[("metadata.version", 33, 1), ("group.version", 0, 2)]);
    let told: Vec<_> =
        response.results.iter().map(|result| (result.feature.as_str(), result.error_code)).collect();
    assert_eq!((response.error_code, told), (0, vec![("metadata.version", 0), ("group.version", 0)]));
    assert_eq!(world.image.offset, offset, "makes no record");
    assert_eq!(update(&mut world, &[]).error_code, 0);
}
