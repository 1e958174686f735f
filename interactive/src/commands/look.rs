//! Commands that look at definitions: `:help`, `:type`, `:doc`.

use super::{COMMANDS, Call, Command, Operand, expand, help, usage};
use crate::bundle::Bundle;
use crate::entry::close;
use crate::output::{Outcome, Output, Problem};
use crate::unknown::unknown;

/// What the help says before the list of the commands.
const INTRODUCTION: &str = "\
Type an expression; `it` is the last result. The closing `;` of the last form may be left out.

  {a * a : a in [3, -4, 5]}                   an apply-to-each
  function dbl(x) = x + x                     a definition
  xs = [0:10]                                 a variable
  describe sort;  apropos scan;  load \"f\";    NESL's own commands
";

pub(super) static HELP: Command = Command {
    name: ":help",
    operand: Operand::OptionalWord,
    usage: "[COMMAND]",
    about: "list the commands, or explain one",
    doc: "`:help :time` explains `:time`. A name of the library is explained by `:doc`.",
    run: |state, call| {
        let word = call.operand.trim_end_matches(';');
        let name = if word.starts_with(':') { word.to_owned() } else { format!(":{word}") };
        let text = if word.is_empty() {
            list()
        } else if let Some(command) = expand(&name) {
            help(command)
        } else if let Some(doc) = state.session.doc(word) {
            doc
        } else {
            return state.fail(Problem::of_command(format!("there is no command `{name}`")));
        };
        state.show(Output::Answer(Bundle::text(text.trim_end())));
        Outcome::Done
    },
};

pub(super) static TYPE: Command = Command {
    name: ":type",
    operand: Operand::Forms,
    usage: "EXPR",
    about: "the type of an expression, without evaluating it",
    doc: "`:type {x * 2 : x in [1, 2]}` answers `[int]`.",
    run: |state, call: &Call<'_>| {
        let operand = call.operand.trim_end_matches(';').trim_end();
        match state.session.type_of(&close(operand)) {
            Ok(ty) => {
                state.show(Output::Answer(Bundle::text(format!("{operand} : {ty}"))));
                Outcome::Done
            }
            Err(diagnostics) => state.fail_all(&diagnostics),
        }
    },
};

pub(super) static DOC: Command = Command {
    name: ":doc",
    operand: Operand::Word,
    usage: "NAME",
    about: "what a function or operator does",
    doc: "The type, the documentation, examples and the cost of a function, of the library or one's own.",
    run: |state, call| {
        let name = call.operand.trim_end_matches(';').trim_end();
        match state.session.doc(name) {
            Some(text) => {
                state.show(Output::Answer(Bundle::text(text.trim_end())));
                Outcome::Done
            }
            None => {
                let message = unknown(&mut state.session, name);
                state.fail(Problem::of_command(message))
            }
        }
    },
};

/// Returns the list of the commands.
fn list() -> String {
    let mut text = INTRODUCTION.to_owned();
    let width = COMMANDS.iter().map(|command| usage(command).len()).max().unwrap_or(0);
    for command in COMMANDS {
        text += &format!("\n  {:<width$}  {}", usage(command), command.about);
    }
    text
}
