//! What a chart draws a line of.

/// One line of a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Which of the page's colours: 0 for A, 1 for B, and two more.
    pub colour: usize,
    /// Points by ascending x.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// The points that can be drawn.
    pub(super) fn finite(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
    }
}
