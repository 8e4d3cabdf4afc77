//! The suite as text.

use super::{DiskLineResult, DiskResult};
use crate::compare::figure;

impl std::fmt::Display for DiskResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "direct writes below {}, medians of {} rounds", self.data_dir.display(), self.rounds)?;
        writeln!(f, "{}", self.machine)?;
        writeln!(
            f,
            "{:26} {:>10} {:>10} {:>8} {:>12} {:>12}",
            "", "MB/s", "fio MB/s", "of fio", "p99 us", "fio p99 us"
        )?;
        for line in &self.lines {
            writeln!(f, "{}", row(line))?;
        }
        if let Some(why) = &self.fio_not_measured {
            writeln!(f, "fio: not measured: {why}")?;
        }
        Ok(())
    }
}

/// One line of the table.
pub(super) fn row(result: &DiskLineResult) -> String {
    let fio = result.fio_mb_per_s.as_ref().map_or("-".into(), |fio| figure(fio.median));
    let share = result.share_of_fio().map_or("-".into(), |share| format!("{:.0} %", share * 100.0));
    let fio_p99 = result.fio.map_or("-".into(), |fio| figure(fio.p99_us));
    let (ours, p99) = (figure(result.ours_mb_per_s.median), figure(result.ours.p99_us));
    format!("{:26} {ours:>10} {fio:>10} {share:>8} {p99:>12} {fio_p99:>12}", result.line.to_string())
}
