//! The Barnes-Hut simulation of gravity.

use crate::data::{Parameters, tabulate, unit};
use crate::{Run, program};
use rayon::prelude::*;

#[derive(Clone, Copy)]
struct Body {
    x: f64,
    y: f64,
    mass: f64,
}

/// A square of the quadtree with its bodies.
enum Tree {
    Few(Vec<Body>),
    Many { centre: Body, side: f64, parts: Vec<Tree> },
}

/// Computes the accelerations of all bodies.
pub fn barnes_hut(parameters: &Parameters) -> Run {
    let bodies = tabulate(parameters.get("n"), |i| Body {
        x: unit(3 * i),
        y: unit(3 * i + 1),
        mass: 0.5 + unit(3 * i + 2),
    });
    let accelerations = move || -> Vec<(f64, f64)> {
        let bounds = |of: fn(&Body) -> f64| {
            let values = bodies.iter().map(of);
            values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)))
        };
        let ((left, right), (low, high)) = (bounds(|b| b.x), bounds(|b| b.y));
        let side = 1.0001 * (right - left).max(high - low);
        let tree = Tree::new(bodies.clone(), left, low, side);
        bodies.par_iter().map(|body| tree.pull(body.x, body.y)).collect()
    };
    program(accelerations, |all| {
        let (x, y) = all.iter().fold((0.0, 0.0), |(x, y), a| (x + a.0.abs(), y + a.1.abs()));
        vec![all.len() as f64, x, y]
    })
}

impl Tree {
    fn new(bodies: Vec<Body>, left: f64, low: f64, side: f64) -> Tree {
        if bodies.len() <= 8 {
            return Tree::Few(bodies);
        }
        let mut centre = Body { x: 0.0, y: 0.0, mass: 0.0 };
        for body in &bodies {
            centre.x += body.x * body.mass;
            centre.y += body.y * body.mass;
            centre.mass += body.mass;
        }
        centre.x /= centre.mass;
        centre.y /= centre.mass;
        let half = side / 2.0;
        let mut quarters: [Vec<Body>; 4] = Default::default();
        for body in &bodies {
            let (right, top) = (body.x >= left + half, body.y >= low + half);
            quarters[usize::from(right) + 2 * usize::from(top)].push(*body);
        }
        let part = |(q, members): (usize, Vec<Body>)| {
            let (x, y) = ((q % 2) as f64, (q / 2) as f64);
            Tree::new(members, left + half * x, low + half * y, half)
        };
        let quarters = quarters.into_iter().enumerate().filter(|(_, members)| !members.is_empty());
        let parts = if bodies.len() > 4096 {
            quarters.collect::<Vec<_>>().into_par_iter().map(part).collect()
        } else {
            quarters.map(part).collect()
        };
        Tree::Many { centre, side, parts }
    }

    fn pull(&self, px: f64, py: f64) -> (f64, f64) {
        match self {
            Tree::Few(bodies) => bodies.iter().map(|body| body.pull(px, py)).fold((0.0, 0.0), add),
            Tree::Many { centre, side, parts } => {
                let (dx, dy) = (centre.x - px, centre.y - py);
                if side * side < 0.25 * (dx * dx + dy * dy) {
                    centre.pull(px, py)
                } else {
                    parts.iter().map(|part| part.pull(px, py)).fold((0.0, 0.0), add)
                }
            }
        }
    }
}

impl Body {
    fn pull(&self, px: f64, py: f64) -> (f64, f64) {
        let (dx, dy) = (self.x - px, self.y - py);
        let squared = dx * dx + dy * dy + 0.0001;
        let strength = self.mass / (squared * squared.sqrt());
        (strength * dx, strength * dy)
    }
}

fn add(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 + b.0, a.1 + b.1)
}
