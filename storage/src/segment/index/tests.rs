use super::*;

fn sample() -> OffsetIndex {
    let mut index = OffsetIndex::new(Offset(100));
    for (last, position) in [(109, 0), (119, 5_000), (140, 10_000)] {
        index.push(Offset(last), FilePos(position));
    }
    index
}

#[test]
fn floor_is_the_last_batch_not_behind() {
    let index = sample();
    assert_eq!(index.floor(Offset(100)), FilePos(0));
    assert_eq!(index.floor(Offset(118)), FilePos(0));
    assert_eq!(index.floor(Offset(119)), FilePos(5_000));
    assert_eq!(index.floor(Offset(1_000)), FilePos(10_000));
}

#[test]
fn file_round_trips_and_damage_is_noticed() {
    let index = sample();
    let file = index.to_file();
    assert_eq!(&file[8..16], &[0, 0, 0, 19, 0, 0, 0x13, 0x88]);
    assert_eq!(OffsetIndex::parse(Offset(100), &file, 11_000), Some(index));
    assert_eq!(OffsetIndex::parse(Offset(100), &file, 9_000), None, "points behind the log");
    assert_eq!(OffsetIndex::parse(Offset(100), &file[..20], 11_000), None, "half an entry");
    let mut torn = file.to_vec();
    torn[8..16].fill(0);
    assert_eq!(OffsetIndex::parse(Offset(100), &torn, 11_000), None, "zeros in the middle");
}

#[test]
fn truncate_drops_what_ends_behind() {
    let mut index = sample();
    index.truncate_offsets(Offset(119));
    assert_eq!(index.entries().len(), 1);
}
