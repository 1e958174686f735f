//! The area that a chart is plotted in: its size, and the scales of its axes.

use super::axis::Scale;
use super::chart::Chart;

/// The longest side of geometry as a multiple of its other side: what is longer fills the area.
const MAX_EQUAL_RATIO: f64 = 4.0;

/// The size of an area and the scales of its axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    /// The horizontal scale.
    pub x: Scale,
    /// The vertical scale.
    pub y: Scale,
    /// The width, in the unit of the sizes that it was made for.
    pub width: f64,
    /// The height, in the same unit.
    pub height: f64,
}

/// The width and the height that an area may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// The size of an area whose axes have nothing to do with each other.
    pub usual: [f64; 2],
    /// The largest size of an area whose axes have the same scale.
    pub most: [f64; 2],
    /// Its smallest size.
    pub least: [f64; 2],
}

impl Area {
    /// Returns the area of a chart, with some margin around the points or with none.
    pub(super) fn of(chart: &Chart, sizes: Sizes, has_margin: bool) -> Area {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let all = [
            Scale::of(&chart.x, points().map(|point| point.0)),
            Scale::of(&chart.y, points().map(|point| point.1)),
        ];
        let [x, y] = if has_margin { all } else { all.map(Scale::without_margin) };
        let ratio = y.span() / x.span();
        let is_square = (1.0 / MAX_EQUAL_RATIO..=MAX_EQUAL_RATIO).contains(&ratio);
        let [width, height] = sizes.usual;
        if !chart.is_geometry || !is_square {
            return Area { x, y, width, height };
        }
        let [most_width, most_height] = sizes.most;
        let [least_width, least_height] = sizes.least;
        let width = (most_height / ratio).min(most_width).max(least_width);
        let height = (most_width * ratio).min(most_height).max(least_height);
        let unit = (x.span() / width).max(y.span() / height);
        Area { x: x.widened(unit * width), y: y.widened(unit * height), width, height }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::plot::chart::Series;

    const SIZES: Sizes = Sizes { usual: [500.0, 300.0], most: [500.0, 400.0], least: [200.0; 2] };

    fn area(points: &[(f64, f64)]) -> Area {
        let series = vec![Series { points: points.to_vec(), ..Series::default() }];
        Area::of(&Chart { series, is_geometry: true, ..Chart::default() }, SIZES, true)
    }

    #[test]
    fn geometry_is_not_distorted() {
        for (right, top) in [(1.0, 1.0), (3.9, 1.0), (1.0, 3.9), (2.0, 1.5), (1e-9, 2e-9)] {
            let Area { x, y, width, height } = area(&[(0.0, 0.0), (right, top)]);
            let ratio = (x.span() / width) / (y.span() / height);
            assert!((ratio - 1.0).abs() < 1e-9, "{right} {top}: {ratio}");
            assert!((200.0..=500.0).contains(&width) && (200.0..=400.0).contains(&height));
            // All points are inside.
            assert!(x.place(0.0) > 0.0 && x.place(right) < 1.0);
            assert!(y.place(0.0) > 0.0 && y.place(top) < 1.0);
        }
    }

    #[test]
    fn what_is_much_longer_than_wide_fills_the_area() {
        for points in [[(0.0, 0.0), (50.0, 2500.0)], [(0.0, 0.0), (9.0, 1.0)]] {
            let Area { width, height, .. } = area(&points);
            assert_eq!([width, height], SIZES.usual);
        }
    }
}
