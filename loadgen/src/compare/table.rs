//! The comparison as text.

use std::fmt::Write;

use super::metric::figure;
use super::{Comparison, Line, Summary};

/// Width of the first column, and of each of the two sides.
const LABEL: usize = 28;
const SIDE: usize = 34;

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b] = &self.targets;
        writeln!(
            f,
            "{} ({}), medians of {} rounds, lowest to highest in brackets",
            self.suite, self.scale, self.rounds
        )?;
        writeln!(f, "{}", self.machine)?;
        for target in &self.targets {
            writeln!(f, "{}: {}", target.name, target.what)?;
        }
        let ratio = format!("{}/{}", b.name, a.name);
        for line in &self.lines {
            let mut text = String::new();
            write_line(&mut text, line)?;
            writeln!(f, "\n{:LABEL$} {:SIDE$} {:SIDE$} {ratio}", cut(&line.name, LABEL), a.name, b.name)?;
            f.write_str(&text)?;
        }
        if let Some(why) = &self.syscalls_not_counted {
            writeln!(f, "\nsystem calls: not measured: {why}")?;
        }
        if self.rounds < 5 {
            writeln!(f, "\nfewer than five rounds: for a look, not to be quoted")?;
        }
        Ok(())
    }
}

fn write_line(text: &mut String, line: &Line) -> std::fmt::Result {
    if let Some(why) = &line.not_run {
        writeln!(text, "  not run: {why}")?;
    }
    for row in &line.rows {
        let [a, b] = &row.sides;
        let ratio = row.ratio().map_or("-".into(), |ratio| format!("{} x", figure(ratio)));
        let label = row.metric.label();
        writeln!(text, "  {label:26} {:SIDE$} {:SIDE$} {ratio}", side(a.as_ref()), side(b.as_ref()))?;
    }
    if let Some(rate) = line.msgs_per_s_2014 {
        writeln!(text, "  {:26} {}", "msg/s in 2014", figure(rate))?;
    }
    Ok(())
}

fn side(summary: Option<&Summary>) -> String {
    let Some(Summary { median, min, max, values }) = summary else { return "not measured".into() };
    if values.len() == 1 {
        return figure(*median);
    }
    format!("{} ({} to {})", figure(*median), figure(*min), figure(*max))
}

fn cut(text: &str, len: usize) -> String {
    // A name that is too long moves the columns; one that is cut hides what was run.
    if text.chars().count() <= len { text.to_owned() } else { format!("{text}\n{:len$}", "") }
}
