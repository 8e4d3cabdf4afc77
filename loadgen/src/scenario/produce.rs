//! Who sends, and how.

use serde::{Deserialize, Serialize};

use super::{Acks, Build, Codec, Filler, Keys, Sizes};

/// Producers. Each has its own connections, as a real client has, and lives on one core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProduceSpec {
    /// How many.
    pub producers: u32,
    /// Records of all producers together; 0 for as many as the time allows.
    pub records: u64,
    /// Records a second of all producers together: an open loop, whose latencies count from the intended send
    /// time. 0: a closed loop, as fast as acknowledgements come.
    pub rate_per_s: f64,
    /// Who must have a record before it counts as sent.
    pub acks: Acks,
    /// Idempotent producers (KIP-98): sent again without duplicates.
    pub idempotent: bool,
    /// Transactions (KIP-98) of idempotent producers: each is committed after so many ms. 0: none.
    pub transaction_ms: f64,
    /// Codec of the batches.
    pub compression: Codec,
    /// How long a record waits for others in its batch, in ms.
    pub linger_ms: f64,
    /// Bytes of a batch before compression, at the most.
    pub batch_bytes: u32,
    /// Bytes of a request, at the most; one batch goes in any case.
    pub request_bytes: u32,
    /// Requests without an answer, each connection.
    pub in_flight: u32,
    /// Bytes of records that wait to be sent, each producer; then the closed loop waits.
    pub buffer_bytes: u64,
    /// Keys, which decide the partition.
    pub keys: Keys,
    /// Bytes of a record's value.
    pub record_bytes: Sizes,
    /// What values are filled with.
    pub filler: Filler,
    /// How batches are made.
    pub build: Build,
    /// How long a record may be tried, in s, before it counts as failed.
    pub delivery_timeout_s: f64,
}

impl Default for ProduceSpec {
    fn default() -> Self {
        Self {
            producers: 1,
            records: 0,
            rate_per_s: 0.0,
            acks: Acks::All,
            idempotent: false,
            transaction_ms: 0.0,
            compression: Codec::default(),
            linger_ms: 0.0,
            batch_bytes: 64 * 1024,
            request_bytes: 1024 * 1024,
            in_flight: 5,
            buffer_bytes: 32 << 20,
            keys: Keys::default(),
            record_bytes: Sizes::Fixed(100),
            filler: Filler::default(),
            build: Build::default(),
            delivery_timeout_s: 120.0,
        }
    }
}

/// Most producers of a line: each has a task and a connection for each broker.
const PRODUCERS_MAX: u32 = 100_000;
/// Largest record value, in bytes.
const RECORD_BYTES_MAX: usize = 64 << 20;
/// Batches in flight that an idempotent producer may have for a partition: what a broker remembers.
const IDEMPOTENT_IN_FLIGHT_MAX: u32 = 5;

/// Longest transaction, in ms: a broker aborts one of 15 minutes by default.
const TRANSACTION_MS_MAX: f64 = 600_000.0;

impl ProduceSpec {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.producers == 0 || self.producers > PRODUCERS_MAX {
            return Err(format!("producers: 1 to {PRODUCERS_MAX}"));
        }
        if self.in_flight == 0 || self.in_flight > 1000 {
            return Err("in_flight: 1 to 1000".into());
        }
        if self.idempotent && (self.in_flight > IDEMPOTENT_IN_FLIGHT_MAX || self.acks != Acks::All) {
            return Err(format!(
                "idempotent producers have acks = \"all\" and in_flight <= {IDEMPOTENT_IN_FLIGHT_MAX}"
            ));
        }
        if self.transaction_ms != 0.0
            && !(self.idempotent && (1.0..=TRANSACTION_MS_MAX).contains(&self.transaction_ms))
        {
            return Err(format!("transaction_ms: 1 to {TRANSACTION_MS_MAX}, with idempotent = true"));
        }
        let times = [self.rate_per_s, self.linger_ms, self.delivery_timeout_s];
        if times.iter().any(|value| !(0.0..=1e12).contains(value)) {
            return Err("rate_per_s, linger_ms and delivery_timeout_s aren't negative".into());
        }
        if self.batch_bytes < 64 || self.request_bytes < 64 || self.batch_bytes > 256 << 20 {
            return Err("batch_bytes and request_bytes: 64 B to 256 MiB".into());
        }
        self.keys.check()?;
        self.record_bytes.check(RECORD_BYTES_MAX)?;
        if self.build == Build::Prebuilt && (self.keys != Keys::None || self.record_bytes.fixed().is_none()) {
            return Err("build = \"prebuilt\" needs keys = \"none\" and one record size".into());
        }
        Ok(())
    }
}
