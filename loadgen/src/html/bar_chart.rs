//! Two brokers' figures side by side.

use super::axis::Axis;
use super::element::{escape, line, short, text};

/// One bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// Whose it is.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Lowest and highest of the rounds.
    pub range: Option<(f64, f64)>,
    /// What is written at its end.
    pub label: String,
}

/// The bars of one line of a suite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarGroup {
    /// Its name.
    pub name: String,
    /// One a broker, in the order of the colours; `None` where nothing was measured.
    pub bars: Vec<Option<Bar>>,
    /// What is written at the right edge.
    pub remark: String,
    /// How the remark is shown: `good`, `bad`, or empty.
    pub class: &'static str,
}

const WIDTH: f64 = 900.0;
const NAMES: f64 = 270.0;
const LABELS: f64 = 86.0;
const REMARKS: f64 = 78.0;
const BAR: f64 = 17.0;
const GAP: f64 = 16.0;
const AXIS: f64 = 30.0;
/// Signs of a group's name on one line.
const NAME_SIGNS: usize = 40;

/// Horizontal bars in groups, with whiskers from the lowest to the highest round.
pub fn bar_chart(title: &str, groups: &[BarGroup]) -> String {
    let ends = groups.iter().flat_map(|group| group.bars.iter().flatten());
    let x = Axis::linear(ends.map(|bar| bar.range.map_or(bar.value, |(_, high)| high.max(bar.value))), 5);
    let heights: Vec<f64> = groups.iter().map(|group| group.bars.len() as f64 * BAR + GAP).collect();
    let bottom: f64 = heights.iter().sum();
    let height = bottom + AXIS;
    let mut svg =
        format!(r#"<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{}">"#, escape(title));
    for tick in x.ticks() {
        let at = x_at(&x, *tick);
        svg.push_str(&line((at, 0.0), (at, bottom), "grid"));
        svg.push_str(&text(at, bottom + 16.0, "middle", "tick", &short(*tick)));
    }
    svg.push_str(&line((NAMES, 0.0), (NAMES, bottom), "axis"));
    let mut top = GAP / 2.0;
    for (group, height) in groups.iter().zip(&heights) {
        svg.push_str(&draw_group(group, top, &x));
        top += height;
    }
    svg.push_str("</svg>");
    svg
}

fn x_at(x: &Axis, value: f64) -> f64 {
    NAMES + x.share(value) * (WIDTH - NAMES - LABELS - REMARKS)
}

fn draw_group(group: &BarGroup, top: f64, x: &Axis) -> String {
    let middle = top + group.bars.len() as f64 * BAR / 2.0;
    let mut svg = String::new();
    let names = wrap(&group.name);
    for (at, name) in names.iter().enumerate() {
        let y = middle + 4.0 + (at as f64 - (names.len() - 1) as f64 / 2.0) * 14.0;
        svg.push_str(&text(NAMES - 10.0, y, "end", "label", name));
    }
    for (colour, bar) in group.bars.iter().enumerate() {
        let y = top + colour as f64 * BAR;
        match bar {
            Some(bar) => svg.push_str(&draw_bar(bar, colour, y, x)),
            None => svg.push_str(&text(NAMES + 6.0, y + 11.5, "start", "tick", "not measured")),
        }
    }
    let class = format!("remark {}", group.class);
    svg.push_str(&text(WIDTH - 4.0, middle + 5.0, "end", &class, &group.remark));
    svg
}

fn draw_bar(bar: &Bar, colour: usize, y: f64, x: &Axis) -> String {
    let end = x_at(x, bar.value);
    let (width, height) = ((end - NAMES).max(1.0), BAR - 3.0);
    let what = escape(&format!("{}: {}", bar.name, bar.label));
    let mut svg = format!(
        r#"<rect x="{NAMES}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="1.5" class="bar c{colour}"><title>{what}</title></rect>"#
    );
    let mut right = end;
    if let Some((low, high)) = bar.range {
        let (low, high, middle) = (x_at(x, low), x_at(x, high), y + height / 2.0);
        svg.push_str(&line((low, middle), (high, middle), "whisker"));
        for at in [low, high] {
            svg.push_str(&line((at, middle - 3.0), (at, middle + 3.0), "whisker"));
        }
        right = right.max(high);
    }
    svg.push_str(&text(right + 6.0, y + 11.5, "start", "value", &bar.label));
    svg
}

/// A long name on two lines, broken at a space.
fn wrap(name: &str) -> Vec<String> {
    if name.chars().count() <= NAME_SIGNS {
        return vec![name.to_owned()];
    }
    let middle = name.len() / 2;
    let spaces = name.match_indices(' ').map(|(at, _)| at);
    match spaces.min_by_key(|at| at.abs_diff(middle)) {
        Some(at) => vec![name[..at].to_owned(), name[at + 1..].to_owned()],
        None => vec![name.to_owned()],
    }
}
