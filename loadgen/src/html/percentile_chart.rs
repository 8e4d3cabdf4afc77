//! Latencies by percentile.

use super::axis::Axis;
use super::plot::Plot;
use super::series::Series;

/// The percentiles that are named, each a nine further out.
const NAMED: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// Lines of latency in ms over percentiles (0 to 100). Each further nine gets the same room, because the rare
/// long waits are what the plot is about; points beyond the last named percentile are left out.
pub fn percentile_chart(title: &str, series: &[Series]) -> String {
    let last = nines(NAMED[NAMED.len() - 1]);
    let placed: Vec<Series> = series
        .iter()
        .map(|one| {
            let points = one.finite().filter(|(percentile, _)| (0.0..100.0).contains(percentile));
            let points = points.map(|(percentile, ms)| (nines(percentile) / last, ms));
            Series { points: points.filter(|(x, _)| *x <= 1.0 + 1e-9).collect(), ..one.clone() }
        })
        .collect();
    let values = placed.iter().flat_map(|one| one.points.iter().map(|(_, y)| *y)).collect::<Vec<_>>();
    let y = Axis::fitting(values.iter().copied(), 4);
    let x_ticks =
        NAMED.iter().map(|percentile| (nines(*percentile) / last, format!("p{percentile}"))).collect();
    Plot { title, y_name: "ms", x_name: "percentile", y, x_ticks }.draw(&placed)
}

/// How many nines a percentile has: 0 for the shortest, 1 for p90, 2 for p99.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}
