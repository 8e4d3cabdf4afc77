//! How many shards, and on which cores.

use super::{BootError, cgroup, core_list};

/// What the operator asked for.
#[derive(Clone, Debug, Default)]
pub struct ShardsRequest {
    /// Cores by name, `0-3,6`: one shard each.
    pub cores: Option<String>,
    /// The number of shards.
    pub shards: Option<usize>,
}

/// One entry a shard: its core, or `None` where the scheduler may move it.
///
/// Without a request: as many as the affinity mask and the control group's quota give whole cores, but one at
/// the least. Shards are pinned when each has a core of its own: by name, or when no quota says that the
/// cores are shared with others. More shards than cores are all unpinned: some pinned beside some that move
/// would be uneven.
///
/// # Errors
/// [`BootError::CoreList`] for cores that don't exist or aren't allowed, [`BootError::ShardCount`].
pub fn plan_shards(request: &ShardsRequest) -> Result<Vec<Option<usize>>, BootError> {
    plan(request, &affinity()?, cgroup::cpu_quota())
}

pub(super) fn plan(
    request: &ShardsRequest,
    allowed: &[usize],
    quota: Option<f64>,
) -> Result<Vec<Option<usize>>, BootError> {
    if let Some(list) = &request.cores {
        return named(list, request.shards, allowed);
    }
    let granted = quota.map_or(allowed.len(), |quota| (quota.floor() as usize).min(allowed.len())).max(1);
    let shards = request.shards.unwrap_or(granted);
    if shards == 0 || shards > usize::from(u16::MAX) {
        return Err(BootError::ShardCount(shards));
    }
    if shards > granted || granted < allowed.len() {
        return Ok(vec![None; shards]);
    }
    Ok(allowed.iter().take(shards).map(|core| Some(*core)).collect())
}

fn named(list: &str, shards: Option<usize>, allowed: &[usize]) -> Result<Vec<Option<usize>>, BootError> {
    let cores = core_list::parse_cores(list)?;
    if let Some(core) = cores.iter().find(|core| !allowed.contains(core)) {
        let why = format!("core {core} isn't among those this process may use, {allowed:?}");
        return Err(BootError::CoreList { list: list.to_owned(), why });
    }
    match shards {
        Some(0) => Err(BootError::ShardCount(0)),
        Some(shards) if shards > cores.len() => Ok(vec![None; shards]),
        Some(shards) => Ok(cores.into_iter().take(shards).map(Some).collect()),
        None => Ok(cores.into_iter().map(Some).collect()),
    }
}

/// The cores this process may run on.
fn affinity() -> Result<Vec<usize>, BootError> {
    let set = rustix::thread::sched_getaffinity(None)
        .map_err(|error| BootError::Core { core: 0, error: error.into() })?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
}
