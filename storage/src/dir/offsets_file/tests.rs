use super::*;

#[test]
fn the_file_is_kafkas() {
    let offsets = Offsets::from([
        (TopicPartition::new("a", 0), Offset(5)),
        (TopicPartition::new("a-b", 12), Offset(1 << 40)),
    ]);
    let text = to_text(&offsets);
    assert_eq!(text, "0\n2\na 0 5\na-b 12 1099511627776\n");
    assert_eq!(parse(&text), Ok(offsets));
    for bad in
        ["", "1\n0\n", "0\n", "0\n1\n", "0\n1\na 0\n", "0\n1\na/b 0 1\n", "0\n1\na 0 1 2\n", "0\n0\na 0 1\n"]
    {
        assert!(parse(bad).is_err(), "{bad:?}");
    }
}
