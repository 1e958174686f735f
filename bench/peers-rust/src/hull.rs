//! The convex hull of points in the plane.

use crate::data::{Parameters, tabulate, unit};
use crate::{Run, program};
use rayon::prelude::*;
use std::f64::consts::PI;

type Point = (f64, f64);

/// Fewer points than this are processed by one thread.
const GRAIN: usize = 1 << 14;

/// Computes the convex hull by quickhull, clockwise from the leftmost point.
pub fn quickhull(parameters: &Parameters) -> Run {
    let points: Vec<Point> = tabulate(parameters.get("n"), |i| {
        let (angle, radius) = (2.0 * PI * unit(2 * i), unit(2 * i + 1).sqrt());
        (radius * angle.cos(), radius * angle.sin())
    });
    let hull = move || -> Vec<Point> {
        let by_x = |a: &&Point, b: &&Point| a.0.total_cmp(&b.0);
        let west = *points.par_iter().min_by(by_x).expect("there are points");
        let east = *points.par_iter().max_by(by_x).expect("there are points");
        let (mut upper, lower) =
            rayon::join(|| chain(&points, west, east), || chain(&points, east, west));
        upper.extend(lower);
        upper
    };
    program(hull, |hull| {
        let (x, y) = hull.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0.abs(), y + p.1.abs()));
        vec![hull.len() as f64, x, y]
    })
}

/// Computes the part of the hull from `a` to `b`, excluding `b`, to the left of the line from `a` to `b`.
fn chain(points: &[Point], a: Point, b: Point) -> Vec<Point> {
    let area = |p: &Point| (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0);
    let left: Vec<Point> = if points.len() < GRAIN {
        points.iter().filter(|p| area(p) > 0.0).copied().collect()
    } else {
        points.par_iter().filter(|p| area(p) > 0.0).copied().collect()
    };
    let by_area = |p: &&Point, q: &&Point| area(p).total_cmp(&area(q));
    let far = if left.len() < GRAIN {
        left.iter().max_by(by_area)
    } else {
        left.par_iter().max_by(by_area)
    };
    let Some(&far) = far else { return vec![a] };
    let (mut first, second) = if left.len() < GRAIN {
        (chain(&left, a, far), chain(&left, far, b))
    } else {
        rayon::join(|| chain(&left, a, far), || chain(&left, far, b))
    };
    first.extend(second);
    first
}
