//! Work and depth over several sizes, and the laws that fit them.
//!
//! Every size starts with fresh random numbers, so that no size depends on those before it; where
//! numbers are drawn, several seeds are tried and the means are shown and fitted.

use super::{failed, measure, parallelism};
use crate::cli::CostArgs;
use crate::exit::OK;
use crate::report::Reporter;
use anyhow::{Result, bail};
use nesl_engine::cost::{
    Growth, Law, MAX_ERROR, MIN_SIZES, MIN_SIZES_FOR_TWO_TERMS, Sample, Term, fit,
};
use nesl_engine::{Session, Summary};
use nesl_interactive::table::{Table, grouped, ratio};
use serde_json::{Value, json};

/// The number of runs at a size, each with a seed of its own, where random numbers are drawn.
const SEEDS_PER_SIZE: u64 = 5;

/// The runs at one size.
struct Runs {
    n: u64,
    /// The work of each run.
    works: Vec<f64>,
    /// The depth of each run.
    depths: Vec<f64>,
}

/// The outcome of measuring at a size.
enum Measured {
    Runs(Runs),
    /// A run failed, or was interrupted.
    Failed(Summary),
}

/// Measures `expr` at each of the sizes asked for.
pub fn run(
    reporter: &mut Reporter,
    session: &mut Session,
    expr: &str,
    asked: &CostArgs,
) -> Result<u8> {
    let first_seed = session.settings_mut().seed;
    let mut table = Table::new(&["n", "work", "depth", "parallelism"]);
    let (mut works, mut depths) = (Vec::new(), Vec::new());
    let mut seeds = 1;
    for &n in &asked.sizes {
        let runs = match at(reporter, session, expr, n, first_seed)? {
            Measured::Runs(runs) => runs,
            Measured::Failed(summary) => return Ok(failed(&summary)),
        };
        seeds = seeds.max(runs.works.len());
        let (work, depth) = (sample(n, &runs.works), sample(n, &runs.depths));
        let (mean_work, mean_depth) = (work.value.round() as u64, depth.value.round() as u64);
        let parallelism = parallelism(mean_work, mean_depth);
        if asked.json {
            let object = json!({
                "n": n, "work": mean_work, "depth": mean_depth, "parallelism": parallelism,
                "runs": runs.works.len(),
            });
            reporter.output.line(&object.to_string());
        } else {
            let (work, depth) = (grouped(mean_work), grouped(mean_depth));
            table.row([grouped(runs.n), work, depth, ratio(parallelism)]);
        }
        works.push(work);
        depths.push(depth);
    }
    let (work, depth) = (fit(&works), fit(&depths));
    if asked.json {
        let object = json!({"fit": {"work": as_json(&work), "depth": as_json(&depth)}});
        reporter.output.line(&object.to_string());
    } else {
        reporter.output.line(&table.to_string());
        if seeds > 1 {
            reporter.output.line(&format!("means of {seeds} seeds a size"));
        }
        for line in sentences(&asked.sizes, &work, &depth) {
            reporter.output.line(&line);
        }
    }
    reporter.output.settle();
    Ok(OK)
}

/// Runs `expr` for a size: once, or with several seeds if it draws random numbers.
fn at(
    reporter: &mut Reporter,
    session: &mut Session,
    expr: &str,
    n: u64,
    first_seed: u64,
) -> Result<Measured> {
    let mut runs = Runs { n, works: Vec::new(), depths: Vec::new() };
    for seed in 0..SEEDS_PER_SIZE {
        session.restart_random(first_seed.wrapping_add(seed));
        let (summary, bound) = measure(reporter, session, "<expression>", &at_size(expr, n));
        if summary.errors > 0 || summary.interrupted {
            return Ok(Measured::Failed(summary));
        }
        let Some((work, depth)) = bound.last().and_then(|binding| binding.cost) else {
            bail!("`{expr}` gives no value to measure");
        };
        runs.works.push(work as f64);
        runs.depths.push(depth as f64);
        if !session.has_drawn() {
            break;
        }
    }
    Ok(Measured::Runs(runs))
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

/// The lines below the table.
fn sentences(sizes: &[u64], work: &Growth, depth: &Growth) -> Vec<String> {
    let mut different = sizes.iter().filter(|n| **n > 0).collect::<Vec<_>>();
    different.sort();
    different.dedup();
    let different = different.len();
    if *work == Growth::TooFewSizes || *depth == Growth::TooFewSizes {
        return vec![format!(
            "A law of growth needs at least {MIN_SIZES} different sizes, \
             {MIN_SIZES_FOR_TWO_TERMS} for a law with two terms."
        )];
    }
    let mut lines = vec![sentence("work ", work), sentence("depth", depth)];
    if different < MIN_SIZES_FOR_TWO_TERMS {
        lines.push(format!(
            "With {different} sizes only laws with one term were tried; give \
             {MIN_SIZES_FOR_TWO_TERMS} or more."
        ));
    }
    lines
}

fn sentence(what: &str, growth: &Growth) -> String {
    match growth {
        Growth::Law(law) if law.error < 1e-9 => format!("{what} = {law}"),
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
    fn laws_are_put_in_words() {
        let leading = Term { shape: "log n", coefficient: 49.6 };
        let second = Some(Term { shape: "1", coefficient: -103.0 });
        let law = Growth::Law(Law { leading, second, error: 0.021 });
        assert_eq!(sentence("depth", &law), "depth ≈ 49.6·log n − 103  (within 2.1 %)");
        let leading = Term { shape: "1", coefficient: 7.0 };
        let law = Growth::Law(Law { leading, second: None, error: 0.0 });
        assert_eq!(sentence("depth", &law), "depth = 7");
        assert_eq!(sentence("work ", &Growth::NoLaw), "work: no law fits within 15 %");
    }
}
