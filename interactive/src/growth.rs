//! Work and depth over several sizes, and the laws that fit them.
//!
//! Every size starts with fresh random numbers, so that no size depends on those before it; where
//! numbers are drawn, several seeds are tried and the means are shown and fitted.

use crate::table::{Table, grouped, ratio};
use nesl_core::base::{Diagnostic, DiagnosticKind};
use nesl_engine::cost::{
    Growth, Law, MAX_ERROR, MIN_SIZES, MIN_SIZES_FOR_TWO_TERMS, Sample, Term, fit,
};
use nesl_engine::{Cost, FileRange, Session};
use serde_json::{Value, json};

/// The number of runs at a size, each with a seed of its own, where random numbers are drawn.
const SEEDS_PER_SIZE: u64 = 5;

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
}

/// Measures an expression at each of the sizes: a name is applied to the size, in anything else it is
/// `n`. `seen` receives each point as soon as it is known.
pub fn measure(
    session: &mut Session,
    name: &str,
    expr: &str,
    sizes: &[u64],
    seen: &mut dyn FnMut(&Point),
) -> Result<CostGrowth, Vec<Diagnostic<FileRange>>> {
    let mut points: Vec<Point> = Vec::new();
    for n in sizes {
        let point = at(session, name, expr, *n)?;
        seen(&point);
        points.push(point);
    }
    let samples = |of: fn(&Point) -> Sample| points.iter().map(of).collect::<Vec<Sample>>();
    let (work, depth) = (fit(&samples(|point| point.work)), fit(&samples(|point| point.depth)));
    Ok(CostGrowth { points, work, depth })
}

/// Runs an expression for a size: once, or with several seeds if it draws random numbers.
fn at(
    session: &mut Session,
    name: &str,
    expr: &str,
    n: u64,
) -> Result<Point, Vec<Diagnostic<FileRange>>> {
    let first_seed = session.settings().seed;
    let (mut works, mut depths) = (Vec::new(), Vec::new());
    let text = at_size(expr, n);
    for seed in 0..SEEDS_PER_SIZE {
        let costs = session.cost(name, &text, first_seed.wrapping_add(seed))?;
        let Some(Cost { work, depth, draws, .. }) = costs.last() else {
            return Err(vec![nothing(session, name, &text)]);
        };
        works.push(*work as f64);
        depths.push(*depth as f64);
        if !draws {
            break;
        }
    }
    Ok(Point { n, work: sample(n, &works), depth: sample(n, &depths), runs: works.len() })
}

/// Returns the error for a text without an expression.
fn nothing(session: &mut Session, name: &str, text: &str) -> Diagnostic<FileRange> {
    let (_, file) = session.look(name, text);
    let at = FileRange { file, range: 0..text.len() };
    Diagnostic::error(DiagnosticKind::Syntax, at, "this gives no value to measure")
}

/// The mean of some measurements, with its standard error.
fn sample(n: u64, values: &[f64]) -> Sample {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = if values.len() > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
    Sample { n: n as f64, value: mean, deviation }
}

/// The text that evaluates `expr` for a size: a name is applied to it; in anything else it is `n`.
fn at_size(expr: &str, n: u64) -> String {
    let expr = expr.trim().trim_end_matches([';', '$']).trim_end();
    let name = expr.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name && !expr.starts_with(|c: char| c.is_ascii_digit()) && !expr.eq_ignore_ascii_case("n") {
        format!("{expr}({n});")
    } else {
        // The `$` cannot be taken for a separator; the line ends a comment's last line.
        format!("let n = {n} in {expr}\n$")
    }
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
        let seeds = self.points.iter().map(|point| point.runs).max().unwrap_or(1);
        if seeds > 1 {
            lines.push(format!("means of {seeds} seeds a size"));
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
        json!({"fit": {"work": as_json(&self.work), "depth": as_json(&self.depth)}})
    }
}

/// Returns a law as a line; `low` and `high` are the smallest and the largest measurement.
fn sentence(what: &str, growth: &Growth, (low, high): (f64, f64)) -> String {
    match growth {
        // What does not grow is told by what was measured: a mean would say less.
        Growth::Law(law) if law.leading.shape == "1" => {
            let [low, high] = [low, high].map(|value| grouped(value.round() as u64));
            if low == high {
                format!("{what} = {low}, which is O(1)")
            } else {
                format!("{what} = O(1): from {low} to {high}, whatever the size")
            }
        }
        Growth::Law(law) if law.is_exact() => format!("{what} = {law}"),
        Growth::Law(law) => {
            // Rounded up: it is a promise.
            let percent = (law.error * 1000.0).ceil() / 10.0;
            format!("{what} ≈ {law}  (within {percent:.1} %)")
        }
        Growth::NoLaw | Growth::TooFewSizes => {
            format!("{}: no law fits within {:.0} %", what.trim_end(), MAX_ERROR * 100.0)
        }
    }
}

fn as_json(growth: &Growth) -> Value {
    match growth {
        Growth::Law(law) => {
            let Law { leading, second, error } = law;
            json!({
                "law": law.to_string(), "shape": leading.shape, "coefficient": leading.coefficient,
                "second": second.map(|Term { shape, coefficient }| {
                    json!({"shape": shape, "coefficient": coefficient})
                }),
                "error": error,
            })
        }
        Growth::NoLaw | Growth::TooFewSizes => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_applied_and_expressions_see_n() {
        assert_eq!(at_size("primes", 10), "primes(10);");
        assert_eq!(at_size("sum([0:n]);", 10), "let n = 10 in sum([0:n])\n$");
    }

    #[test]
    fn sizes_are_read_in_several_spellings() {
        assert_eq!(size("1e3"), Ok(1000));
        assert_eq!(size("2.5e3"), Ok(2500));
        assert_eq!(size("1_000"), Ok(1000));
        assert!(size("1.5").is_err());
        assert!(size("-1").is_err());
        assert!(size("many").is_err());
    }

    #[test]
    fn laws_are_put_in_words() {
        let leading = Term { shape: "log n", coefficient: 49.6 };
        let second = Some(Term { shape: "1", coefficient: -103.0 });
        let law = Growth::Law(Law { leading, second, error: 0.021 });
        assert_eq!(sentence("depth", &law, (0.0, 1.0)), "depth ≈ 49.6·log n − 103  (within 2.1 %)");
        let leading = Term { shape: "1", coefficient: 7.0 };
        let law = Growth::Law(Law { leading, second: None, error: 0.0 });
        assert_eq!(sentence("depth", &law, (7.0, 7.0)), "depth = 7, which is O(1)");
        let law = Growth::Law(Law { leading, second: None, error: 0.02 });
        let shown = sentence("depth", &law, (6.8, 7.2e3));
        assert_eq!(shown, "depth = O(1): from 7 to 7,200, whatever the size");
        let none = sentence("work ", &Growth::NoLaw, (0.0, 1.0));
        assert_eq!(none, "work: no law fits within 15 %");
    }
}
