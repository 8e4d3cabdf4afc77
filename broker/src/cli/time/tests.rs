//! Tests of times that people write. The expected numbers are those of `date -u +%s`.

use super::{now_ms, parse_ago, parse_time};

#[test]
fn times_of_all_forms() {
    for (text, ms) in [
        ("1970-01-01", 0),
        ("2026-11-30", 1_795_996_800_000),
        ("2026-11-30T15:30", 1_796_052_600_000),
        ("2026-11-30T15:30:01", 1_796_052_601_000),
        ("2026-11-30 15:30:01.25", 1_796_052_601_250),
        ("2026-11-30T15:30:01.2509999", 1_796_052_601_250),
        ("2026-11-30T15:30:00Z", 1_796_052_600_000),
        ("2026-11-30T15:30:00.000+02:00", 1_796_045_400_000),
        ("2026-11-30T15:30:00-0530", 1_796_072_400_000),
        ("2024-02-29T23:59:59.999", 1_709_251_199_999),
        ("2100-03-01", 4_107_542_400_000),
        ("@1700000000000", 1_700_000_000_000),
    ] {
        assert_eq!(parse_time(text), Ok(ms), "{text}");
    }
}

#[test]
fn what_is_no_time() {
    let bad = [
        "",
        "now",
        "2026-11-31",
        "2026-02-29",
        "2026-13-01",
        "2026-1-01",
        "26-11-30",
        "2026-11-30T",
        "1969-12-31",
    ];
    let more = [
        "2026-11-30T24:00",
        "2026-11-30T15",
        "2026-11-30T15:30:00+2",
        "2026-11-30T15:30:00.",
        "@",
        "@-1",
        "1700000000000",
    ];
    for text in bad.into_iter().chain(more) {
        assert!(parse_time(text).unwrap_err().contains("YYYY-MM-DD"), "{text}");
    }
}

#[test]
fn ago_is_before_now() {
    let ago = parse_ago("PT1H").unwrap();
    assert!((now_ms() - ago - 3_600_000).abs() < 60_000);
    assert_eq!(parse_ago("P9999999D"), Ok(0));
    assert!(parse_ago("1h").unwrap_err().contains("PnDTnHnMnS"));
}
