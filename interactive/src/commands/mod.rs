//! The commands that begin with a colon, one table for the prompt and for notebooks.
//!
//! ```text
//! :time sort(xs)          a command and its operand, on a line of its own
//! :time                   where the operand is a form, it may be the rest of the entry
//! x = sort(xs);
//! ```
//!
//! An entry may begin with any number of commands; the text after them is NESL. A command may be
//! shortened: where several begin so, the first of the table is meant.

mod look;
mod measure;
mod plots;
mod settings;

pub use settings::bytes;

use crate::assist::{Completion, Completions};
use crate::output::Outcome;
use crate::state::State;
use std::fmt::Write;
use std::ops::Range;

/// A row of the table.
pub struct Command {
    /// The name, with its colon.
    pub name: &'static str,
    /// What it takes.
    pub operand: Operand,
    /// The operand as help writes it: `EXPR`.
    pub usage: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// What it does in full, as Markdown: meaning, forms of the operand, an example.
    pub doc: &'static str,
    run: fn(&mut State, &Call<'_>) -> Outcome,
}

/// What a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Nothing.
    None,
    /// A name, or another word.
    Word,
    /// A word, or nothing.
    OptionalWord,
    /// The name of a file.
    File,
    /// Forms: those of the line, or else the rest of the entry.
    Forms,
    /// Forms, or nothing.
    OptionalForms,
}

/// A command of an entry.
pub struct Call<'a> {
    /// The row of the table.
    pub command: &'static Command,
    /// The name of the entry, for messages.
    pub entry: &'a str,
    /// The operand, without blanks around it.
    pub operand: &'a str,
    /// The text of the entry up to the end of the operand, so that lines are counted from its
    /// beginning.
    pub whole: &'a str,
}

/// The commands, in the order of the help.
pub static COMMANDS: &[&Command] = &[
    &look::HELP,
    &look::TYPE,
    &look::DOC,
    &measure::TIME,
    &measure::STATS,
    &measure::VARS,
    &settings::SET,
    &settings::LOAD,
    &settings::RESET,
    &plots::PLOT,
    &plots::SCATTER,
    &plots::HISTOGRAM,
    &plots::HEATMAP,
];

/// A command as it was written.
#[derive(Debug)]
pub struct Written<'a> {
    command: &'static Command,
    operand: &'a str,
    whole: &'a str,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

/// A command, or what is wrong with it.
type Parsed<'a> = Result<Written<'a>, String>;

/// Returns the command that stands in an entry from `start` on, if one does, and the byte behind it.
pub fn first(entry: &str, start: usize) -> Option<(Parsed<'_>, usize)> {
    let begin = trimmed(entry, start..entry.len()).start;
    if !entry[begin..].starts_with(':') {
        return None;
    }
    let line_end = entry[begin..].find('\n').map_or(entry.len(), |at| begin + at);
    let line = &entry[begin..line_end];
    let name = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
    let Some(command) = expand(name) else {
        return Some((Err(format!("there is no command `{name}`; `:help` lists them")), line_end));
    };
    let takes_rest = matches!(command.operand, Operand::Forms | Operand::OptionalForms);
    let own = trimmed(entry, begin + name.len()..line_end);
    let (range, after) = if own.is_empty() && takes_rest {
        (trimmed(entry, line_end..entry.len()), entry.len())
    } else {
        (own, line_end)
    };
    let missing = range.is_empty()
        && matches!(command.operand, Operand::Word | Operand::File | Operand::Forms);
    let surplus = command.operand == Operand::None && !range.is_empty();
    if missing || surplus {
        return Some((Err(format!("write `{}`", usage(command))), after));
    }
    let whole = &entry[..range.end];
    Some((Ok(Written { command, operand: &entry[range], whole }), after))
}

/// Returns the range without the blanks at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let own = &text[range.clone()];
    let start = range.start + (own.len() - own.trim_start().len());
    start..start.max(range.start + own.trim_end().len())
}

/// Does what a command says.
pub fn run(state: &mut State, entry: &str, written: &Written<'_>) -> Outcome {
    let Written { command, operand, whole } = *written;
    (command.run)(state, &Call { command, entry, operand, whole })
}

/// Returns what to say of a text that is written for another kernel: a magic of IPython or a shell
/// escape, which NESL would take for a comment or a wrong form.
pub fn foreign(text: &str) -> Option<String> {
    let line = text.trim_start().lines().next()?;
    let magic = line.trim_start_matches('%');
    let named = magic.starts_with(|c: char| c.is_ascii_alphabetic()) && !magic.contains('%');
    if line.starts_with('%')
        && named
        && (line.starts_with("%%") || !text.trim_start()[1..].contains('%'))
    {
        let name = magic.split(char::is_whitespace).next().unwrap_or("");
        let instead = match name {
            "time" | "timeit" | "prun" => "; `:time` measures",
            "who" | "whos" => "; `:vars` lists the variables",
            "load" | "run" => "; `:load FILE` runs a file",
            "reset" => "; `:reset` begins anew",
            _ => "",
        };
        return Some(format!(
            "`%{name}` is a command of IPython; here `%` begins a comment, and commands begin with \
             `:`{instead}"
        ));
    }
    let shell = line.strip_prefix('!').filter(|rest| !rest.trim().is_empty())?;
    Some(format!(
        "`!` runs a command of the system in IPython; here it is `shell_command(\"{}\", \"\")`",
        shell.trim().replace('\\', "\\\\").replace('"', "\\\"")
    ))
}

/// Returns the completions at a place in a command; `None` if it is not in one, or in NESL text.
pub fn complete(text: &str, cursor: usize) -> Option<Completions> {
    let (start, line) = line_at(text, cursor);
    if !line.starts_with(':') {
        return None;
    }
    let typed = &text[start..cursor];
    if !typed.contains(char::is_whitespace) {
        let fits = COMMANDS.iter().filter(|command| command.name.starts_with(typed));
        let all = fits.map(|command| Completion {
            text: command.name.to_owned(),
            kind: "command",
            ty: command.about.to_owned(),
        });
        return Some(Completions { range: start..cursor, all: all.collect() });
    }
    let name = typed.split(char::is_whitespace).next().unwrap_or("");
    let command = expand(name)?;
    match command.operand {
        Operand::File => Some(files(text, cursor)),
        Operand::OptionalWord if command.name == settings::SET.name => {
            Some(settings::complete(text, start, cursor))
        }
        _ => None,
    }
}

/// Returns the help of the command that a place is in, as Markdown.
pub fn help_at(text: &str, cursor: usize) -> Option<String> {
    let (start, line) = line_at(text, cursor);
    let name = line.split(char::is_whitespace).next().filter(|name| name.starts_with(':'))?;
    (cursor <= start + name.len()).then(|| expand(name).map(help)).flatten()
}

/// Returns the help of a command, as Markdown.
pub fn help(command: &'static Command) -> String {
    let mut out = format!("```\n{}\n```\n{}\n", usage(command), command.about);
    if !command.doc.is_empty() {
        let _ = write!(out, "\n{}\n", command.doc.trim());
    }
    out
}

/// Returns how a command is written.
pub fn usage(command: &Command) -> String {
    format!("{} {}", command.name, command.usage).trim_end().to_owned()
}

/// Returns the command of a name, which may be shortened.
pub fn expand(name: &str) -> Option<&'static Command> {
    let mut all =
        COMMANDS.iter().filter(|command| name.len() > 1 && command.name.starts_with(name));
    let exact = COMMANDS.iter().find(|command| command.name == name);
    exact.or_else(|| all.next()).copied()
}

/// Returns the start of the line that a place is in, and the line.
fn line_at(text: &str, cursor: usize) -> (usize, &str) {
    let start = text[..cursor].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    (start, &line[..line.find('\n').unwrap_or(line.len())])
}

/// Returns the files and folders that the last word before a place may name.
fn files(text: &str, cursor: usize) -> Completions {
    let start = text[..cursor].rfind([' ', '\t', '"']).map_or(0, |at| at + 1);
    let typed = &text[start..cursor];
    let (folder, prefix) = typed.rsplit_once('/').map_or(("", typed), |(f, p)| (f, p));
    let place = match (folder, typed.starts_with('/')) {
        ("", true) => "/",
        ("", false) => ".",
        (folder, _) => folder,
    };
    let found = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut all: Vec<Completion> = found
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.file_type().is_ok_and(|ty| ty.is_dir());
            if !name.starts_with(prefix) || (prefix.is_empty() && name.starts_with('.')) {
                return None;
            }
            let before = &typed[..typed.len() - prefix.len()];
            let end = if is_folder { "/" } else { "" };
            let kind = if is_folder { "folder" } else { "file" };
            Some(Completion { text: format!("{before}{name}{end}"), kind, ty: String::new() })
        })
        .collect();
    all.sort_by(|a, b| a.text.cmp(&b.text));
    Completions { range: start..cursor, all }
}

#[cfg(test)]
mod tests;
