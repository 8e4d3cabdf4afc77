//! What is to be set.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cli::host::disk::{choices, chosen, mount_of, queue_of};
use crate::cli::host::sys::Sys;
use crate::cli::host::{cpu, irq};

/// One file of the kernel and what it should hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::cli) struct Setting {
    /// What it is about.
    pub(in crate::cli) what: String,
    pub(in crate::cli) file: String,
    /// What it holds now.
    pub(in crate::cli) was: String,
    pub(in crate::cli) wanted: String,
}

impl Setting {
    fn new(what: impl Into<String>, file: String, was: &str, wanted: impl Into<String>) -> Self {
        // Of a choice only the one in force can be written back.
        let was = chosen(was).unwrap_or(was).to_owned();
        Self { what: what.into(), file, was, wanted: wanted.into() }
    }

    /// Whether there is nothing to do.
    pub(in crate::cli) fn is_set(&self) -> bool {
        self.holds(&self.was)
    }

    /// Whether a file with this text holds what is wanted.
    pub(in crate::cli) fn holds(&self, text: &str) -> bool {
        chosen(text).unwrap_or(text) == self.wanted
    }

    /// Whether a file with this text holds what was there.
    pub(in crate::cli) fn is_from(&self, text: &str) -> bool {
        chosen(text).unwrap_or(text) == self.was
    }

    /// The way back.
    pub(super) fn backwards(&self) -> Self {
        Self { was: self.wanted.clone(), wanted: self.was.clone(), ..self.clone() }
    }
}

/// All that can be set on this machine, each file once.
pub(in crate::cli) fn plan(sys: &Sys, dirs: &[PathBuf]) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut queues: Vec<String> =
        dirs.iter().filter_map(|dir| queue_of(sys, &mount_of(sys, dir)?.device)).collect();
    queues.sort();
    queues.dedup();
    for queue in queues {
        disk(sys, &queue, &mut settings);
    }
    for (core, governor) in cpu::governors(sys) {
        settings.push(Setting::new(
            format!("governor of core {core}"),
            cpu::governor_file(core),
            &governor,
            "performance",
        ));
    }
    interrupts(sys, &mut settings);
    raise(
        sys,
        "/proc/sys/net/core/somaxconn",
        "connections waiting to be accepted",
        SOMAXCONN,
        &mut settings,
    );
    settings
}

/// As many connections as a node may lose and get back at once.
const SOMAXCONN: u64 = 4_096;

fn disk(sys: &Sys, queue: &str, settings: &mut Vec<Setting>) {
    let file = |name: &str| format!("{queue}/{name}");
    // A disk that turns needs somebody to put its requests in order.
    let turns = sys.read(&file("rotational")).as_deref() == Some("1");
    let scheduler = sys.read(&file("scheduler")).filter(|_| !turns);
    if let Some(text) = scheduler.filter(|text| choices(text).contains(&"none") && chosen(text).is_some()) {
        settings.push(Setting::new("I/O scheduler", file("scheduler"), &text, "none"));
    }
    // A request is completed on the core that sent it: its shard.
    if let Some(text) = sys.read(&file("rq_affinity")) {
        settings.push(Setting::new("core that completes a request", file("rq_affinity"), &text, "2"));
    }
}

/// Each queue's interrupt to a core of its own, as far as there are cores.
fn interrupts(sys: &Sys, settings: &mut Vec<Setting>) {
    let cores = cpu::cores(sys);
    if cores.len() < 2 {
        return;
    }
    // The kernel itself places those of NVMe queues, and refuses to move them.
    let movable =
        irq::queues(sys).into_iter().filter(|irq| !irq.name.starts_with("nvme") && !irq.cores.is_empty());
    for (irq, core) in movable.zip(cores.iter().cycle()) {
        let what = format!("core of interrupt {}", irq.name);
        settings.push(Setting::new(what, irq::affinity_file(irq.number), &irq.cores, core.to_string()));
    }
}

fn raise(sys: &Sys, file: &str, what: &str, least: u64, settings: &mut Vec<Setting>) {
    let Some(text) = sys.read(file) else { return };
    let wanted = text.parse::<u64>().ok().filter(|now| *now >= least).unwrap_or(least);
    settings.push(Setting::new(what, file.to_owned(), &text, wanted.to_string()));
}
