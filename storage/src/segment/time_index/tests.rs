use super::*;

#[test]
fn keeps_the_running_maximum() {
    let mut index = TimeIndex::new(Offset(10));
    for (timestamp, offset) in [(5, 12), (5, 14), (3, 16), (9, 18), (-1, 20)] {
        index.push(timestamp, Offset(offset));
    }
    assert_eq!(index.entries().len(), 2);
    assert_eq!(index.last(), Some((9, Offset(18))));
    assert_eq!(index.floor(5), Offset(10));
    assert_eq!(index.floor(6), Offset(12));
    assert_eq!(index.floor(100), Offset(18));
    index.truncate(Offset(18));
    assert_eq!(index.last(), Some((5, Offset(12))));
}

#[test]
fn file_round_trips_and_damage_is_noticed() {
    let mut index = TimeIndex::new(Offset(10));
    index.push(5, Offset(12));
    index.push(7, Offset(19));
    let file = index.to_file();
    assert_eq!(&file[12..], &[0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9]);
    assert_eq!(TimeIndex::parse(Offset(10), &file), Some(index));
    assert_eq!(TimeIndex::parse(Offset(10), &file[..13]), None);
    let mut torn = file.to_vec();
    torn[12..].fill(0);
    assert_eq!(TimeIndex::parse(Offset(10), &torn), None);
}
