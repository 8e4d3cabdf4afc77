//! Axes and charts by their numbers.

use crate::html::axis::Axis;
use crate::html::element::{escape, short};
use crate::html::{Bar, BarGroup, Series, bar_chart, line_chart, percentile_chart};

fn attributes(svg: &str, element: &str, name: &str) -> Vec<String> {
    let start = format!("<{element}");
    let name = format!(" {name}=\"");
    svg.split(&start)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(&name)?.1.split_once('"')?.0.to_owned()))
        .collect()
}

#[test]
fn straight_axes_begin_at_zero_and_end_above_all() {
    let axis = Axis::linear([3.0, 87.0, 41.0].into_iter(), 5);
    assert_eq!(axis, Axis::Linear { max: 100.0, ticks: vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0] });
    assert_eq!((axis.share(0.0), axis.share(50.0), axis.share(1e9)), (0.0, 0.5, 1.0));
    let empty = Axis::linear(std::iter::empty(), 4);
    assert!(empty.ticks().len() > 1 && empty.share(0.0) == 0.0);
    for largest in [1e-3, 0.7, 1.0, 999.0, 1e7] {
        let axis = Axis::linear([largest].into_iter(), 5);
        assert!((3..=8).contains(&axis.ticks().len()), "{axis:?}");
        assert!(axis.share(largest) > 0.5 && axis.ticks().last().unwrap() * 1.0001 >= largest, "{axis:?}");
    }
}

#[test]
fn values_far_apart_get_a_logarithm() {
    let axis = Axis::fitting([0.3, 2.0, 450.0].into_iter(), 4);
    let Axis::Log { min, max, ticks } = &axis else { panic!("{axis:?}") };
    assert!((min - 0.1).abs() < 1e-9 && (max - 1000.0).abs() < 1e-6, "{axis:?}");
    assert!(ticks.is_sorted() && ticks.len() >= 4, "{ticks:?}");
    assert!((axis.share(10.0) - 0.5).abs() < 1e-6);
    assert_eq!(axis.share(0.0), 0.0, "what has no logarithm lies at the edge");
    assert!(matches!(Axis::fitting([2.0, 9.0].into_iter(), 4), Axis::Linear { .. }));
}

#[test]
fn numbers_are_short_and_text_is_escaped() {
    let shown = [1_200_000.0, 400_000.0, 0.05, 12.5, 0.0, 250.0, 2e9].map(short);
    assert_eq!(shown, ["1.2M", "400k", "0.05", "12.5", "0", "250", "2G"]);
    assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}

#[test]
fn a_line_goes_through_its_points() {
    let series = [
        Series {
            name: "a".into(),
            colour: 0,
            points: vec![(0.0, 0.0), (5.0, 100.0), (10.0, f64::NAN), (10.0, 50.0)],
        },
        Series { name: "b <x>".into(), colour: 1, points: vec![(0.0, 10.0)] },
    ];
    let svg = line_chart("over time", "msg/s", &series);
    let lines = attributes(&svg, "polyline", "points");
    assert_eq!(lines.len(), 2);
    let first: Vec<(f64, f64)> = lines[0]
        .split(' ')
        .map(|pair| pair.split_once(',').unwrap())
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    assert_eq!(first.len(), 3, "what is no number isn't drawn");
    assert!(first[0].0 < first[1].0 && first[1].0 < first[2].0);
    // Up is less in an SVG: 0 lies lowest, 50 half way to 100.
    assert!(first[1].1 < first[2].1 && first[2].1 < first[0].1);
    assert!((first[0].1 + first[1].1 - 2.0 * first[2].1).abs() < 0.3, "{first:?}");
    assert!(svg.contains("b &lt;x&gt;") && !svg.contains("<x>") && !svg.contains("NaN"));
}

#[test]
fn each_nine_gets_the_same_room() {
    let points = vec![(0.0, 1.0), (90.0, 2.0), (99.0, 3.0), (99.9, 4.0), (99.999, 9.0), (100.0, 10.0)];
    let svg = percentile_chart("latency", &[Series { name: "a".into(), colour: 0, points }]);
    let line = attributes(&svg, "polyline", "points").remove(0);
    let xs: Vec<f64> = line.split(' ').map(|pair| pair.split_once(',').unwrap().0.parse().unwrap()).collect();
    assert_eq!(xs.len(), 4, "what lies beyond p99.99 is left out");
    let steps: Vec<f64> = xs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps.iter().all(|step| (step - steps[0]).abs() < 0.3), "{steps:?}");
    for named in ["p50", "p90", "p99", "p99.9", "p99.99"] {
        assert!(svg.contains(&format!(">{named}</text>")), "{named}");
    }
}

#[test]
fn bars_are_as_long_as_their_values() {
    let bar = |value, range| Some(Bar { name: "k".into(), value, range, label: format!("{value}") });
    let groups = [
        BarGroup {
            name: "one producer".into(),
            bars: vec![bar(50.0, None), bar(100.0, Some((90.0, 110.0)))],
            remark: "2 x".into(),
            class: "good",
        },
        BarGroup {
            name: "n".repeat(30) + " " + &"m".repeat(30),
            bars: vec![bar(0.0, None), None],
            ..BarGroup::default()
        },
    ];
    let svg = bar_chart("rates", &groups);
    let widths: Vec<f64> =
        attributes(&svg, "rect", "width").iter().map(|width| width.parse().unwrap()).collect();
    assert_eq!(widths.len(), 3);
    assert!((widths[1] - 2.0 * widths[0]).abs() < 0.3 && widths[2] == 1.0, "{widths:?}");
    assert_eq!(svg.matches("class=\"whisker\"").count(), 3, "a whisker and its two ends");
    assert!(svg.contains(">2 x</text>") && svg.contains("remark good") && svg.contains("not measured"));
    assert!(svg.contains(&format!(">{}</text>", "m".repeat(30))), "a long name takes two lines");
}
