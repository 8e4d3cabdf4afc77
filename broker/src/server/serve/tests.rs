//! Which directories count as usable.

use std::io::{Error, ErrorKind};
use std::path::Path;

use super::settle_probe;

/// A probe that couldn't be made isn't there to be removed: the directory used to count as failed.
#[test]
fn a_full_disk_is_no_failed_one() {
    let probe = Path::new("/no-such-directory/probe");
    for full in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
        settle_probe(probe, Err(Error::from(full))).unwrap();
    }
    for failed in [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem] {
        assert_eq!(settle_probe(probe, Err(Error::from(failed))).unwrap_err().kind(), failed);
    }
}
