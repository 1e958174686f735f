//! `:cost`: work and depth of an expression, and how they grow.

use super::{Call, Command, Operand};
use crate::bundle::{Bundle, escaped};
use crate::growth::{self, Asked, CostGrowth, SEEDS_PER_SIZE, parallelism, size};
use crate::html::PRE;
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::table::{Table, grouped, ratio};
use nesl_engine::Cost;

pub(super) static COST: Command = Command {
    name: ":cost",
    operand: Operand::Forms,
    usage: "EXPR [given NAME = EXPR; …] [for n = N, N, …]",
    about: "work, depth and parallelism, also over several sizes",
    doc: "Work is the number of operations, depth the longest chain of them that must run one after the \
          other, parallelism their ratio: how many processors could be kept busy. With sizes, as in \
          `:cost sum([0:n]) for n = 1e2, 1e3, 1e4, 1e5, 1e6`, EXPR is the name of a function, which is \
          applied to each size, or an expression in which `n` is the size; then the laws are told that \
          fit, if any do, with their largest error. Five sizes or more can tell laws with two terms, \
          seven laws with three. What stands behind `given` is computed before and not counted, as in \
          `:cost sort(xs) given xs = {rand(n) : i in [0:n]} for n = 1e2, 3e2, 1e3, 3e3, 1e4`; a function's \
          name is then called with these inputs. The direct interpreter counts; nothing is printed, \
          drawn or defined.",
    run: |state, call| match parts(call.operand) {
        Err(message) => state.fail(Problem::of_command(message)),
        Ok(parts) => {
            let place = |part: &str| {
                let start = part.as_ptr().addr() - call.whole.as_ptr().addr();
                start..start + part.len()
            };
            let (expr, given) = (place(parts.expr), parts.given.map(place));
            let asked = Asked::typed(&mut state.session, call.whole, expr, given.as_slice());
            match (asked, parts.sizes) {
                (Err(message), _) => state.fail(Problem::of_command(message)),
                (Ok(asked), Some(sizes)) => over_sizes(state, call, &asked, &sizes),
                (Ok(asked), None) if asked.has_inputs() => of_inputs(state, call, &asked),
                (Ok(_), None) => once(state, call, parts.expr),
            }
        }
    },
};

/// The parts of the operand.
#[derive(Debug, PartialEq)]
struct Parts<'a> {
    /// The expression that is measured.
    expr: &'a str,
    /// The bindings behind `given`.
    given: Option<&'a str>,
    /// The sizes behind `for n =`.
    sizes: Option<Vec<u64>>,
}

/// Takes the operand apart; `given` and `for n =` may come in either order.
fn parts(operand: &str) -> Result<Parts<'_>, String> {
    let for_n = |rest: &str| -> Option<usize> {
        let list = rest.strip_prefix(char::is_whitespace)?.trim_start();
        let list = list.strip_prefix(['n', 'N'])?.trim_start().strip_prefix('=')?;
        Some(rest.len() - list.len())
    };
    let inputs = |rest: &str| -> Option<usize> {
        let list = rest.strip_prefix(char::is_whitespace)?.trim_start();
        let is_binding =
            list.starts_with(|c: char| c.is_ascii_alphanumeric() || "([{\"".contains(c));
        (is_binding || list.is_empty()).then_some(rest.len() - list.len())
    };
    let sizes_at = clause(operand, "for", &for_n).last();
    let given_at = clause(operand, "given", &inputs).next();
    let starts = [sizes_at, given_at].map(|clause| clause.map(|(start, _)| start));
    let end_of = |from: usize| {
        starts
            .iter()
            .flatten()
            .copied()
            .filter(|start| *start >= from)
            .min()
            .unwrap_or(operand.len())
    };
    let text = |from: usize| operand[from..end_of(from)].trim();
    let sizes = match sizes_at {
        Some((_, list)) => Some(sizes(text(list))?),
        None => None,
    };
    Ok(Parts { expr: text(0), given: given_at.map(|(_, list)| text(list)), sizes })
}

/// Finds the places at which a word begins a clause, by what stands behind it: the place of the word, and
/// that of the contents of the clause.
fn clause<'a>(
    operand: &'a str,
    word: &'a str,
    begins: &'a dyn Fn(&str) -> Option<usize>,
) -> impl Iterator<Item = (usize, usize)> + use<'a> {
    operand.match_indices(word).filter_map(move |(at, _)| {
        let is_word = operand[..at].ends_with(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let behind = at + word.len();
        let length = begins(&operand[behind..]).filter(|_| is_word)?;
        Some((at, behind + length))
    })
}

fn sizes(list: &str) -> Result<Vec<u64>, String> {
    let sizes: Result<Vec<u64>, String> = list
        .trim_end_matches([';', ' '])
        .split([',', ' '])
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(|text| size(text).map_err(|_| format!("`{text}` is not a size such as 1000 or 1e3")))
        .collect();
    let sizes = sizes?;
    if sizes.is_empty() {
        return Err("give sizes: `for n = 100, 1e3, 1e4, 1e5, 1e6`".to_owned());
    }
    Ok(sizes)
}

fn once(state: &mut State, call: &Call<'_>, expr: &str) -> Outcome {
    let name = expr.trim_end_matches(';').trim_end();
    if state.session.definition(name).is_some_and(|definition| definition.ty.contains("->")) {
        return state.fail(Problem::of_command(format!(
            "`{name}` is a function: measure a call, or give sizes, `:cost {name} for n = 10, 100, 1000`"
        )));
    }
    let seed = state.session.settings().seed;
    let text = call.program(&mut state.session, 0, expr);
    let account = state.session.progress().rounds();
    let measured = state.session.cost(call.entry, &text, seed);
    drop(account);
    match measured {
        Ok(costs) if costs.is_empty() => {
            state.fail(Problem::of_command("there is no expression to measure"))
        }
        Ok(costs) => costed(state, costs),
        Err(diagnostics) => state.fail_all(&diagnostics),
    }
}

/// Measures an expression without what its inputs cost.
fn of_inputs(state: &mut State, call: &Call<'_>, asked: &Asked) -> Outcome {
    let seed = state.session.settings().seed;
    match asked.cost(&mut state.session, call.entry, None, seed) {
        Ok(cost) => costed(state, vec![cost]),
        Err(diagnostics) => state.fail_all(&diagnostics),
    }
}

fn costed(state: &mut State, costs: Vec<Cost>) -> Outcome {
    let several = costs.len() > 1;
    let headings = ["name", "work", "depth", "parallelism"];
    let mut table = Table::new(if several { &headings } else { &headings[1..] });
    for Cost { name, work, depth, .. } in costs {
        let cells = [name, grouped(work), grouped(depth), ratio(parallelism(work, depth))];
        table.row(cells.into_iter().skip(usize::from(!several)));
    }
    state.show(Output::Answer(table.bundle_in(state.width())));
    Outcome::Done
}

fn over_sizes(state: &mut State, call: &Call<'_>, asked: &Asked, sizes: &[u64]) -> Outcome {
    let session = &mut state.session;
    match growth::measure(session, call.entry, asked, sizes, SEEDS_PER_SIZE, &mut |_| {}) {
        Ok(growth) => {
            state.show(Output::Answer(shown(state, &growth)));
            if state.setup.display.html && growth.points.len() > 1 {
                state.show(Output::Answer(growth.plot()));
            }
            Outcome::Done
        }
        Err(diagnostics) => state.fail_all(&diagnostics),
    }
}

/// Returns the table and the laws, in lines that the screen holds.
fn shown(state: &State, growth: &CostGrowth) -> Bundle {
    let (table, sentences) = (growth.table(), growth.sentences().join("\n"));
    let plain = format!("{}\n{}", table.bundle_in(state.width()).plain, state.fitted(&sentences));
    let html = format!(
        "{}<div style=\"margin-top:.6em\">{PRE}{}</pre></div>",
        table.html(),
        escaped(&sentences)
    );
    Bundle::text(plain).with_html(html)
}

#[cfg(test)]
mod tests {
    use super::{Parts, parts};

    #[test]
    fn sizes_and_inputs_stand_behind_the_expression() {
        let plain = |expr| Parts { expr, given: None, sizes: None };
        assert_eq!(parts("sum([0:n])"), Ok(plain("sum([0:n])")));
        let sized = Ok(Parts { sizes: Some(vec![100, 1000]), ..plain("sum([0:n])") });
        assert_eq!(parts("sum([0:n]) for n = 1e2, 1000;"), sized);
        assert_eq!(parts("sum([0:n])\nfor n=100 1_000"), sized);
        assert_eq!(parts("wait_for n = 3"), Ok(plain("wait_for n = 3")));
        let given = Some("xs = [0:n]; k = 3");
        assert_eq!(
            parts("take(xs, k) given xs = [0:n]; k = 3"),
            Ok(Parts { given, ..plain("take(xs, k)") })
        );
        let both = Ok(Parts { given, sizes: Some(vec![10, 20]), ..plain("take(xs, k)") });
        assert_eq!(parts("take(xs, k) given xs = [0:n]; k = 3 for n = 10, 20"), both);
        assert_eq!(parts("take(xs, k) for n = 10, 20 given xs = [0:n]; k = 3"), both);
        assert_eq!(parts("given + 1"), Ok(plain("given + 1")));
        assert!(parts("primes for n = many").is_err_and(|why| why.contains("`many`")));
        assert!(parts("primes for n = ").is_err());
    }
}
