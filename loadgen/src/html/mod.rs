//! Results as one page: figures, and plots as SVG inside it. No script, nothing from a network: the file can be
//! mailed, kept beside a commit, and opened in ten years.
//!
//! Charts know nothing of brokers: [`line_chart`], [`percentile_chart`] and [`bar_chart`] draw series of numbers;
//! [`comparison_page`] and [`run_page`] say what is drawn.

mod axis;
mod bar_chart;
mod comparison_page;
mod element;
mod line_chart;
mod page;
mod percentile_chart;
mod plot;
mod run_page;
mod series;

#[cfg(test)]
mod tests;

pub use bar_chart::{Bar, BarGroup, bar_chart};
pub use comparison_page::comparison_page;
pub use line_chart::line_chart;
pub use page::Page;
pub use percentile_chart::percentile_chart;
pub use run_page::run_page;
pub use series::Series;
