//! The intended send times of a batch's records.

use hdrhistogram::Histogram;

use crate::engine::note;

/// In ns; a closed loop makes a batch at once.
#[derive(Debug, Clone)]
pub(crate) enum Times {
    Same { ns: u64, records: u32 },
    Each(Vec<u64>),
}

impl Times {
    pub(crate) fn new(ns: u64) -> Self {
        Self::Same { ns, records: 0 }
    }

    pub(crate) fn push(&mut self, ns: u64) {
        match self {
            Self::Same { ns: same, records } if *same == ns || *records == 0 => {
                *same = ns;
                *records += 1;
            }
            Self::Same { ns: same, records } => {
                let mut times = vec![*same; *records as usize];
                times.push(ns);
                *self = Self::Each(times);
            }
            Self::Each(times) => times.push(ns),
        }
    }

    pub(crate) fn len(&self) -> u32 {
        match self {
            Self::Same { records, .. } => *records,
            Self::Each(times) => times.len() as u32,
        }
    }

    pub(crate) fn at(&self, index: usize) -> u64 {
        match self {
            Self::Same { ns, .. } => *ns,
            Self::Each(times) => times[index],
        }
    }

    /// Notes the latency of every record.
    pub(crate) fn note_all(&self, histogram: &mut Histogram<u64>, now_ns: u64) {
        match self {
            Self::Same { ns, records } => note(histogram, *ns, now_ns, u64::from(*records)),
            Self::Each(times) => times.iter().for_each(|ns| note(histogram, *ns, now_ns, 1)),
        }
    }
}
