//! [`Family`]: one metric and all that is known about it.

/// How the samples of a family are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Grows until the process ends.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts in buckets of [`rt::TIME_BOUNDS_NS`], cumulated, with their sum in seconds.
    Histogram,
}

impl Kind {
    /// Prometheus' word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One metric. Its row in docs/metrics.md is made of the same texts.
#[derive(Debug)]
pub struct Family {
    /// Prometheus' name.
    pub name: &'static str,
    /// How it is read.
    pub kind: Kind,
    /// Names of its labels, in the order of the values given.
    pub labels: &'static [&'static str],
    /// What is counted.
    pub unit: &'static str,
    /// What it means, one line.
    pub help: &'static str,
    /// Kafka's metric that tells the same or most of it; empty if there is none.
    pub kafka: &'static str,
}

/// Declares families, one item each, and `ALL` of them in order.
macro_rules! families {
    ($($item:ident $kind:ident $name:literal [$($label:literal),*] $unit:literal, $help:literal, $kafka:literal;)*) => {
        $(pub(super) static $item: Family = Family {
            name: $name,
            kind: Kind::$kind,
            labels: &[$($label),*],
            unit: $unit,
            help: $help,
            kafka: $kafka,
        };)*

        /// Every family, in the order of the text.
        pub static ALL: &[&Family] = &[$(&$item),*];
    };
}

pub(super) use families;
