//! What the host is like, by /proc and /sys: for `ringlog check` and `ringlog tune`.

pub(super) mod cpu;
pub(super) mod disk;
pub(super) mod irq;
pub(super) mod limits;
pub(super) mod sys;

#[cfg(test)]
mod tests;
