//! A name and its lines.

use serde::Serialize;

use super::{Line, Scale};
use crate::LoadError;

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

    /// Keeps the lines whose name contains `part`, in any case.
    ///
    /// # Errors
    /// `Usage`, if none does.
    pub fn filtered(mut self, part: &str) -> Result<Self, LoadError> {
        let part = part.to_lowercase();
        self.lines.retain(|line| line.name.to_lowercase().contains(&part));
        if self.lines.is_empty() {
            return Err(LoadError::Usage(format!("{} has no line with {part:?} in its name", self.name)));
        }
        Ok(self)
    }

    /// Checks what types can't say.
    ///
    /// # Errors
    /// `Usage`, naming the line and the field.
    pub fn check(&self) -> Result<(), LoadError> {
        self.lines.iter().try_for_each(|line| {
            line.check()
                .map_err(|why| LoadError::Usage(format!("{}, line {:?}: {why}", self.name, line.name)))
        })
    }
}
