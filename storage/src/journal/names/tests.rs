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

#[test]
fn what_is_kept_is_told_from_all_else() {
    let name = kept_name(0xab, &(protocol::types::Uuid([7; 16]), 12));
    assert_eq!(name, format!("ringlog-kept-00000000000000ab-{}-12", "07".repeat(16)));
    assert!(is_kept(&name) && parse_file_name(&name).is_none());
    assert_eq!(parse_kept_name(&name), Some((protocol::types::Uuid([7; 16]), 12)));
    for other in [
        foreign_name(0xab, &(protocol::types::Uuid([7; 16]), 12)),
        format!("{name}.tmp"),
        "ringlog-kept-1-2-3".into(),
    ] {
        assert!(!is_kept(&other), "{other}");
    }
}
