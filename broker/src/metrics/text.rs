//! [`TextWriter`]: Prometheus' text format, version 0.0.4.

use std::fmt::{Display, Write};

use rt::{TIME_BOUNDS_NS, TimeCounts};

use super::family::{Family, Kind};

const NS_PER_S: f64 = 1e9;

/// Writes families one after the other, each with its samples.
#[derive(Debug, Default)]
pub(super) struct TextWriter {
    out: String,
    family: Option<&'static Family>,
}

impl TextWriter {
    /// Begins a family; what follows are its samples.
    pub(super) fn family(&mut self, family: &'static Family) {
        self.family = Some(family);
        let Family { name, kind, help, .. } = family;
        self.push(format_args!("# HELP {name} {help}\n# TYPE {name} {}\n", kind.name()));
    }

    /// One sample of a counter or gauge.
    ///
    /// # Panics
    /// Before a family, or with another number of labels than the family's.
    pub(super) fn sample(&mut self, labels: &[&str], value: impl Display) {
        let family = self.current(labels);
        assert!(family.kind != Kind::Histogram, "{} is a histogram", family.name);
        self.line(family.name, "", labels, None, value);
    }

    /// One series of a histogram.
    ///
    /// # Panics
    /// As of [`Self::sample`].
    pub(super) fn histogram(&mut self, labels: &[&str], counts: &TimeCounts) {
        let family = self.current(labels);
        assert!(family.kind == Kind::Histogram, "{} is no histogram", family.name);
        let mut total = 0;
        for (bucket, count) in counts.buckets.iter().enumerate() {
            total += count;
            let bound = TIME_BOUNDS_NS.get(bucket);
            let bound = bound.map_or("+Inf".into(), |ns| (*ns as f64 / NS_PER_S).to_string());
            self.line(family.name, "_bucket", labels, Some(&bound), total);
        }
        self.line(family.name, "_sum", labels, None, counts.sum_ns as f64 / NS_PER_S);
        self.line(family.name, "_count", labels, None, total);
    }

    /// All that was written.
    pub(super) fn finish(self) -> String {
        self.out
    }

    fn current(&self, labels: &[&str]) -> &'static Family {
        let Some(family) = self.family else { panic!("a sample before its family") };
        assert_eq!(labels.len(), family.labels.len(), "labels of {}", family.name);
        family
    }

    fn line(&mut self, name: &str, suffix: &str, labels: &[&str], bound: Option<&str>, value: impl Display) {
        self.out.push_str(name);
        self.out.push_str(suffix);
        let names = self.family.map_or(&[] as &[&str], |family| family.labels);
        let pairs = names.iter().zip(labels).chain(bound.as_ref().map(|bound| (&"le", bound)));
        let mut open = '{';
        for (label, value) in pairs {
            self.out.push(open);
            open = ',';
            self.out.push_str(label);
            self.out.push_str("=\"");
            self.escaped(value);
            self.out.push('"');
        }
        if open == ',' {
            self.out.push('}');
        }
        self.push(format_args!(" {value}\n"));
    }

    fn escaped(&mut self, value: &str) {
        for c in value.chars() {
            match c {
                '\\' => self.out.push_str("\\\\"),
                '"' => self.out.push_str("\\\""),
                '\n' => self.out.push_str("\\n"),
                c => self.out.push(c),
            }
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String doesn't fail.
        let _ = self.out.write_fmt(text);
    }
}
