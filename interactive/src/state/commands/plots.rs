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
          a line of its own. A line through points that turns back, such as a polygon, has the same \
          scale on both axes unless it is more than four times as long as wide; the graph of a function \
          fills the picture. At most 5,000 points are drawn. The value is `it` afterwards. At the prompt, \
          `:set plots` chooses between pictures in the terminal, text, and files.",
    run: |state, call| run(state, call, Kind::Line),
};

pub(super) static SCATTER: Command = Command {
    name: ":scatter",
    operand: Operand::Forms,
    usage: "EXPR",
    about: "plot points",
    doc: "`:scatter {(rand(1.0), rand(1.0)) : i in [0:100]}` plots each pair `(x, y)` as a dot. It \
          takes the same values as `:plot`. Pairs have the same scale on both axes, unless they spread \
          more than four times as far along one of them; then they fill the picture.",
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
        Some(shown) => {
            match plot::plot(kind, &shown, state.width(), &state.session.interrupt_handle()) {
                // It is one of a part of the value.
                _ if state.is_interrupted() => {
                    state.show(Output::Error(Problem::interrupted()));
                    Outcome::Interrupted
                }
                Ok(bundle) => {
                    state.show(Output::Answer(bundle));
                    Outcome::Done
                }
                Err(message) => state.fail(Problem::of_command(message)),
            }
        }
        None => {
            let message = format!("`{}` needs an expression", call.command.name);
            state.fail(Problem::of_command(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::display::{Style, limits};
    use crate::output::{Outcome, Output};
    use crate::runtimes::RuntimeRow;
    use crate::state::{Setup, State};
    use nesl_engine::{Settings, ShownValues};
    use nesl_runtime::runtime::Options;
    use std::sync::mpsc::channel;

    static RUNTIMES: [RuntimeRow; 1] = [RuntimeRow {
        name: "reference",
        about: "The direct interpreter",
        device: |_| "direct interpreter".to_owned(),
        interpret_first: false,
        stages: nesl_engine::Stages::with_backend(&[]),
        make: |_| Ok(None),
    }];

    /// Enters a text; returns what was said in one line each, and the outcome.
    fn enter(state: &mut State, text: &str) -> (Vec<String>, Outcome) {
        let (sink, outputs) = channel();
        let outcome = state.enter("In [1]", text, Box::new(move |output| drop(sink.send(output))));
        let said = outputs.try_iter().map(|output| match output {
            Output::Answer(bundle) if bundle.plot.is_some() && bundle.svg.is_some() => {
                "a plot".to_owned()
            }
            Output::Value(b) | Output::Defined(b) | Output::Answer(b) | Output::Warning(b) => {
                b.plain
            }
            Output::Error(problem) => format!("{}: {}", problem.kind, problem.message),
            Output::Printed(..) | Output::Picture(..) => "something else".to_owned(),
        });
        (said.collect(), outcome)
    }

    #[test]
    fn a_command_evaluates_and_plots() {
        let settings = Settings {
            shown: ShownValues::Expressions,
            data: Some(limits()),
            ..Settings::default()
        };
        let (runtimes, runtime) = (&RUNTIMES, &RUNTIMES[0]);
        let (options, display) = (Options::default(), Style { html: true, ..Style::default() });
        let setup = Setup { settings, runtimes, runtime, options, idle: None, display, extra: &[] };
        let mut state = State::new(setup).expect("the direct interpreter is everywhere");
        for text in [
            ":plot {i * i : i in [0:10]}",
            ":scatter [(1, 2.5)];",
            ":histogram\n[1.5, 2.5]",
            ":heatmap [[1, 2]]",
        ] {
            assert_eq!(
                enter(&mut state, text),
                (vec!["a plot".to_owned()], Outcome::Done),
                "{text}"
            );
        }
        // Definitions are shown as ever; the value of the last expression is plotted.
        let (said, _) = enter(&mut state, ":plot\nx = [1, 2];\n\"text\";\nx;");
        assert_eq!(said, ["x : [int]", "a plot"]);
        for (text, message) in [
            (":plot 3", "Command error: a plot shows numbers"),
            (":plot y = 3", "Command error: `:plot` needs an expression"),
            (":plot unknown_name", "Name error: "),
            (":plot [1, 2][7]", "Runtime error: "),
            (":histogram", "Command error: write `:histogram EXPR`"),
        ] {
            let (said, outcome) = enter(&mut state, text);
            assert!(said.last().is_some_and(|said| said.starts_with(message)), "{said:?}");
            assert!(matches!(outcome, Outcome::Failed(_)), "{text}");
        }
        // The settings are as before.
        let (said, _) = enter(&mut state, "[1, 2, 3]");
        assert_eq!(said, ["[1, 2, 3] : [int]"]);
        assert_eq!(state.session.settings().data, Some(limits()));
    }
}
