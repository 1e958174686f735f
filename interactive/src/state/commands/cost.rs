//! `:cost`: work and depth of an expression, and how they grow.

use super::{Call, Command, Operand};
use crate::bundle::{Bundle, escaped};
use crate::display;
use crate::display::plot::{Curve, Fit};
use crate::growth::{self, CostGrowth, Point, parallelism, size};
use crate::html::PRE;
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::table::{Table, grouped, ratio};
use nesl_engine::Cost;
use nesl_engine::cost::{Growth, Sample};

pub(super) static COST: Command = Command {
    name: ":cost",
    operand: Operand::Forms,
    usage: "EXPR [for n = N, N, …]",
    about: "work, depth and parallelism, also over several sizes",
    doc: "Work is the number of operations, depth the longest chain of them that must run one after the \
          other, parallelism their ratio: how many processors could be kept busy. With sizes, as in \
          `:cost sum([0:n]) for n = 1e2, 1e3, 1e4, 1e5, 1e6`, EXPR is the name of a function, which is \
          applied to each size, or an expression in which `n` is the size; then the laws are told that \
          fit, if any do, with their largest error. Five sizes or more can tell laws with two terms. The \
          direct interpreter counts; nothing is printed, drawn or defined.",
    run: |state, call| match sizes(call.operand) {
        Err(message) => state.fail(Problem::of_command(message)),
        Ok((expr, None)) => once(state, call, expr),
        Ok((expr, Some(sizes))) => over_sizes(state, call, expr, &sizes),
    },
};

/// Splits the operand into the expression and the sizes behind `for n =`.
fn sizes(operand: &str) -> Result<(&str, Option<Vec<u64>>), String> {
    let parts = operand.rmatch_indices("for").find_map(|(at, _)| {
        let before = operand[..at].ends_with(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let list = operand[at + 3..].strip_prefix(char::is_whitespace)?.trim_start();
        let list = list.strip_prefix(['n', 'N'])?.trim_start().strip_prefix('=')?;
        before.then_some((operand[..at].trim(), list))
    });
    let Some((expr, list)) = parts else { return Ok((operand, None)) };
    let list = list.trim_end_matches([';', ' ']);
    let sizes: Result<Vec<u64>, String> = list
        .split([',', ' '])
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(|text| size(text).map_err(|_| format!("`{text}` is not a size such as 1000 or 1e3")))
        .collect();
    let sizes = sizes?;
    if sizes.is_empty() {
        return Err("give sizes: `for n = 100, 1e3, 1e4, 1e5, 1e6`".to_owned());
    }
    Ok((expr, Some(sizes)))
}

fn once(state: &mut State, call: &Call<'_>, expr: &str) -> Outcome {
    let name = expr.trim_end_matches(';').trim_end();
    if state.session.definition(name).is_some_and(|definition| definition.ty.contains("->")) {
        return state.fail(Problem::of_command(format!(
            "`{name}` is a function: measure a call, or give sizes, `:cost {name} for n = 10, 100, 1000`"
        )));
    }
    let seed = state.session.settings().seed;
    let costs = match state.session.cost(call.entry, &call.program(0, expr), seed) {
        Ok(costs) => costs,
        Err(diagnostics) => return state.fail_all(&diagnostics),
    };
    if costs.is_empty() {
        return state.fail(Problem::of_command("there is no expression to measure"));
    }
    let several = costs.len() > 1;
    let headings = ["name", "work", "depth", "parallelism"];
    let mut table = Table::new(if several { &headings } else { &headings[1..] });
    for Cost { name, work, depth, .. } in costs {
        let cells = [name, grouped(work), grouped(depth), ratio(parallelism(work, depth))];
        table.row(cells.into_iter().skip(usize::from(!several)));
    }
    state.show(Output::Answer(table.bundle()));
    Outcome::Done
}

fn over_sizes(state: &mut State, call: &Call<'_>, expr: &str, sizes: &[u64]) -> Outcome {
    match growth::measure(&mut state.session, call.entry, expr, sizes, &mut |_| {}) {
        Ok(growth) => {
            state.show(Output::Answer(shown(&growth)));
            if state.setup.display.html && growth.points.len() > 1 {
                state.show(Output::Answer(plot(&growth)));
            }
            Outcome::Done
        }
        Err(diagnostics) => state.fail_all(&diagnostics),
    }
}

/// Returns the plot of work and depth over the sizes, with the laws that fit them.
fn plot(growth: &CostGrowth) -> Bundle {
    let points = |of: fn(&Point) -> Sample| -> Vec<(f64, f64)> {
        growth.points.iter().map(|point| (point.n as f64, of(point).value)).collect()
    };
    let (work, depth) = (points(|point| point.work), points(|point| point.depth));
    let name = |growth: &Growth| match growth {
        Growth::Law(law) => law.to_string(),
        Growth::TooFewSizes | Growth::NoLaw => String::new(),
    };
    let names = [name(&growth.work), name(&growth.depth)];
    let at = |growth: &Growth, n: f64| match growth {
        Growth::Law(law) => law.at(n),
        Growth::TooFewSizes | Growth::NoLaw => f64::NAN,
    };
    let (work_at, depth_at) = (|n: f64| at(&growth.work, n), |n: f64| at(&growth.depth, n));
    display::plot::growth(&[
        Curve { name: "work", points: &work, fit: fit(&growth.work, &names[0], &work_at) },
        Curve { name: "depth", points: &depth, fit: fit(&growth.depth, &names[1], &depth_at) },
    ])
}

/// Returns a law for a plot, if one was found.
fn fit<'a>(growth: &Growth, name: &'a str, cost: &'a dyn Fn(f64) -> f64) -> Option<Fit<'a>> {
    match growth {
        Growth::Law(law) => Some(Fit { name, is_exact: law.is_exact(), cost }),
        Growth::TooFewSizes | Growth::NoLaw => None,
    }
}

/// Returns the table and the laws.
fn shown(growth: &CostGrowth) -> Bundle {
    let (table, sentences) = (growth.table(), growth.sentences().join("\n"));
    let html = format!(
        "{}<div style=\"margin-top:.6em\">{PRE}{}</pre></div>",
        table.html(),
        escaped(&sentences)
    );
    Bundle::text(format!("{table}{sentences}")).with_html(html)
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn sizes_stand_behind_the_expression() {
        assert_eq!(sizes("sum([0:n])"), Ok(("sum([0:n])", None)));
        let both = Ok(("sum([0:n])", Some(vec![100, 1000])));
        assert_eq!(sizes("sum([0:n]) for n = 1e2, 1000;"), both);
        assert_eq!(sizes("sum([0:n])\nfor n=100 1_000"), both);
        assert_eq!(sizes("wait_for n = 3"), Ok(("wait_for n = 3", None)));
        assert!(sizes("primes for n = many").is_err_and(|why| why.contains("`many`")));
        assert!(sizes("primes for n = ").is_err());
    }
}
