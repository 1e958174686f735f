//! Commands that look at definitions: `:help`, `:type`, `:doc`, `:info`, `:browse`, `:full`.

use super::{Call, Command, Commands, Operand, usage};
use crate::bundle::Bundle;
use crate::html::{PRE, escaped};
use crate::output::{Outcome, Output, Problem};
use crate::state::State;
use crate::table::Table;
use crate::text::{Lines, fitted, wrapped};
use crate::unknown::unknown;
use nesl_core::syntax::split;
use nesl_engine::{Definition, Earlier, FileRange};
use std::path::Path;

/// The text before the list of the commands.
const INTRODUCTION: &str = "\
Type an expression; `it` is the last result. The closing `;` of the last form may be left out.

  {a * a : a in [3, -4, 5]}                   an apply-to-each
  function dbl(x) = x + x                     a definition
  xs = [0:10]                                 a variable
  describe sort;  apropos scan;  load \"f\";    NESL's own commands
";

/// The width of explanations, in characters, where there is no screen.
const HELP_COLUMNS: usize = 79;

/// The width of the column with the commands, in characters; the effect of longer ones stands below them.
const USAGE_COLUMNS: usize = 22;

/// The characters of the effect of a command in a line, at least.
const MIN_ABOUT_CHARS: usize = 16;

pub(super) static HELP: Command = Command {
    name: ":help",
    operand: Operand::Command,
    usage: "[COMMAND]",
    about: "list the commands, or explain one",
    doc: "`:help :time` explains `:time`. A name of the library is explained by `:doc`.",
    run: |state, call| {
        let word = call.operand.trim_end_matches(';');
        let name = if word.starts_with(':') { word.to_owned() } else { format!(":{word}") };
        let text = if word.is_empty() {
            state.show(Output::Answer(list(state.commands(), columns(state))));
            return Outcome::Done;
        } else if let Some(command) = state.commands().expand(&name) {
            explained(command, columns(state))
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
    doc: "`:type {x * 2 : x in [1, 2]}` answers `[int]`. Of several forms, each has its type in a line.",
    run: |state, call: &Call<'_>| {
        let operand = call.operand.trim_end_matches(';').trim_end();
        let text = call.program(&mut state.session, 0, operand);
        match state.session.types_of(call.entry, &text) {
            Ok(types) => {
                let forms = split(&text).into_iter().map(|form| text[form.range].trim());
                let forms: Vec<&str> =
                    forms.map(|form| form.trim_end_matches(';').trim_end()).collect();
                let lines = match forms.len() == types.len() {
                    true => forms.iter().zip(&types).map(|(f, ty)| format!("{f} : {ty}")).collect(),
                    false => vec![format!("{operand} : {}", types.last().map_or("", |ty| ty))],
                };
                state.show(Output::Answer(Bundle::text(lines.join("\n"))));
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
                state.say(text.trim_end());
                Outcome::Done
            }
            None => unknown_name(state, name),
        }
    },
};

pub(super) static INFO: Command = Command {
    name: ":info",
    operand: Operand::Word,
    usage: "NAME",
    about: "the definition of a name, and what became of earlier ones",
    doc: "The type, where it is defined, the cost if it is documented, and the text. A definition replaces \
          an earlier one of the same type in all that uses it; if its type is another, the functions \
          defined before go on to use the earlier one, and are listed.",
    run: |state, call| {
        let name = call.operand.trim_end_matches(';').trim_end();
        match state.session.definition(name) {
            Some(definition) => {
                let text = info(state, &definition);
                state.show(Output::Answer(Bundle::text(text)));
                Outcome::Done
            }
            None => unknown_name(state, name),
        }
    },
};

pub(super) static BROWSE: Command = Command {
    name: ":browse",
    operand: Operand::OptionalWord,
    usage: "[FILTER]",
    about: "the names that are defined, with their types",
    doc: "Without a filter, one's own names. `:browse scan` lists all names, the library's too, that have \
          `scan` in them, or in their type: `:browse [[float]]`.",
    run: |state, call| {
        let filter = call.operand.trim_end_matches(';').trim_end().to_lowercase();
        let mut names = state.session.names();
        names.retain(|known| match &*filter {
            "" => !known.library,
            filter => known.name.contains(filter) || known.ty.to_lowercase().contains(filter),
        });
        names.sort_by(|a, b| (a.library, &a.name).cmp(&(b.library, &b.name)));
        names.dedup();
        if names.is_empty() {
            let text = match &*filter {
                "" => "Nothing is defined yet; `:browse sum` looks in the library.".to_owned(),
                filter => format!("No name and no type has `{filter}` in it."),
            };
            state.say(&text);
            return Outcome::Done;
        }
        let mut table = Table::new(&["name", "type"]);
        for known in names {
            table.row([known.name, known.ty]);
        }
        state.show(Output::Answer(table.bundle_in(state.width())));
        Outcome::Done
    },
};

pub(super) static FULL: Command = Command {
    name: ":full",
    operand: Operand::OptionalForms,
    usage: "[EXPR]",
    about: "a value as a whole, however long it is; without an expression, `it`",
    doc: "`:full {[0:i] : i in [0:60]}` prints all elements. The prompt shows what the screen does not hold in \
          `$NESL_PAGER`, `$PAGER` or less. A notebook shows the first 1 MB; \
          `write_string_to_file(@it, \"it.txt\")` writes all of it to a file.",
    run: |state, call| match call.operand {
        "" if state.session.definition("it").is_none() => {
            let message =
                "there is no value yet: without an expression, `:full` shows the last one";
            state.fail(Problem::of_command(message))
        }
        "" => {
            let defines_it = std::mem::replace(&mut state.session.settings_mut().defines_it, false);
            let outcome = state.enter_whole(call.entry, "it;", "it;");
            state.session.settings_mut().defines_it = defines_it;
            outcome
        }
        operand => state.enter_whole(call.entry, operand, call.whole),
    },
};

/// Fails because nothing is known about a name.
fn unknown_name(state: &mut State, name: &str) -> Outcome {
    let text = unknown(&mut state.session, name);
    let (kind, message) = text.split_once(": ").unwrap_or(("Name error", &text));
    let shown = Bundle::colored(format!("\x1b[1;31m{kind}:\x1b[0m {message}"));
    let (kind, message) = (kind.to_owned(), message.to_owned());
    state.fail(Problem { kind, message, shown })
}

/// Returns what is known of a definition.
fn info(state: &mut State, definition: &Definition) -> String {
    let Definition { name, ty, library, text, at, earlier } = definition;
    let mut lines = vec![format!("{name} : {ty}")];
    lines.push(match at {
        None => "built in".to_owned(),
        Some(at) if *library => format!("in the library, {}", place(state, at)),
        Some(at) => format!("defined in {}", place(state, at)),
    });
    let doc = state.session.doc(name).unwrap_or_default();
    let cost = doc.lines().find_map(|line| line.strip_prefix("Cost: "));
    lines.extend(cost.map(|cost| format!("cost: {cost}")));
    for Earlier { ty, at, replaced, users } in earlier {
        let before = format!("earlier: {name} : {ty} in {}", place(state, at));
        lines.push(match &users[..] {
            _ if *replaced => format!("{before}; this one has replaced it"),
            [] => before,
            users => format!("{before}, kept by {}", users.join(", ")),
        });
    }
    if !text.is_empty() {
        lines.extend([String::new(), text.clone()]);
    }
    lines.join("\n")
}

/// Returns a place: the name of an entry, or a file with a line. (Above the forms of an entry commands
/// may stand, which its text does not have.)
fn place(state: &State, at: &FileRange) -> String {
    let (name, text) = state.session.source(at.file);
    if !state.session.database().library().contains(&at.file) && !Path::new(&*name).is_file() {
        return name.to_string();
    }
    let start = crate::text::own_start(&text, &at.range);
    let line = Lines::new(text).position(start).line;
    format!("{name}, line {line}")
}

/// Returns the width of explanations, in characters.
fn columns(state: &State) -> usize {
    // In its last column a terminal may begin the next line.
    state.width().map_or(HELP_COLUMNS, |columns| columns.saturating_sub(1).max(MIN_ABOUT_CHARS))
}

/// Returns the help of a command as text for a terminal.
fn explained(command: &Command, columns: usize) -> String {
    let about = indented(command.about, 4, columns);
    let doc = wrapped(command.doc, columns.min(HELP_COLUMNS));
    format!("{}\n{about}\n\n{doc}", wrapped(&usage(command), columns))
}

/// Returns a text in lines that begin with blanks.
fn indented(text: &str, blanks: usize, columns: usize) -> String {
    let room = columns.saturating_sub(blanks).max(MIN_ABOUT_CHARS);
    let lines = wrapped(text, room);
    lines.lines().map(|line| " ".repeat(blanks) + line).collect::<Vec<_>>().join("\n")
}

/// Returns the list of the commands, in lines of so many characters.
fn list(commands: Commands, columns: usize) -> Bundle {
    let mut text = fitted(INTRODUCTION, columns) + "\n";
    let mut table = Table::new(&["command", "about"]);
    let is_narrow = columns < USAGE_COLUMNS + 2 * MIN_ABOUT_CHARS;
    for command in commands.all() {
        let usage = usage(command);
        if is_narrow || usage.chars().count() + 4 > USAGE_COLUMNS {
            let about = indented(command.about, if is_narrow { 4 } else { USAGE_COLUMNS }, columns);
            text += &format!("\n{}\n{about}", indented(&usage, 2, columns));
        } else {
            let about = indented(command.about, USAGE_COLUMNS, columns);
            text +=
                &format!("\n  {usage:<width$}{}", about.trim_start(), width = USAGE_COLUMNS - 2);
        }
        table.row([usage, command.about.to_owned()]);
    }
    let html = format!(
        "{PRE}{}</pre><div style=\"margin-top:.8em\">{}</div>",
        escaped(INTRODUCTION.trim_end()),
        table.html()
    );
    Bundle::text(text.trim_end()).with_html(format!("<div>{html}</div>"))
}
