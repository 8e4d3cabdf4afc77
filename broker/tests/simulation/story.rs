//! [`Story`]: what all clients of a run share, and what the checkers are told.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::net::SocketAddr;

use crate::checkers::{AckedRecords, CommittedOffsets, OneOwner, ProducerIds, ReadRecords};

/// One run as its clients know it. Lives outside of the simulated nodes.
pub(crate) struct Story {
    broker: SocketAddr,
    is_ending: Cell<bool>,
    is_shown: bool,
    pub(crate) acked: RefCell<AckedRecords>,
    pub(crate) reads: RefCell<ReadRecords>,
    pub(crate) commits: RefCell<CommittedOffsets>,
    pub(crate) owners: RefCell<OneOwner>,
    pub(crate) producer_ids: RefCell<ProducerIds>,
}

impl Story {
    /// Nothing has happened yet. `RINGLOG_SIM_SHOW` set prints what does.
    pub(crate) fn new(broker: SocketAddr) -> Story {
        let is_shown = std::env::var_os("RINGLOG_SIM_SHOW").is_some();
        if is_shown {
            let filter = tracing_subscriber::EnvFilter::try_from_env("RINGLOG_LOG").unwrap_or_default();
            // The second run of a process finds the first one's.
            let _ = tracing_subscriber::fmt().with_env_filter(filter).without_time().try_init();
        }
        Story {
            broker,
            is_ending: Cell::new(false),
            is_shown,
            acked: RefCell::default(),
            reads: RefCell::default(),
            commits: RefCell::default(),
            owners: RefCell::default(),
            producer_ids: RefCell::default(),
        }
    }

    /// Where the broker listens.
    pub(crate) fn broker(&self) -> SocketAddr {
        self.broker
    }

    /// Whether clients are to come to their end.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.get()
    }

    /// Nothing is disturbed any more: clients finish what they have begun.
    pub(crate) fn end(&self) {
        self.is_ending.set(true);
    }

    /// The node lost power.
    pub(crate) fn power_cut(&self) {
        self.acked.borrow_mut().power_cut();
        self.reads.borrow_mut().power_cut();
    }

    /// Says what happens, if anybody wants to see it.
    pub(crate) fn note(&self, what: fmt::Arguments<'_>) {
        if self.is_shown {
            println!("{what}");
        }
    }
}

/// A number below `bound`, by the seed; within a client only.
pub(crate) fn random(bound: u64) -> u64 {
    rt::random_u64() % bound
}

/// True in `percent` of a hundred cases, by the seed; within a client only.
pub(crate) fn chance(percent: u64) -> bool {
    random(100) < percent
}
