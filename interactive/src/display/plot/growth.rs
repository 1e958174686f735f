//! The growth of a cost with the size: measured points and the laws fitted to them, on logarithmic axes.

use super::chart::{Axis, Chart, Mark, Point, Series, noted};
use super::forms;
use crate::bundle::Bundle;

/// The points that the line of a law is drawn through.
const LINE_POINTS: usize = 64;

/// Measured costs over sizes.
pub struct Curve<'a> {
    /// The name of what was measured: `work`.
    pub name: &'a str,
    /// The sizes and the costs; those that are not positive cannot be shown.
    pub points: &'a [(f64, f64)],
    /// The law that fits them.
    pub fit: Option<Fit<'a>>,
}

/// A law of growth.
pub struct Fit<'a> {
    /// The law as people write it: `12 n log n`.
    pub name: &'a str,
    /// True if it gives every measurement.
    pub is_exact: bool,
    /// The cost at a size.
    pub cost: &'a dyn Fn(f64) -> f64,
}

/// Returns a plot of costs over sizes, with the laws as dashed lines.
pub fn growth(curves: &[Curve<'_>]) -> Bundle {
    let mut chart = Chart {
        x: Axis { title: "n".to_owned(), is_log: true },
        y: Axis { title: String::new(), is_log: true },
        ..Chart::default()
    };
    if let [curve] = curves {
        chart.y.title = curve.name.to_owned();
    }
    let can_be_shown = |point: &Point| point.0 > 0.0 && point.1 > 0.0;
    let is_finite = |point: &Point| point.0.is_finite() && point.1.is_finite();
    for (colour, curve) in curves.iter().enumerate() {
        let points = curve.points.iter().copied();
        let points: Vec<Point> =
            points.filter(|point| can_be_shown(point) && is_finite(point)).collect();
        let name = match &curve.fit {
            Some(fit) if fit.is_exact => format!("{} = {}", curve.name, fit.name),
            Some(fit) => format!("{} ≈ {}", curve.name, fit.name),
            None => curve.name.to_owned(),
        };
        if let Some(fit) = &curve.fit {
            let sizes = points.iter().map(|point| point.0);
            let (low, high) =
                (sizes.clone().fold(f64::INFINITY, f64::min), sizes.fold(0.0, f64::max));
            let size = |at: usize| low * (high / low).powf(at as f64 / (LINE_POINTS - 1) as f64);
            let line = (0..LINE_POINTS).map(size).map(|n| (n, (fit.cost)(n)));
            let line = line.filter(|point| can_be_shown(point) && is_finite(point)).collect();
            chart.series.push(Series {
                points: line,
                mark: Mark::Dashes,
                colour,
                ..Series::default()
            });
        }
        chart.series.push(Series { name: name.clone(), points, mark: Mark::Point, colour });
        chart.notes.push(name);
    }
    let mut bundle = forms::bundle(&Chart { notes: Vec::new(), ..chart.clone() });
    // The text has no legend, nor any colours.
    bundle.plain = noted(bundle.plain, &chart.notes);
    bundle
}
