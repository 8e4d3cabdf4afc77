//! A name and its lines.

use serde::Serialize;

use super::{Line, Scale};
use crate::LoadError;
use crate::result::{LineResult, Outcome};

/// A named list of loads, run one after the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scenario {
    /// Short name, as of its file.
    pub name: String,
    /// What it is for, a sentence.
    pub about: String,
    /// What is run, in this order.
    pub lines: Vec<Line>,
    /// How far it has been shrunk; 1 is full size.
    pub scale: f64,
}

impl Scenario {
    /// A scenario of one line.
    pub fn of_line(line: Line) -> Self {
        Self { name: line.name.clone(), about: String::new(), lines: vec![line], scale: 1.0 }
    }

    /// Shrinks every line.
    pub fn scaled(mut self, scale: Scale) -> Self {
        self.scale *= scale.factor();
        for line in &mut self.lines {
            scale.shrink(line);
        }
        self
    }

    /// Keeps the lines whose name contains `part`, in any case, and those whose rate they need.
    ///
    /// # Errors
    /// `Usage`, if none does.
    pub fn filtered(mut self, part: &str) -> Result<Self, LoadError> {
        let part = part.to_lowercase();
        let chosen = |line: &Line| line.name.to_lowercase().contains(&part);
        let rates = self.lines.iter().filter(|line| chosen(line)).filter_map(|line| line.rate_of.as_ref());
        let needed: Vec<String> = rates.map(|rate_of| rate_of.line.clone()).collect();
        self.lines.retain(|line| chosen(line) || needed.contains(&line.name));
        if self.lines.is_empty() {
            return Err(LoadError::Usage(format!("{} has no line with {part:?} in its name", self.name)));
        }
        Ok(self)
    }

    /// Turns `rate_of` into a rate wherever `results` has the line it names, and has it done.
    pub fn settle_rates(&mut self, results: &[LineResult]) {
        for line in &mut self.lines {
            let (Some(rate_of), Some(produce)) = (&line.rate_of, &mut line.produce) else { continue };
            let reached =
                results.iter().find(|result| result.name == rate_of.line && result.outcome == Outcome::Done);
            let flow = reached.and_then(|result| result.produced.as_ref());
            if let Some(flow) = flow.filter(|flow| flow.records_per_s > 0.0) {
                produce.rate_per_s = (flow.records_per_s * rate_of.share).round().max(1.0);
                line.rate_of = None;
            }
        }
    }

    /// Checks what types can't say.
    ///
    /// # Errors
    /// `Usage`, naming the line and the field.
    pub fn check(&self) -> Result<(), LoadError> {
        for (at, line) in self.lines.iter().enumerate() {
            line.check()
                .and_then(|()| self.check_rate_of(at, line))
                .map_err(|why| LoadError::Usage(format!("{}, line {:?}: {why}", self.name, line.name)))?;
        }
        Ok(())
    }

    fn check_rate_of(&self, at: usize, line: &Line) -> Result<(), String> {
        let Some(rate_of) = &line.rate_of else { return Ok(()) };
        let decides = |earlier: &Line| {
            earlier.name == rate_of.line && earlier.produce.is_some() && earlier.rate_of.is_none()
        };
        if self.lines.iter().take(at).any(decides) {
            Ok(())
        } else {
            let what = "no line before it has this name, produces, and has a rate of its own";
            Err(format!("rate_of.line {:?}: {what}", rate_of.line))
        }
    }
}
