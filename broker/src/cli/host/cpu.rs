//! Cores: frequency, memory nodes, clock.

use super::sys::Sys;

/// The governor of each core that has one: core and name.
pub(in crate::cli) fn governors(sys: &Sys) -> Vec<(u32, String)> {
    let cores = cores(sys).into_iter();
    cores.filter_map(|core| Some((core, sys.read(&governor_file(core))?))).collect()
}

/// Where a core's governor is chosen.
pub(in crate::cli) fn governor_file(core: u32) -> String {
    format!("/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor")
}

/// All cores, in order.
pub(in crate::cli) fn cores(sys: &Sys) -> Vec<u32> {
    let names = sys.list("/sys/devices/system/cpu").into_iter();
    let mut cores: Vec<u32> = names.filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    cores.sort_unstable();
    cores
}

/// How many memory nodes have cores.
pub(in crate::cli) fn numa_nodes(sys: &Sys) -> usize {
    let names = sys.list("/sys/devices/system/node").into_iter();
    let nodes =
        names.filter(|name| name.strip_prefix("node").is_some_and(|rest| rest.parse::<u32>().is_ok()));
    let has_cores = |node: &String| {
        sys.read(&format!("/sys/devices/system/node/{node}/cpulist")).is_some_and(|list| !list.is_empty())
    };
    nodes.filter(has_cores).count()
}

/// The clock in use.
pub(in crate::cli) fn clock(sys: &Sys) -> Option<String> {
    sys.read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}
