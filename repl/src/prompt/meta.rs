//! Commands to the prompt itself, which begin with a colon. NESL's own commands (`describe
//! sort;`, `load "f";`) are forms like any other.

use super::Flow;
use super::definitions::{Files, Shown};
use crate::report::Reporter;
use crate::source;
use nesl_engine::Session;
use nesl_interactive::entry::close;
use nesl_interactive::measure;
use nesl_interactive::unknown::unknown;
use std::path::Path;

/// A row of the help: how it is written, what it does.
const COMMANDS: [(&str, &str, &str); 8] = [
    (":type", "EXPR", "the type of an expression, without evaluating it"),
    (":doc", "NAME", "what a function or operator does"),
    (":time", "FORM", "run a form and tell how long it took"),
    (":stats", "", "what the runtime did, and where the variables are"),
    (":load", "FILE", "run a file in this session"),
    (":reload", "[FORM]", "read again what the session's files define, and run a form"),
    (":help", "", "this"),
    (":quit", "", "leave (also Ctrl-D)"),
];

const HELP: &str = "\
Type an expression and press Enter; `it` is the last result. A form that is not whole goes on in
the next line. The closing `;` may be left out. Tab completes names, Ctrl-R searches what was typed
before, Ctrl-C stops a computation.

  {a * a : a in [3, -4, 5]}                   an apply-to-each
  function dbl(x) = x + x                     a definition
  xs = [0:10]                                 a variable
  describe sort;  apropos scan;  load \"f\";    NESL's own commands
";

/// A command and its argument.
pub struct Command<'a> {
    name: &'a str,
    argument: &'a str,
}

/// The command that a line is, if it is one.
pub fn parse(text: &str) -> Option<Command<'_>> {
    let text = text.trim();
    if !text.starts_with(':') {
        return None;
    }
    let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Some(Command { name, argument: argument.trim() })
}

/// Does what a command says.
pub fn run(
    reporter: &mut Reporter,
    session: &mut Session,
    files: &Files,
    command: Command<'_>,
) -> Flow {
    let argument = command.argument.trim_end_matches(';').trim_end();
    let full = expand(command.name);
    let needs = COMMANDS.iter().find(|(name, ..)| Some(*name) == full).map(|(_, needs, _)| *needs);
    if let Some(needs) = needs
        && !needs.starts_with('[')
        && needs.is_empty() != argument.is_empty()
    {
        let usage = format!("{} {needs}", full.unwrap_or_default());
        eprintln!("Write `{}`.", usage.trim_end());
        return Flow::Go;
    }
    match full {
        Some(":type") => show_type(reporter, session, argument),
        Some(":doc") => match session.doc(argument) {
            Some(text) => reporter.output.line(&text),
            None => eprintln!("{}", unknown(session, argument)),
        },
        Some(":time") => {
            let summary = reporter.enter_timed(session, "<entry>", &close(argument));
            if summary.exit {
                return Flow::Leave;
            }
        }
        Some(":stats") => reporter.output.line(&measure::stats(&session.stats())),
        Some(":load") => return load(reporter, session, argument),
        Some(":reload") if files.is_empty() => {
            eprintln!("The session has no files: `nesl repl FILE` starts one that has.");
        }
        Some(":reload") => {
            files.enter(reporter, session, Shown::Names);
            if !argument.is_empty() && reporter.enter(session, "<entry>", &close(argument)).exit {
                return Flow::Leave;
            }
        }
        Some(":help") => help(reporter),
        Some(":quit") => return Flow::Leave,
        _ => eprintln!("There is no `{}`; :help lists what there is.", command.name),
    }
    Flow::Go
}

/// The commands that begin like what is typed, if a command is being typed.
pub fn complete(before: &str) -> Option<Vec<String>> {
    if !before.starts_with(':') || before.contains(char::is_whitespace) {
        return None;
    }
    let names = COMMANDS.iter().filter(|(name, ..)| name.starts_with(before));
    Some(
        names
            .map(
                |(name, needs, _)| {
                    if needs.is_empty() { name.to_string() } else { format!("{name} ") }
                },
            )
            .collect(),
    )
}

/// Returns true if a file name is being typed.
pub fn wants_file(before: &str) -> bool {
    parse(before).is_some_and(|command| expand(command.name) == Some(":load"))
}

/// A command may be shortened; where several begin so, the first of the list is meant.
fn expand(name: &str) -> Option<&'static str> {
    let mut names = COMMANDS.iter().map(|(full, ..)| *full);
    names.find(|full| name.len() > 1 && full.starts_with(name))
}

fn show_type(reporter: &mut Reporter, session: &mut Session, text: &str) {
    match session.type_of(&close(text)) {
        Ok(ty) => reporter.output.line(&format!("{text} : {ty}")),
        Err(diagnostics) => {
            for diagnostic in &diagnostics {
                reporter.diagnostic(session, diagnostic);
            }
        }
    }
}

fn load(reporter: &mut Reporter, session: &mut Session, argument: &str) -> Flow {
    let path = Path::new(argument.trim_matches('"'));
    let with_ending = path.with_extension("nesl");
    let path = if path.exists() || !with_ending.exists() { path } else { &with_ending };
    match source::read(path) {
        Ok(file) => {
            let summary = reporter.enter(session, &file.name, &file.text);
            if summary.exit { Flow::Leave } else { Flow::Go }
        }
        Err(error) => {
            eprintln!("nesl: {error:#}");
            Flow::Go
        }
    }
}

fn help(reporter: &Reporter) {
    let mut text = HELP.to_string();
    for (name, needs, what) in COMMANDS {
        let usage = format!("{name} {needs}");
        text += &format!("\n  {usage:<16}{what}");
    }
    reporter.output.line(&text);
}
