use super::*;

#[test]
fn meta_properties_round_trip() {
    let meta = MetaProperties { node_id: 4, cluster_id: "abc".into(), directory_id: Uuid([9; 16]) };
    assert_eq!(MetaProperties::parse(&meta.to_text()), Ok(meta.clone()));
    let kafkas = format!("#\n#Mon Nov 30\n{}", meta.to_text().replace("=abc", "=a\\:bc"));
    assert_eq!(MetaProperties::parse(&kafkas).unwrap().cluster_id, "a:bc");
}

#[test]
fn bad_files_are_refused_with_words() {
    for (text, part) in [
        ("", "no version"),
        ("version=2\n", "version 2"),
        ("version=1\nnode.id=x\n", "node.id"),
        ("version=1\nnode.id=1\ncluster.id=a\ndirectory.id=%%\n", "directory.id"),
        ("version=1\nnode.id=1\ncluster.id=\ndirectory.id=a\n", "cluster.id has 0 bytes"),
        (&format!("version=1\nnode.id=1\ncluster.id={}\n", "x".repeat(257)), "cluster.id has 257 bytes"),
    ] {
        assert!(MetaProperties::parse(text).unwrap_err().contains(part), "{text:?}");
    }
}

#[test]
fn partition_metadata_and_marker() {
    let id = Uuid([7; 16]);
    assert_eq!(parse_partition_metadata(&partition_metadata_text(id)), Ok(id));
    assert!(parse_partition_metadata("version: 1\n").is_err());
    assert!(parse_partition_metadata("version: 0\n").is_err());
    assert_eq!(parse_clean_marker(&clean_marker_text(42)), 42);
    assert_eq!(parse_clean_marker("{\"version\": 0, \"brokerEpoch\": -1}"), -1);
    assert_eq!(parse_clean_marker(""), -1);
}
