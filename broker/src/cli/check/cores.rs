//! Cores: governor, memory nodes, clock, interrupts.

use rt::boot::{Status, Verdict};

use crate::cli::host::sys::Sys;
use crate::cli::host::{cpu, irq};

pub(in crate::cli) fn look(sys: &Sys, verdict: &mut Verdict) {
    let (status, text) = governor(sys);
    verdict.add("governor", status, text);
    let (status, text) = match cpu::numa_nodes(sys) {
        0 | 1 => (Status::Ok, "one memory node".to_owned()),
        nodes => (
            Status::Warn,
            format!(
                "{nodes} memory nodes: run a broker a node, or name cores of one by --cores (see `lscpu`)"
            ),
        ),
    };
    verdict.add("NUMA", status, text);
    let (status, text) = clock(cpu::clock(sys).as_deref());
    verdict.add("clock", status, text);
    let (status, text) = interrupts(sys);
    verdict.add("interrupts", status, text);
}

fn governor(sys: &Sys) -> (Status, String) {
    let governors = cpu::governors(sys);
    let other = governors.iter().find(|(_, name)| name != "performance");
    match other {
        _ if governors.is_empty() => (Status::Ok, "the machine doesn't tell, as virtual ones do".to_owned()),
        None => (Status::Ok, "performance".to_owned()),
        Some((core, name)) => (
            Status::Warn,
            format!(
                "core {core} has {name}: latency grows while it speeds up; `ringlog tune --apply` sets performance"
            ),
        ),
    }
}

fn clock(name: Option<&str>) -> (Status, String) {
    match name {
        Some(name @ ("tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page" | "arch_sys_counter")) => {
            (Status::Ok, name.to_owned())
        }
        Some(name) => (
            Status::Warn,
            format!(
                "{name} takes a call of the kernel for each look at the time: boot with clocksource=tsc if the processor's is stable"
            ),
        ),
        None => (Status::Warn, "the kernel doesn't tell".to_owned()),
    }
}

/// Interrupts below this number are too few to matter.
const BUSY_MIN: u64 = 10_000;

/// All that come often on one core: its shard is slower than the others.
fn interrupts(sys: &Sys) -> (Status, String) {
    let busy: Vec<irq::Irq> = irq::queues(sys).into_iter().filter(|irq| irq.count >= BUSY_MIN).collect();
    let cores = cpu::cores(sys).len();
    let single = |list: &str| !list.contains(['-', ',']);
    match busy.split_first() {
        None => (Status::Ok, "few so far".to_owned()),
        Some((first, rest))
            if cores > 1
                && !rest.is_empty()
                && single(&first.cores)
                && rest.iter().all(|irq| irq.cores == first.cores) =>
        {
            (
                Status::Warn,
                format!(
                    "all of disk and network go to core {}: `ringlog tune --apply` spreads them",
                    first.cores
                ),
            )
        }
        Some((first, rest)) => (Status::Ok, format!("{} of {} and others", rest.len() + 1, first.name)),
    }
}
