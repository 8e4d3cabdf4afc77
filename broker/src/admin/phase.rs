//! Where the node is in its life, told by shard 0 to the endpoint.

use std::cell::Cell;

/// What `/readyz` goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Not serving yet: directories are opened, logs recovered, the metadata log replayed.
    #[default]
    Starting,
    /// `listening` was said: clients are served.
    Serving,
    /// The stop has begun.
    Stopping,
}

impl Phase {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Serving => "serving",
            Self::Stopping => "stopping",
        }
    }
}

/// As many as a life has, so that telling never waits.
const PHASES: usize = 3;

/// Shard 0's end.
#[derive(Debug)]
pub struct PhaseSender(flume::Sender<Phase>);

impl PhaseSender {
    /// Tells the endpoint; nobody may be there.
    pub fn set(&self, phase: Phase) {
        let _ = self.0.try_send(phase);
    }
}

/// The endpoint's end: the last phase told.
#[derive(Debug)]
pub(super) struct PhaseReceiver {
    news: flume::Receiver<Phase>,
    last: Cell<Phase>,
}

impl PhaseReceiver {
    pub(super) fn now(&self) -> Phase {
        if let Some(phase) = self.news.try_iter().last() {
            self.last.set(phase);
        }
        self.last.get()
    }
}

pub(super) fn phases() -> (PhaseSender, PhaseReceiver) {
    let (sender, news) = flume::bounded(PHASES);
    (PhaseSender(sender), PhaseReceiver { news, last: Cell::default() })
}
