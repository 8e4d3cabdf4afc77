//! Limits of the process.

use super::sys::Sys;

/// Files that may be open: soft and hard limit; none if nothing is said, the largest number for no limit.
pub(in crate::cli) fn open_files(sys: &Sys) -> Option<(u64, u64)> {
    let limits = sys.read("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_whitespace();
    let number = |word: &str| if word == "unlimited" { Some(u64::MAX) } else { word.parse().ok() };
    Some((number(words.next()?)?, number(words.next()?)?))
}
