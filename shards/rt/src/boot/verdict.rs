//! The outcome of the boot check.

use std::fmt;

/// How one finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// As it should be.
    Ok,
    /// It runs, but not as it should.
    Warn,
    /// It can't run.
    Fail,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Ok => "ok",
            Status::Warn => "WARN",
            Status::Fail => "FAIL",
        })
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub what: String,
    /// How it counts.
    pub status: Status,
    /// What was found, and what to do about it.
    pub text: String,
}

/// All findings; its text form is a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// In the order they were looked at.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Adds a finding.
    pub fn add(&mut self, what: impl Into<String>, status: Status, text: impl Into<String>) {
        self.findings.push(Finding { what: what.into(), status, text: text.into() });
    }

    /// The worst finding.
    pub fn status(&self) -> Status {
        self.findings.iter().map(|finding| finding.status).max().unwrap_or(Status::Ok)
    }

    /// True if the broker can run.
    pub fn is_ok(&self) -> bool {
        self.status() < Status::Fail
    }

    /// What the process should exit with: 0, or [`super::EX_CONFIG`].
    pub fn exit_code(&self) -> i32 {
        if self.is_ok() { 0 } else { super::EX_CONFIG }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|finding| finding.what.len()).max().unwrap_or(0);
        for Finding { what, status, text } in &self.findings {
            writeln!(f, "{status:<4}  {what:<width$}  {text}")?;
        }
        let end = match self.status() {
            Status::Ok => "verdict: this host can run the broker",
            Status::Warn => "verdict: this host can run the broker, with the warnings above",
            Status::Fail => "verdict: this host can't run the broker; see FAIL above",
        };
        writeln!(f, "{end}")
    }
}
