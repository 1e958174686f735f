//! The plot of work and depth over the sizes, with the laws that fit them.

use super::{CostGrowth, Point};
use crate::bundle::Bundle;
use crate::display::plot::{Curve, Fit, growth};
use nesl_engine::cost::{Growth, Sample};

impl CostGrowth {
    /// Returns the plot of the points, and of the laws as dashed lines.
    pub fn plot(&self) -> Bundle {
        let points = |of: fn(&Point) -> Sample| -> Vec<(f64, f64)> {
            self.points.iter().map(|point| (point.n as f64, of(point).value)).collect()
        };
        let (work, depth) = (points(|point| point.work), points(|point| point.depth));
        let name = |growth: &Growth| match growth {
            Growth::Law(law) => law.to_string(),
            Growth::TooFewSizes | Growth::NoLaw => String::new(),
        };
        let names = [name(&self.work), name(&self.depth)];
        let at = |growth: &Growth, n: f64| match growth {
            Growth::Law(law) => law.at(n),
            Growth::TooFewSizes | Growth::NoLaw => f64::NAN,
        };
        let (work_at, depth_at) = (|n: f64| at(&self.work, n), |n: f64| at(&self.depth, n));
        growth(&[
            Curve { name: "work", points: &work, fit: fit(&self.work, &names[0], &work_at) },
            Curve { name: "depth", points: &depth, fit: fit(&self.depth, &names[1], &depth_at) },
        ])
    }
}

/// Returns a law for a plot, if one was found.
fn fit<'a>(growth: &Growth, name: &'a str, cost: &'a dyn Fn(f64) -> f64) -> Option<Fit<'a>> {
    match growth {
        Growth::Law(law) => Some(Fit { name, is_exact: law.is_exact(), cost }),
        Growth::TooFewSizes | Growth::NoLaw => None,
    }
}
