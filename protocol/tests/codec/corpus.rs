//! The fuzz targets' corpora as ordinary tests: inputs that once were interesting stay checked without a fuzzer.

use std::path::Path;

#[path = "../../fuzz/checks.rs"]
mod checks;

fn replay(target: &str, least: usize, check: fn(&[u8])) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= least, "{} inputs in {}", paths.len(), dir.display());
    for path in paths {
        // Printed when a check fails.
        println!("{}", path.display());
        #[allow(clippy::disallowed_methods)] // a test on a plain thread, no runtime
        let data = std::fs::read(&path).unwrap();
        check(&data);
    }
}

#[test]
fn request_decode() {
    replay("request_decode", 50, checks::request_decode);
}

#[test]
fn batch_validate() {
    replay("batch_validate", 10, checks::batch_validate);
}
