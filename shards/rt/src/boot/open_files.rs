//! Descriptors that the process may have open.
//!
//! Shells give programs a low soft limit (1,024) for the sake of those that use `select`, and expect the others to raise it: each segment and
//! connection takes one here.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one. Returns how many descriptors may be open; [`None`] is no limit.
pub fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if let Err(error) = setrlimit(Resource::Nofile, wanted) {
            tracing::warn!(%error, "the limit of open files can't be raised");
        }
    }
    getrlimit(Resource::Nofile).current
}
