//! Tests of what counts as a period.

use super::parse_ms;

#[test]
fn periods_are_sums_of_their_parts() {
    for (text, ms) in [
        ("P1D", 86_400_000),
        ("PT0S", 0),
        ("PT1.5S", 1_500),
        ("PT0.0004S", 0),
        ("p2dt3h4m5.006s", 2 * 86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 5_006),
        ("PT90M", 5_400_000),
    ] {
        assert_eq!(parse_ms(text), Some(ms), "{text}");
    }
}

#[test]
fn what_java_refuses_is_none() {
    let bad =
        ["", "P", "PT", "P1DT", "1D", "P1H", "PT1D", "PTS", "PT1", "PT1M1H", "P-1D", "PT1.S", "PT.5S", "P1Y"];
    for text in
        bad.into_iter().chain(["PT1.0123456789S", "P9999999999999999D", "PT9223372036854775807S", "P1D "])
    {
        assert_eq!(parse_ms(text), None, "{text}");
    }
}
