//! Tests of what is read from a machine made of files, of what is judged, and of what is set and set back.

#![expect(clippy::disallowed_methods, reason = "tests, on their own thread")]

use std::fs;
use std::path::Path;

use rt::boot::{Status, Verdict};
use tempfile::TempDir;

use super::disk::{Mount, chosen, mount_of, parse_mounts, queue_of};
use super::sys::Sys;
use super::{cpu, irq, limits};
use crate::cli::check::{look_at_cores, look_at_storage};
use crate::cli::tune::{Outcome, apply, plan_of, undo};

/// A machine of two cores with one disk, which isn't set as it should be.
struct Machine {
    temp: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { temp: TempDir::new().unwrap() };
        for core in 0..2 {
            machine
                .write(&format!("sys/devices/system/cpu/cpu{core}/cpufreq/scaling_governor"), "powersave\n");
        }
        machine.write("sys/devices/system/node/node0/cpulist", "0-1\n");
        machine.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        machine.write("sys/devices/pci/block/vda/queue/scheduler", "none mq-deadline [bfq]\n");
        machine.write("sys/devices/pci/block/vda/queue/rq_affinity", "1\n");
        machine.write("sys/devices/pci/block/vda/queue/write_cache", "write back\n");
        machine.write("sys/devices/pci/block/vda/queue/rotational", "0\n");
        machine.write("sys/devices/pci/block/vda/vda1/partition", "1\n");
        machine.write("proc/sys/net/core/somaxconn", "128\n");
        machine.write("proc/interrupts", INTERRUPTS);
        for irq in [36, 41, 42] {
            machine.write(&format!("proc/irq/{irq}/smp_affinity_list"), "1\n");
        }
        fs::create_dir_all(machine.temp.path().join("sys/dev/block")).unwrap();
        let device = machine.device();
        let links = [(device.as_str(), "vda/vda1"), ("253:7", "vda")];
        for (name, to) in links {
            let link = machine.temp.path().join("sys/dev/block").join(name);
            std::os::unix::fs::symlink(format!("../../devices/pci/block/{to}"), link).unwrap();
        }
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn sys(&self) -> Sys {
        Sys::below(self.temp.path())
    }

    /// The device that the machine's own directory lies on, as mounts name it.
    fn device(&self) -> String {
        self.write("proc/self/mountinfo", "1 0 1:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n");
        mount_of(&self.sys(), self.temp.path()).unwrap().device
    }
}

const INTERRUPTS: &str = "           CPU0       CPU1\n 35:          0          1 PCI-MSIX-0000:00:02.0   0-edge      virtio1-config\n \
    36:          0   16906441 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n \
    41:          0      38072 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx\n \
    42:          0      81609 PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx\nLOC:   14275714   14602469   Local timer interrupts\n";

#[test]
fn a_machine_is_read() {
    let machine = Machine::new();
    let sys = machine.sys();
    assert_eq!(cpu::cores(&sys), [0, 1]);
    assert_eq!(cpu::governors(&sys), [(0, "powersave".into()), (1, "powersave".into())]);
    assert_eq!((cpu::numa_nodes(&sys), cpu::clock(&sys).as_deref()), (1, Some("tsc")));
    let names: Vec<_> =
        irq::queues(&sys).into_iter().map(|irq| (irq.number, irq.name, irq.count, irq.cores)).collect();
    assert_eq!(names[0], (36, "virtio1-req.0".into(), 16_906_441, "1".into()));
    assert_eq!(names.len(), 3, "neither timers nor configs");
    let queue = Some("/sys/devices/pci/block/vda/queue".to_owned());
    assert_eq!(queue_of(&sys, &machine.device()), queue, "of a partition");
    assert_eq!(queue_of(&sys, "253:7"), queue, "of a whole disk");
    assert_eq!(queue_of(&sys, "0:51"), None);
    machine.write("proc/self/limits", "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 unlimited            files\n");
    assert_eq!(limits::open_files(&sys), Some((1_024, u64::MAX)));
    assert_eq!((chosen("a [b] c"), chosen("a b")), (Some("b"), None));
}

#[test]
fn the_innermost_mount_counts() {
    let mounts = "1 0 253:0 / / rw,relatime - ext4 /dev/vda rw,errors=remount-ro\n\
                  2 1 253:1 / /var/lib rw,noatime - xfs /dev/vdb rw,nobarrier\n\
                  3 1 0:9 / /var/lib/a\\040b rw - tmpfs tmpfs rw\n";
    let of = |path: &str| parse_mounts(mounts, path, "9:9").unwrap();
    assert_eq!(of("/var/lib/ringlog").file_system, "xfs");
    assert_eq!(of("/var/lib/ringlog").options, ["rw", "noatime", "rw", "nobarrier"]);
    assert_eq!(of("/var/lib").file_system, "xfs");
    assert_eq!(of("/var/library").file_system, "ext4");
    assert_eq!(of("/var/lib/a b/c").file_system, "tmpfs");
    assert_eq!(parse_mounts("", "/", "9:9"), None);
}

fn judged(verdict: &Verdict, what: &str) -> (Status, String) {
    let finding = verdict.findings.iter().find(|finding| finding.what.starts_with(what));
    finding
        .map(|finding| (finding.status, finding.text.clone()))
        .unwrap_or_else(|| panic!("{what} isn't in {verdict}"))
}

#[test]
fn storage_is_judged() {
    let machine = Machine::new();
    let look = |file_system: &str, options: &[&str]| {
        let mut verdict = Verdict::default();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let mount = Mount { file_system: file_system.into(), options, device: "253:7".into() };
        look_at_storage(&machine.sys(), Path::new("/d"), &mount, &mut verdict);
        verdict
    };
    for (file_system, options, wanted, word) in [
        ("ext4", &["rw"][..], Status::Ok, "ext4"),
        ("btrfs", &["rw"], Status::Warn, "ext4 or xfs"),
        ("ext4", &["data=journal"], Status::Warn, "twice"),
        ("ext4", &["nobarrier"], Status::Fail, "barriers"),
        ("xfs", &["ro"], Status::Fail, "read-only"),
    ] {
        let (status, text) = judged(&look(file_system, options), "file system");
        assert!(status == wanted && text.contains(word), "{file_system} {options:?}: {status} {text}");
    }
    let sound = look("ext4", &["rw"]);
    assert_eq!(judged(&sound, "I/O scheduler").0, Status::Warn);
    assert_eq!(judged(&sound, "write cache").0, Status::Ok);
    assert_eq!(sound.findings.len(), 3, "{sound}");
    machine.write("sys/devices/pci/block/vda/queue/rotational", "1\n");
    let other = look("ext4", &["rw"]);
    assert_eq!((judged(&other, "I/O scheduler").0, judged(&other, "device").0), (Status::Ok, Status::Warn));
}

#[test]
fn cores_are_judged() {
    let machine = Machine::new();
    let look = || {
        let mut verdict = Verdict::default();
        look_at_cores(&machine.sys(), &mut verdict);
        verdict
    };
    let bad = look();
    assert_eq!(judged(&bad, "governor").0, Status::Warn);
    assert!(judged(&bad, "interrupts").1.contains("core 1"), "{bad}");
    assert_eq!((judged(&bad, "NUMA").0, judged(&bad, "clock").0), (Status::Ok, Status::Ok));
    machine.write("proc/irq/41/smp_affinity_list", "0\n");
    machine.write("sys/devices/system/node/node1/cpulist", "2-3\n");
    machine.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    let other = look();
    assert_eq!(judged(&other, "interrupts").0, Status::Ok);
    assert_eq!((judged(&other, "NUMA").0, judged(&other, "clock").0), (Status::Warn, Status::Warn));
}

#[test]
fn what_is_set_can_be_set_back() {
    let machine = Machine::new();
    let sys = machine.sys();
    let dirs = [machine.temp.path().to_owned()];
    let state = machine.temp.path().join("state/tune.json");
    let told = apply(&sys, plan_of(&sys, &dirs), &state).unwrap();
    assert!(
        told.iter()
            .all(|(setting, outcome)| *outcome
                == if setting.is_set() { Outcome::Already } else { Outcome::Done }),
        "{told:?}"
    );
    let read = |file: &str| sys.read(file).unwrap();
    assert_eq!(read("/sys/devices/pci/block/vda/queue/scheduler"), "none");
    assert_eq!(read("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor"), "performance");
    assert_eq!(read("/proc/sys/net/core/somaxconn"), "4096");
    let cores: Vec<_> = [36, 41, 42].map(|irq| read(&format!("/proc/irq/{irq}/smp_affinity_list"))).into();
    assert_eq!(cores, ["0", "1", "0"], "interrupts are spread");
    // Again: nothing to do, and what was there first is still known.
    let again = apply(&sys, plan_of(&sys, &dirs), &state).unwrap();
    assert!(again.iter().all(|(_, outcome)| *outcome == Outcome::Already), "{again:?}");
    // Somebody else's change isn't undone.
    machine.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
    let undone = undo(&sys, &state).unwrap();
    let left: Vec<_> = undone
        .iter()
        .filter(|(_, outcome)| *outcome != Outcome::Done)
        .map(|(setting, _)| &setting.what)
        .collect();
    assert_eq!(left, ["governor of core 1"]);
    assert_eq!(read("/sys/devices/pci/block/vda/queue/scheduler"), "bfq");
    assert_eq!(read("/proc/sys/net/core/somaxconn"), "128");
    assert_eq!(read("/proc/irq/36/smp_affinity_list"), "1");
    machine.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    assert_eq!(undo(&sys, &state).unwrap().len(), 1, "what is left to undo");
    assert!(!state.exists() && undo(&sys, &state).unwrap().is_empty());
}

#[test]
fn a_disk_that_turns_keeps_its_scheduler() {
    let machine = Machine::new();
    let dirs = [machine.temp.path().to_owned()];
    let scheduler = |machine: &Machine| {
        let plan = plan_of(&machine.sys(), &dirs);
        plan.iter().any(|setting| setting.file.ends_with("scheduler"))
    };
    assert!(scheduler(&machine));
    machine.write("sys/devices/pci/block/vda/queue/rotational", "1\n");
    assert!(!scheduler(&machine));
}

#[test]
fn a_state_that_is_not_ours_is_refused() {
    let machine = Machine::new();
    machine.write("tune.json", "{}");
    let refused = undo(&machine.sys(), &machine.temp.path().join("tune.json")).unwrap_err().to_string();
    assert!(refused.contains("--state"), "{refused}");
    // Root would write there what whoever wrote the file wants.
    for file in ["/etc/passwd", "/sys/../etc/passwd", "sys/block"] {
        let planted =
            format!(r#"[{{"what": "a disk", "file": "{file}", "was": "mine", "wanted": "theirs"}}]"#);
        machine.write("tune.json", &planted);
        let refused = undo(&machine.sys(), &machine.temp.path().join("tune.json")).unwrap_err().to_string();
        assert!(refused.contains("no setting of the kernel"), "{refused}");
    }
}

/// It used to say for ever that somebody else had changed them.
#[test]
fn what_a_start_of_the_machine_set_back_is_forgotten() {
    let machine = Machine::new();
    let sys = machine.sys();
    let state = machine.temp.path().join("tune.json");
    apply(&sys, plan_of(&sys, &[machine.temp.path().to_owned()]), &state).unwrap();
    machine.write("proc/sys/net/core/somaxconn", "128\n");
    let undone = undo(&sys, &state).unwrap();
    assert!(undone.iter().any(|(_, outcome)| *outcome == Outcome::Already));
    assert!(!undone.iter().any(|(_, outcome)| matches!(outcome, Outcome::Not(_))), "{undone:?}");
    assert!(!state.exists());
}
