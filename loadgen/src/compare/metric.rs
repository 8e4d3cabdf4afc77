//! The figures that two brokers are compared by.

use serde::{Deserialize, Serialize};

/// One kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Messages acknowledged or received in a second.
    MessagesPerS,
    /// Payload in MB (10^6 bytes) in a second.
    MegabytesPerS,
    /// Latency that half of the messages stay under, in ms.
    P50Ms,
    /// Latency that 99 % stay under, in ms.
    P99Ms,
    /// Latency that 99.9 % stay under, in ms.
    P999Ms,
    /// The broker's user and system time in s for each GB (10^9 bytes) of payload.
    CpuSPerGb,
    /// The broker's resident memory at the end of the line, in MiB.
    RssMib,
    /// The broker's context switches for each 1,000 messages.
    SwitchesPerThousand,
    /// Bytes the broker had stored for each byte of payload.
    WrittenPerByte,
    /// The broker's system calls for each 1,000 messages.
    SyscallsPerThousand,
}

/// Which way a figure is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Metric {
    /// All, in the order of a table's rows.
    pub const ALL: [Metric; 10] = [
        Metric::MessagesPerS,
        Metric::MegabytesPerS,
        Metric::P50Ms,
        Metric::P99Ms,
        Metric::P999Ms,
        Metric::CpuSPerGb,
        Metric::RssMib,
        Metric::SwitchesPerThousand,
        Metric::WrittenPerByte,
        Metric::SyscallsPerThousand,
    ];

    /// Its name with its unit.
    pub fn label(self) -> &'static str {
        match self {
            Metric::MessagesPerS => "msg/s",
            Metric::MegabytesPerS => "MB/s",
            Metric::P50Ms => "p50 ms",
            Metric::P99Ms => "p99 ms",
            Metric::P999Ms => "p99.9 ms",
            Metric::CpuSPerGb => "broker CPU s/GB",
            Metric::RssMib => "broker RSS MiB",
            Metric::SwitchesPerThousand => "context switches/1,000 msg",
            Metric::WrittenPerByte => "bytes written/byte",
            Metric::SyscallsPerThousand => "system calls/1,000 msg",
        }
    }

    /// Which way it is good.
    pub fn better(self) -> Better {
        match self {
            Metric::MessagesPerS | Metric::MegabytesPerS => Better::Higher,
            _ => Better::Lower,
        }
    }
}

/// A figure with about three digits that mean something, and commas between thousands.
pub(crate) fn figure(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".into();
    }
    if size >= 100.0 || value == 0.0 {
        return thousands(value.round());
    }
    let digits = if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$}")
}

fn thousands(whole: f64) -> String {
    let digits = format!("{:.0}", whole.abs());
    let mut text = String::from(if whole < 0.0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
