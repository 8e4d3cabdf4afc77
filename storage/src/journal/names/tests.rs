use super::*;

#[test]
fn names_are_read_as_they_are_made() {
    assert_eq!(file_name(3, 12), "ringlog-journal-3-12");
    assert_eq!(parse_file_name("ringlog-journal-3-12"), Some((3, 12)));
    for other in
        ["ringlog-journal-3", "ringlog-journal--1", "ringlog-journal-+3-1", "ringlog-raft.log", "journal-1-1"]
    {
        assert_eq!(parse_file_name(other), None, "{other}");
    }
}
