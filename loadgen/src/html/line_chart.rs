//! Something over time.

use super::axis::Axis;
use super::element::short;
use super::plot::Plot;
use super::series::Series;

/// Lines over seconds from the start, from 0 upwards: a rate that halves must look so.
pub fn line_chart(title: &str, y_name: &str, series: &[Series]) -> String {
    let y = Axis::linear(series.iter().flat_map(|one| one.finite().map(|(_, y)| y)), 4);
    let x = Axis::linear(series.iter().flat_map(|one| one.finite().map(|(x, _)| x)), 6);
    let x_ticks = x.ticks().iter().map(|tick| (x.share(*tick), short(*tick))).collect();
    let placed: Vec<Series> = series
        .iter()
        .map(|one| Series { points: one.finite().map(|(at, y)| (x.share(at), y)).collect(), ..one.clone() })
        .collect();
    Plot { title, y_name, x_name: "seconds", y, x_ticks }.draw(&placed)
}
