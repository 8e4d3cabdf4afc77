//! The frame that line charts share: grid, axes, lines, legend.

use super::axis::Axis;
use super::element::{escape, line, short, text};
use super::series::Series;

/// Size of a chart in its own units; the page scales it.
pub(super) const WIDTH: f64 = 560.0;
pub(super) const HEIGHT: f64 = 280.0;
/// What lies around the plot: names of values, the axis's own name, the legend.
pub(super) const LEFT: f64 = 58.0;
pub(super) const RIGHT: f64 = 28.0;
pub(super) const TOP: f64 = 34.0;
pub(super) const BOTTOM: f64 = 44.0;

/// A chart of lines.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    /// What it is, for those who can't see it.
    pub(super) title: &'a str,
    /// Name and unit of the y axis.
    pub(super) y_name: &'a str,
    /// Name and unit of the x axis.
    pub(super) x_name: &'a str,
    /// The y axis.
    pub(super) y: Axis,
    /// Places on the x axis, 0 to 1, with their names.
    pub(super) x_ticks: Vec<(f64, String)>,
}

impl Plot<'_> {
    /// Draws lines whose x is a share of the axis already.
    pub(super) fn draw(&self, series: &[Series]) -> String {
        let mut svg =
            format!(r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{}">"#, escape(self.title));
        self.grid(&mut svg);
        for one in series {
            self.line(&mut svg, one);
        }
        svg.push_str(&legend(series));
        svg.push_str("</svg>");
        svg
    }

    fn grid(&self, svg: &mut String) {
        let bottom = HEIGHT - BOTTOM;
        for tick in self.y.ticks() {
            let y = y_at(self.y.share(*tick));
            svg.push_str(&line((LEFT, y), (WIDTH - RIGHT, y), "grid"));
            svg.push_str(&text(LEFT - 8.0, y + 4.0, "end", "tick", &short(*tick)));
        }
        for (share, name) in &self.x_ticks {
            let x = x_at(*share);
            svg.push_str(&line((x, bottom), (x, bottom + 5.0), "axis"));
            svg.push_str(&text(x, bottom + 19.0, "middle", "tick", name));
        }
        svg.push_str(&line((LEFT, bottom), (WIDTH - RIGHT, bottom), "axis"));
        svg.push_str(&text(LEFT - 48.0, 16.0, "start", "name", self.y_name));
        svg.push_str(&text(WIDTH - RIGHT, HEIGHT - 6.0, "end", "name", self.x_name));
    }

    fn line(&self, svg: &mut String, series: &Series) {
        let places: Vec<(f64, f64)> =
            series.finite().map(|(x, y)| (x_at(x), y_at(self.y.share(y)))).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let colour = series.colour;
        svg.push_str(&format!(r#"<polyline points="{}" class="line c{colour}"/>"#, path.join(" ")));
        // Few points are marked: between them nothing was measured.
        if places.len() <= 40 {
            for ((x, y), (_, value)) in places.iter().zip(series.finite()) {
                let what = format!("{}: {}", series.name, crate::compare::figure(value));
                svg.push_str(&format!(
                    r#"<circle cx="{x:.1}" cy="{y:.1}" r="2.5" class="dot c{colour}"><title>{}</title></circle>"#,
                    escape(&what)
                ));
            }
        }
    }
}

fn x_at(share: f64) -> f64 {
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

fn y_at(share: f64) -> f64 {
    HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
}

/// Names of the lines, from the right edge to the left, in the order of the series.
fn legend(series: &[Series]) -> String {
    let mut out = String::new();
    let mut right = WIDTH - RIGHT;
    for one in series.iter().rev() {
        // A sign is about 6.6 wide at this size; room for a wide one.
        let width = one.name.chars().count() as f64 * 7.0;
        out.push_str(&text(right, 16.0, "end", "legend", &one.name));
        let x = right - width - 18.0;
        out.push_str(&line((x, 12.0), (x + 13.0, 12.0), &format!("line c{}", one.colour)));
        right = x - 16.0;
    }
    out
}
