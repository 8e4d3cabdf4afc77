//! The metadata controller on files: crashes at any point, failing and full disks (simulated), and a real disk.

#[path = "metadata/common.rs"]
mod common;
#[path = "metadata/crash.rs"]
mod crash;
#[path = "metadata/faults.rs"]
mod faults;
#[path = "metadata/real.rs"]
mod real;
