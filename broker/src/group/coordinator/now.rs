//! Time as an argument.

/// The time of a step. Both clocks go in, for they serve different ends: deadlines must not jump with the wall clock, timestamps in
/// records must be it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Monotonic, ms since an origin of the runtime's choice: for deadlines.
    pub mono_ms: i64,
    /// Wall clock, ms since 1970: for what is stored.
    pub unix_ms: i64,
}

impl Now {
    /// The deadline `delay_ms` from now; a negative delay counts as none.
    pub fn after(self, delay_ms: i32) -> i64 {
        self.mono_ms.saturating_add(i64::from(delay_ms.max(0)))
    }
}
