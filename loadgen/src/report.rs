//! What a run measured.

use std::fmt;
use std::time::Duration;

/// What a run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Records acknowledged.
    pub records: u64,
    /// Bytes of their values.
    pub value_bytes: u64,
    /// Batches they were sent in.
    pub batches: u64,
    /// Bytes of the batches as sent, compressed if a codec was set.
    pub batch_bytes: u64,
    /// From the first send to the last acknowledgement.
    pub produce_time: Duration,
    /// Acknowledgement latency, in us, in the middle.
    pub p50_us: u64,
    /// That of one in a hundred.
    pub p99_us: u64,
    /// That of one in a thousand.
    pub p999_us: u64,
    /// The longest.
    pub max_us: u64,
    /// How long reading everything back and checking it took, if that was asked for.
    pub verify_time: Option<Duration>,
}

impl Report {
    /// Records a second.
    pub fn records_per_s(&self) -> f64 {
        self.records as f64 / self.produce_time.as_secs_f64().max(f64::EPSILON)
    }

    /// Mebibytes of values a second.
    pub fn mib_per_s(&self) -> f64 {
        self.value_bytes as f64 / MIB / self.produce_time.as_secs_f64().max(f64::EPSILON)
    }
}

const MIB: f64 = 1024.0 * 1024.0;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.produce_time.as_secs_f64();
        writeln!(f, "produced   {} records in {} batches, {seconds:.2} s", self.records, self.batches)?;
        writeln!(
            f,
            "rate       {:.0} records/s, {:.1} MiB/s of values",
            self.records_per_s(),
            self.mib_per_s()
        )?;
        let ms = |us: u64| us as f64 / 1000.0;
        let (p50, p99) = (ms(self.p50_us), ms(self.p99_us));
        let (p999, max) = (ms(self.p999_us), ms(self.max_us));
        write!(f, "latency    p50 {p50:.2} ms, p99 {p99:.2} ms, p99.9 {p999:.2} ms, max {max:.2} ms")?;
        if let Some(time) = self.verify_time {
            let seconds = time.as_secs_f64().max(f64::EPSILON);
            let rate = self.records as f64 / seconds;
            write!(
                f,
                "\nverified   all {} records, once and in order, {seconds:.2} s, {rate:.0} records/s",
                self.records
            )?;
        }
        Ok(())
    }
}
