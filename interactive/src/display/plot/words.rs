//! Charts in words.

use super::axis::short_text;
use super::chart::{Axis, Chart, Mark, Point, Series};
use crate::table::grouped;

/// Returns the chart in words, for those who cannot see it.
pub(super) fn described(chart: &Chart) -> String {
    let own: Vec<&Series> = chart.series.iter().filter(|one| one.mark != Mark::Dashes).collect();
    let count: usize = own.iter().map(|series| series.points.len()).sum();
    let what = match own.first().map(|series| series.mark) {
        Some(Mark::Point) => "dots",
        _ => "points on lines",
    };
    let points = || own.iter().flat_map(|series| &series.points);
    let range = |name: &str, axis: &Axis, of: fn(&Point) -> f64| {
        let low = points().map(of).fold(f64::INFINITY, f64::min);
        let high = points().map(of).fold(f64::NEG_INFINITY, f64::max);
        let name = if axis.title.is_empty() { name } else { &axis.title };
        format!("{name} from {} to {}", short_text(low), short_text(high))
    };
    let mut out = format!("Plot of {} {what}", grouped(count as u64));
    if own.len() > 1 {
        let names: Vec<&str> = own.iter().map(|series| series.name.as_str()).collect();
        out += &format!(" in {} series ({})", own.len(), names.join(", "));
    }
    if count > 0 {
        let (x, y) = (range("x", &chart.x, |point| point.0), range("y", &chart.y, |point| point.1));
        out += &format!("; {x}, {y}");
    }
    out + "."
}
