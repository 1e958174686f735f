//! Work and depth over several sizes, and the curves that fit them.

use super::{failed, measure, parallelism};
use crate::cli::{CostArgs, OK};
use crate::report::Reporter;
use crate::table::{Table, grouped, ratio};
use anyhow::{Result, bail};
use nesl_engine::Session;
use nesl_engine::cost::{Fit, Sample, fit};
use serde_json::{Value, json};

/// Measures `expr` at each of the sizes asked for.
pub fn run(
    reporter: &mut Reporter,
    session: &mut Session,
    expr: &str,
    asked: &CostArgs,
) -> Result<u8> {
    let mut table = Table::new(&["n", "work", "depth", "parallelism"]);
    let mut works = Vec::new();
    let mut depths = Vec::new();
    for &n in &asked.sizes {
        let (summary, bound) = measure(reporter, session, "<expression>", &at_size(expr, n));
        if summary.errors > 0 || summary.interrupted {
            return Ok(failed(&summary));
        }
        let Some((work, depth)) = bound.last().and_then(|binding| binding.cost) else {
            bail!("`{expr}` gives no value to measure");
        };
        works.push(Sample { n: n as f64, value: work as f64 });
        depths.push(Sample { n: n as f64, value: depth as f64 });
        let parallelism = parallelism(work, depth);
        if asked.json {
            let object = json!({"n": n, "work": work, "depth": depth, "parallelism": parallelism});
            reporter.output.line(&object.to_string());
        } else {
            table.row([grouped(n), grouped(work), grouped(depth), ratio(parallelism)]);
        }
    }
    let (work, depth) = (fit(&works), fit(&depths));
    if asked.json {
        let object = json!({"fit": {"work": as_json(work), "depth": as_json(depth)}});
        reporter.output.line(&object.to_string());
    } else {
        reporter.output.line(&table.to_string());
        for (name, fit) in [("work ", work), ("depth", depth)] {
            if let Some(fit) = fit {
                reporter.output.line(&sentence(name, &fit));
            }
        }
    }
    reporter.output.settle();
    Ok(OK)
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

fn sentence(what: &str, fit: &Fit) -> String {
    let coefficient = ratio(fit.coefficient);
    let formula = match fit.shape {
        "1" => coefficient,
        shape => format!("{coefficient} · {shape}"),
    };
    let percent = fit.error * 100.0;
    if fit.shape == "1" && percent < 0.05 {
        format!("{what} = {formula}")
    } else {
        format!("{what} ≈ {formula}  (within {percent:.1} %)")
    }
}

fn as_json(fit: Option<Fit>) -> Value {
    match fit {
        Some(Fit { shape, coefficient, error }) => {
            json!({"shape": shape, "coefficient": coefficient, "error": error})
        }
        None => Value::Null,
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
    fn fits_are_put_in_words() {
        let fit = Fit { shape: "n log n", coefficient: 2.0, error: 0.021 };
        assert_eq!(sentence("work ", &fit), "work  ≈ 2.0 · n log n  (within 2.1 %)");
        let fit = Fit { shape: "1", coefficient: 7.0, error: 0.0 };
        assert_eq!(sentence("depth", &fit), "depth = 7.0");
    }
}
