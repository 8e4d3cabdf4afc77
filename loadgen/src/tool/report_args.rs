//! `ringlog-loadgen report`: a page from a JSON file.

use std::path::PathBuf;

use clap::Args;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::LoadError;
use crate::html::{comparison_page, run_page};
use crate::process::{read_text, write_text};

/// What to draw, and where to.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// A result of `--json`: of a comparison, or of a run
    #[arg(value_name = "FILE.json")]
    pub json: PathBuf,
    /// The page to write
    #[arg(value_name = "FILE.html")]
    pub html: PathBuf,
}

impl ReportArgs {
    /// Writes the page.
    ///
    /// # Errors
    /// The file can't be read, or is no result.
    pub fn draw(&self) -> Result<(), LoadError> {
        let text = read_text(&self.json)?;
        let value: Value = self.parsed(serde_json::from_str(&text))?;
        // Only a comparison has two targets.
        let page = if value.get("targets").is_some() {
            comparison_page(&self.read(value)?)
        } else {
            run_page(&self.read(value)?)
        };
        Ok(write_text(&self.html, &page)?)
    }

    fn read<T: DeserializeOwned>(&self, value: Value) -> Result<T, LoadError> {
        self.parsed(serde_json::from_value(value))
    }

    fn parsed<T>(&self, outcome: serde_json::Result<T>) -> Result<T, LoadError> {
        outcome.map_err(|error| LoadError::Usage(format!("{} is no result: {error}", self.json.display())))
    }
}
