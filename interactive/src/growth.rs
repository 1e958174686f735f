//! Work and depth over several sizes, and the laws that fit them.
//!
//! Every size starts with fresh random numbers, so that no size depends on those before it; where
//! numbers are drawn, several seeds are tried and the means are shown and fitted.

mod asked;
mod plot;

pub use asked::Asked;

use crate::table::{Table, grouped, ratio};
use nesl_core::base::Diagnostic;
use nesl_engine::cost::{
    Growth, Law, MAX_ERROR, MIN_SIZES, MIN_SIZES_FOR_TWO_TERMS, Sample, Term, fit,
};
use nesl_engine::{FileRange, Round, Session};
use serde_json::{Value, json};

/// The number of runs at a size, each with a seed of its own, where random numbers are drawn and no other
/// number is asked for.
pub const SEEDS_PER_SIZE: u64 = 5;

/// The measurements at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The size that was measured.
    pub n: u64,
    /// The mean of the work of the runs.
    pub work: Sample,
    /// The mean of the depth of the runs.
    pub depth: Sample,
    /// The number of runs, each with a seed of its own.
    pub runs: usize,
}

/// The growth of work and depth: the points in the order of the sizes asked for, and the laws.
#[derive(Clone, Debug, PartialEq)]
pub struct CostGrowth {
    /// The measurements of all sizes.
    pub points: Vec<Point>,
    /// The growth of the work.
    pub work: Growth,
    /// The growth of the depth.
    pub depth: Growth,
    /// The seeds that each size was measured with; none if no random numbers are drawn.
    pub seeds: Vec<u64>,
}

/// Measures an expression at each of the sizes, with so many seeds if it draws random numbers. `seen`
/// receives each point as soon as it is known.
pub fn measure(
    session: &mut Session,
    name: &str,
    asked: &Asked,
    sizes: &[u64],
    seeds: u64,
    seen: &mut dyn FnMut(&Point),
) -> Result<CostGrowth, Vec<Diagnostic<FileRange>>> {
    let first_seed = session.settings().seed;
    let mut points: Vec<Point> = Vec::new();
    let mut used = Vec::new();
    let rounds = session.progress().rounds();
    for (at, n) in sizes.iter().enumerate() {
        rounds.begin(Round { of: "size", now: at as u64 + 1, all: sizes.len() as u64 });
        let (mut works, mut depths) = (Vec::new(), Vec::new());
        for seed in (0..seeds.max(1)).map(|more| first_seed.wrapping_add(more)) {
            let cost = asked.cost(session, name, Some(*n), seed)?;
            works.push(cost.work as f64);
            depths.push(cost.depth as f64);
            if !cost.draws {
                break;
            }
            if !used.contains(&seed) {
                used.push(seed);
            }
        }
        let (work, depth) = (sample(*n, &works), sample(*n, &depths));
        let point = Point { n: *n, work, depth, runs: works.len() };
        seen(&point);
        points.push(point);
    }
    let samples = |of: fn(&Point) -> Sample| points.iter().map(of).collect::<Vec<Sample>>();
    let (work, depth) = (fit(&samples(|point| point.work)), fit(&samples(|point| point.depth)));
    Ok(CostGrowth { points, work, depth, seeds: used })
}

/// The mean of some measurements, with its standard error.
fn sample(n: u64, values: &[f64]) -> Sample {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
    Sample { n: n as f64, value: mean, deviation }
}

/// Reads a size, which may be written `1000`, `1_000`, `1e3` or `2.5e3`.
pub fn size(text: &str) -> Result<u64, String> {
    let plain = text.trim().replace('_', "");
    if let Ok(size) = plain.parse() {
        return Ok(size);
    }
    match plain.parse::<f64>() {
        Ok(size) if (0.0..=1e15).contains(&size) && size.fract() == 0.0 => Ok(size as u64),
        _ => Err("give whole numbers, such as 1000 or 1e3".to_string()),
    }
}

/// Work divided by depth: how many processors could be kept busy.
pub fn parallelism(work: u64, depth: u64) -> f64 {
    work as f64 / depth.max(1) as f64
}

impl Point {
    /// Returns the mean work as a whole number.
    pub fn mean_work(&self) -> u64 {
        self.work.value.round() as u64
    }

    /// Returns the mean depth as a whole number.
    pub fn mean_depth(&self) -> u64 {
        self.depth.value.round() as u64
    }

    /// Returns the point as an object.
    pub fn object(&self) -> Value {
        let (work, depth) = (self.mean_work(), self.mean_depth());
        json!({
            "n": self.n, "work": work, "depth": depth, "parallelism": parallelism(work, depth),
            "runs": self.runs,
        })
    }
}

impl CostGrowth {
    /// Returns the points as a table.
    pub fn table(&self) -> Table {
        let mut table = Table::new(&["n", "work", "depth", "parallelism"]);
        for point in &self.points {
            let (work, depth) = (point.mean_work(), point.mean_depth());
            let parallelism = ratio(parallelism(work, depth));
            table.row([grouped(point.n), grouped(work), grouped(depth), parallelism]);
        }
        table
    }

    /// Returns what is to be said below the table: the number of seeds, and the laws.
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.seeds[..] {
            [] => {}
            [seed] => lines.push(format!("with the random numbers of seed {seed}")),
            [first, .., last] => lines.push(format!("means over the seeds {first} to {last}")),
        }
        let mut different: Vec<u64> = self.points.iter().map(|point| point.n).collect();
        different.retain(|n| *n > 0);
        different.sort();
        different.dedup();
        let different = different.len();
        if self.work == Growth::TooFewSizes || self.depth == Growth::TooFewSizes {
            lines.push(format!(
                "A law of growth needs at least {MIN_SIZES} different sizes, \
                 {MIN_SIZES_FOR_TWO_TERMS} for a law with two terms."
            ));
            return lines;
        }
        let range = |of: fn(&Point) -> Sample| {
            let values = self.points.iter().map(|point| of(point).value);
            (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max))
        };
        lines.extend([
            sentence("work ", &self.work, range(|point| point.work)),
            sentence("depth", &self.depth, range(|point| point.depth)),
        ]);
        if different < MIN_SIZES_FOR_TWO_TERMS {
            lines.push(format!(
                "With {different} sizes only laws with one term were tried; give \
                 {MIN_SIZES_FOR_TWO_TERMS} or more."
            ));
        }
        lines
    }

    /// Returns the laws as an object.
    pub fn fit_object(&self) -> Value {
        json!({"fit": {
            "work": as_json(&self.work), "depth": as_json(&self.depth), "seeds": self.seeds,
        }})
    }
}

/// Returns a law as a line; `low` and `high` are the smallest and the largest measurement.
fn sentence(what: &str, growth: &Growth, (low, high): (f64, f64)) -> String {
    match growth {
        // What does not grow is told by what was measured: a mean would say less.
        Growth::Law(law) if law.shape() == "1" => {
            let [low, high] = [low, high].map(|value| grouped(value.round() as u64));
            if low == high {
                format!("{what} = {low}, which is O(1)")
            } else {
                format!("{what} = O(1): from {low} to {high}, whatever the size")
            }
        }
        Growth::Law(law) if law.is_exact() => format!("{what} = {law}"),
        Growth::Law(law) => {
            // Rounded up: these are promises.
            let percent = |error: f64| format!("{:.1} %", (error * 1000.0).ceil() / 10.0);
            let (error, held_out) = (percent(law.error), percent(law.held_out));
            format!("{what} ≈ {law}  (within {error}; {held_out} at sizes held out of the fit)")
        }
        Growth::NoLaw | Growth::TooFewSizes => {
            format!("{}: no law fits within {:.0} %", what.trim_end(), MAX_ERROR * 100.0)
        }
    }
}

fn as_json(growth: &Growth) -> Value {
    match growth {
        Growth::Law(law) => {
            let Law { terms, error, held_out } = law;
            let term = |term: &Term| json!({"shape": term.shape, "coefficient": term.coefficient});
            json!({
                "law": law.to_string(), "shape": law.shape(),
                "terms": terms.iter().map(term).collect::<Vec<Value>>(),
                "error": error, "held_out": held_out,
            })
        }
        Growth::NoLaw | Growth::TooFewSizes => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_several_spellings() {
        assert_eq!(size("1e3"), Ok(1000));
        assert_eq!(size("2.5e3"), Ok(2500));
        assert_eq!(size("1_000"), Ok(1000));
        assert!(size("1.5").is_err());
        assert!(size("-1").is_err());
        assert!(size("many").is_err());
    }

    fn law(terms: &[(&'static str, f64)], error: f64) -> Growth {
        let terms =
            terms.iter().map(|(shape, coefficient)| Term { shape, coefficient: *coefficient });
        Growth::Law(Law { terms: terms.collect(), error, held_out: 2.0 * error })
    }

    #[test]
    fn laws_are_put_in_words() {
        let depth = law(&[("log n", 49.6), ("1", -103.0)], 0.021);
        assert_eq!(
            sentence("depth", &depth, (0.0, 1.0)),
            "depth ≈ 49.6·log n − 103  (within 2.1 %; 4.2 % at sizes held out of the fit)"
        );
        let shown = sentence("depth", &law(&[("1", 7.0)], 0.0), (7.0, 7.0));
        assert_eq!(shown, "depth = 7, which is O(1)");
        let shown = sentence("depth", &law(&[("1", 7.0)], 0.02), (6.8, 7.2e3));
        assert_eq!(shown, "depth = O(1): from 7 to 7,200, whatever the size");
        let exact = law(&[("n log n", 2.0), ("n", 1.0), ("1", -3.0)], 0.0);
        assert_eq!(sentence("work ", &exact, (0.0, 1.0)), "work  = 2·n log n + n − 3");
        let none = sentence("work ", &Growth::NoLaw, (0.0, 1.0));
        assert_eq!(none, "work: no law fits within 15 %");
    }
}
