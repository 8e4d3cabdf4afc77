use super::*;

/// In units that are more than next to nothing.
const UNIT: u64 = 2 << 20;

fn space(used: u64, free: u64) -> Space {
    let (used_bytes, free_bytes) = (used.saturating_mul(UNIT), free.saturating_mul(UNIT));
    // Some of the disk is the administrator's.
    Space { total_bytes: used_bytes.saturating_add(free_bytes).saturating_add(1_000), used_bytes, free_bytes }
}

fn config(full_percent: u64) -> LogDirConfig {
    LogDirConfig { full_percent, free_bytes_enough: u64::MAX, ..LogDirConfig::default() }
}

/// Whether writes are refused after each look.
fn refused(config: &LogDirConfig, looks: &[(u64, u64)]) -> Vec<bool> {
    let gauge = RoomGauge::default();
    let look = |(used, free): &(u64, u64)| {
        gauge.update(space(*used, *free), true, config);
        gauge.refuses_writes()
    };
    looks.iter().map(look).collect()
}

#[test]
fn a_disk_is_full_at_its_percentage_and_no_more_one_below() {
    let config = config(95);
    assert_eq!(
        refused(&config, &[(9_499, 501), (9_500, 500), (9_499, 501), (9_400, 600), (9_399, 601)]),
        [false, true, true, true, false]
    );
    assert_eq!(refused(&config, &[(9_399, 601), (9_499, 501)]), [false, false]);
}

#[test]
fn a_disk_without_anything_free_is_full_whatever_else() {
    let nothing = Space { total_bytes: 1 << 50, used_bytes: 5, free_bytes: (1 << 20) - 1 };
    assert!(is_full(nothing, false, &LogDirConfig { free_bytes_enough: 0, ..config(100) }));
    assert!(!is_full(Space { free_bytes: 1 << 20, ..nothing }, false, &config(100)));
}

#[test]
fn at_100_percent_only_such_a_disk_is_full() {
    assert_eq!(
        refused(&config(100), &[(9_999, 1), (10_000, 0), (9_999, 1), (9_899, 101)]),
        [false, true, true, false]
    );
}

#[test]
fn where_enough_is_free_the_percentage_is_no_matter() {
    let config = LogDirConfig { free_bytes_enough: 500 * UNIT, ..config(95) };
    assert_eq!(refused(&config, &[(99_500, 500), (99_501, 499)]), [false, true]);
}

/// On disks above 320 GiB this decides, and with one bound for both ways writes went and came each second.
#[test]
fn a_disk_that_was_full_needs_a_little_more_than_enough() {
    let config = LogDirConfig { free_bytes_enough: 160 * UNIT, ..config(95) };
    let looks = [(9_841, 159), (9_840, 160), (9_831, 169), (9_830, 170), (9_840, 160)];
    assert_eq!(refused(&config, &looks), [true, true, true, false, false]);
}

#[test]
fn a_disk_whose_ballast_was_given_up_is_full_until_it_is_back() {
    let (gauge, config) = (RoomGauge::default(), config(95));
    assert!(!gauge.update(space(1, 99), false, &config), "it never had room for one");
    assert!(!gauge.update(space(1, 99), true, &config));
    assert!(gauge.update(space(1, 99), false, &config));
    assert!(gauge.refuses_writes());
    assert!(!gauge.update(space(1, 99), false, &config), "nothing new");
    assert!(gauge.update(space(1, 99), true, &config));
    assert_eq!(
        gauge.room(),
        Room { total_bytes: 100 * UNIT + 1_000, free_bytes: 99 * UNIT, refuses_writes: false }
    );
}

#[test]
fn the_largest_disks_are_counted() {
    assert_eq!(refused(&config(95), &[(u64::MAX, 0), (0, u64::MAX)]), [true, false]);
}
