//! Commands that plot: `:plot`, `:scatter`, `:histogram`, `:heatmap`.

use super::{Call, Command, Operand};
use crate::display::plot::{self, Kind};
use crate::output::{Outcome, Output, Problem};
use crate::state::State;

pub(super) static PLOT: Command = Command {
    name: ":plot",
    operand: Operand::Forms,
    usage: "EXPR",
    about: "plot numbers, or points, joined by lines",
    doc: "`:plot {sin(float(i) / 10.0) : i in [0:63]}` plots numbers over their indices; a sequence of \
          pairs `(x, y)` is plotted as points in that order, and of a sequence of such sequences each is \
          a line of its own. At most 5,000 points are drawn. The value is `it` afterwards.",
    run: |state, call| run(state, call, Kind::Line),
};

pub(super) static SCATTER: Command = Command {
    name: ":scatter",
    operand: Operand::Forms,
    usage: "EXPR",
    about: "plot points",
    doc: "`:scatter {(rand(1.0), rand(1.0)) : i in [0:100]}` plots each pair `(x, y)` as a dot. It \
          takes the same values as `:plot`.",
    run: |state, call| run(state, call, Kind::Scatter),
};

pub(super) static HISTOGRAM: Command = Command {
    name: ":histogram",
    operand: Operand::Forms,
    usage: "EXPR",
    about: "plot how often numbers are in each of some intervals",
    doc: "`:histogram {rand(6) + rand(6) : i in [0:1000]}` counts the numbers of a sequence, of a nested \
          one those of all rows. The width of the intervals is chosen by the spread of the numbers (the \
          rule of Freedman and Diaconis); there are at most 60.",
    run: |state, call| run(state, call, Kind::Histogram),
};

pub(super) static HEATMAP: Command = Command {
    name: ":heatmap",
    operand: Operand::Forms,
    usage: "EXPR",
    about: "plot a matrix of numbers as colours",
    doc: "`:heatmap {{i * j : j in [0:20]} : i in [0:10]}` draws the first row at the top. All rows must \
          be equally long.",
    run: |state, call| run(state, call, Kind::HeatMap),
};

/// Evaluates the operand, and plots the value of its last expression.
fn run(state: &mut State, call: &Call<'_>, kind: Kind) -> Outcome {
    let (outcome, value) = state.evaluate(call.entry, call.operand, call.whole, plot::limits());
    match value {
        _ if outcome != Outcome::Done => outcome,
        Some(shown) => match plot::plot(kind, &shown) {
            Ok(bundle) => {
                state.show(Output::Answer(bundle));
                Outcome::Done
            }
            Err(message) => state.fail(Problem::of_command(message)),
        },
        None => {
            let message = format!("`{}` needs an expression", call.command.name);
            state.fail(Problem::of_command(message))
        }
    }
}
