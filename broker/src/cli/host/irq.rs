//! Interrupts of disks and networks, and which cores take them.

use super::sys::Sys;

/// An interrupt of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Irq {
    pub(in crate::cli) number: u32,
    /// As `virtio3-rx`, `nvme0q1`, `eth0-TxRx-0`.
    pub(in crate::cli) name: String,
    /// How often it came.
    pub(in crate::cli) count: u64,
    /// The cores that may take it, as the kernel lists them.
    pub(in crate::cli) cores: String,
}

/// Where an interrupt's cores are chosen.
pub(in crate::cli) fn affinity_file(number: u32) -> String {
    format!("/proc/irq/{number}/smp_affinity_list")
}

/// Interrupts of disks' and networks' queues that came at all, by number.
pub(in crate::cli) fn queues(sys: &Sys) -> Vec<Irq> {
    let text = sys.read("/proc/interrupts").unwrap_or_default();
    let cores = text.lines().next().map_or(0, |head| head.split_whitespace().count());
    let mut found: Vec<Irq> = text.lines().skip(1).filter_map(|line| parse(line, cores)).collect();
    found.retain(|irq| irq.count > 0);
    for irq in &mut found {
        irq.cores = sys.read(&affinity_file(irq.number)).unwrap_or_default();
    }
    found
}

fn parse(line: &str, cores: usize) -> Option<Irq> {
    let (number, rest) = line.trim().split_once(':')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let name = (*words.get(cores..)?.last()?).to_owned();
    let count =
        words[..cores].iter().filter_map(|word| word.parse::<u64>().ok()).fold(0, u64::saturating_add);
    is_queue(&name).then_some(Irq { number: number.parse().ok()?, name, count, cores: String::new() })
}

fn is_queue(name: &str) -> bool {
    let virtio = name.starts_with("virtio")
        && ["-req", "-input", "-output", "-rx", "-tx"].iter().any(|kind| name.contains(kind));
    let is_config = name.ends_with("-config") || name.ends_with("-control");
    let network = ["eth", "en", "mlx", "ixgbe", "i40e", "ice-", "bnxt", "ena"]
        .iter()
        .any(|start| name.starts_with(start));
    !is_config && (virtio || name.starts_with("nvme") || network)
}
