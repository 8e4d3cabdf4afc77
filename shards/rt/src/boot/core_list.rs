//! Lists of cores, as the kernel writes them: `0-3,6`.

use super::BootError;

/// Highest core number understood: what an affinity mask of the kernel's default size holds.
const CORE_MAX: usize = 1023;

/// Parses a list like `0-3,6`: ascending or not, each core once.
///
/// # Errors
/// [`BootError::CoreList`].
pub fn parse_cores(list: &str) -> Result<Vec<usize>, BootError> {
    let bad = |why: String| BootError::CoreList { list: list.to_owned(), why };
    let mut cores = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first = number(first).ok_or_else(|| bad(format!("{first:?} is no core")))?;
        let last = number(last).ok_or_else(|| bad(format!("{last:?} is no core")))?;
        if last < first {
            return Err(bad(format!("{part} runs backwards")));
        }
        for core in first..=last {
            if cores.contains(&core) {
                return Err(bad(format!("core {core} stands twice")));
            }
            cores.push(core);
        }
    }
    Ok(cores)
}

fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok().filter(|core| *core <= CORE_MAX)
}
