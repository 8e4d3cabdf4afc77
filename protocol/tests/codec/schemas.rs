//! The schema files, read again by the tests.

use std::path::Path;

use crate::parse::parse;
use crate::schema::{Kind, Message};

/// All messages and records that have a Rust type.
pub(crate) fn all() -> Vec<Message> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    let mut all = Vec::new();
    for folder in ["api", "internal"] {
        let mut paths: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            all.extend(parse(&path.display().to_string(), &text).unwrap());
        }
    }
    all.retain(|m| m.kind != Kind::Removed);
    all
}

/// Requests and responses.
pub(crate) fn api() -> Vec<Message> {
    let mut all = all();
    all.retain(|m| matches!(m.kind, Kind::Request | Kind::Response));
    all
}
