//! The commands that begin with a colon, one table for the prompt and for notebooks.
//!
//! ```text
//! :time sort(xs)          a command and its operand, on a line of its own
//! :time                   where the operand is a form, it may be the rest of the entry
//! x = sort(xs);
//! :time {sqrt(x) :        a form goes on while a bracket is open
//!   x in xs}
//! ```
//!
//! An entry may begin with any number of commands; the text after them is NESL. A command may be
//! shortened: where several begin so, the first of the table is meant. A front end may add commands
//! of its own.
//!
//! | module | commands |
//! |---|---|
//! | `look` | `:help`, `:type`, `:doc`, `:info`, `:browse`, `:full` |
//! | `measure` | `:time`, `:stats`, `:vars` |
//! | `cost` | `:cost` |
//! | `ir` | `:ir` |
//! | `flatten` | `:flatten` |
//! | `kernels` | `:kernels` |
//! | `settings` | `:set`, `:devices`, `:undo`, `:reset` |
//! | `files` | `:load`, `:watch`, `:save`, `:cd` |

mod cost;
mod files;
mod flatten;
mod ir;
mod kernels;
mod look;
mod measure;
mod plots;
mod settings;

pub use files::file_path;
pub use settings::{bytes, idle, stack_bytes, threads};

use crate::completion::{Completion, Completions};
use crate::output::Outcome;
use crate::runtimes::Runtimes;
use crate::state::State;
use nesl_core::base::{TextRange, TextSize};
use nesl_core::ide::{self, FileKind, FileName};
use nesl_core::syntax::entry::{count_of, operand_end, program_of, word_before_form};
use nesl_engine::Session;
use nesl_engine::Stages;
use std::fmt::Write;
use std::ops::Range;

/// A row of the table.
pub struct Command {
    /// The name, with its colon.
    pub name: &'static str,
    /// The kind of operand that it takes.
    pub operand: Operand,
    /// The operand as help writes it: `EXPR`.
    pub usage: &'static str,
    /// The effect, in a line.
    pub about: &'static str,
    /// The description in full, as Markdown: meaning, forms of the operand, an example.
    pub doc: &'static str,
    run: fn(&mut State, &Call<'_>) -> Outcome,
}

/// The kind of operand that a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The command takes nothing.
    None,
    /// A name, or another word.
    Word,
    /// A word, or nothing.
    OptionalWord,
    /// The name of a command or of anything else, or nothing.
    Command,
    /// A setting and its value, a setting, or nothing.
    Setting,
    /// The name of a file.
    File,
    /// The name of a folder, or nothing.
    Folder,
    /// Forms: those of the line, or else the rest of the entry.
    Forms,
    /// Forms, as with [`Operand::Forms`], and before them the number of times that they run, or none.
    CountedForms,
    /// Forms, or nothing.
    OptionalForms,
    /// The name of a definition of one's own, or of a file, or nothing.
    Definition,
    /// A stage of the compiler, or none, and forms, or none.
    Stage,
}

impl Operand {
    /// Returns the byte at which the forms begin in an operand on the line of its command.
    fn form_start(self, operand: &str) -> Option<usize> {
        match self {
            Operand::Forms | Operand::OptionalForms => Some(0),
            Operand::CountedForms => Some(count_of(operand).map_or(0, |(_, start)| start)),
            Operand::Stage => Some(word_before_form(operand).map_or(0, |(_, start)| start)),
            _ => None,
        }
    }
}

/// The commands that a program offers, and what some of them take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Commands {
    /// The commands of the front end itself.
    pub extra: &'static [&'static Command],
    /// The stages of the compiler.
    pub stages: Stages,
    /// The runtimes that can be chosen.
    pub runtimes: Runtimes,
}

impl Command {
    /// Makes a command that a front end does itself
    /// ([`Front::command`](crate::state::Front::command)).
    pub const fn of_front(
        name: &'static str,
        operand: Operand,
        usage: &'static str,
        about: &'static str,
        doc: &'static str,
    ) -> Command {
        Command { name, operand, usage, about, doc, run: |state, call| state.by_front(call) }
    }
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

impl Call<'_> {
    /// Returns a form that begins at a byte of the operand as a program in which everything stands where it stands
    /// in the entry: there are blanks and line ends instead of what comes before.
    fn program(&self, session: &mut Session, start: usize, form: &str) -> String {
        let operand = self.whole.len() - self.operand.len().min(self.whole.len());
        let before = self.whole.get(..operand + start).unwrap_or_default();
        let blanks = before.chars().map(|c| if c == '\n' { '\n' } else { ' ' });
        session.closed(&(blanks.collect::<String>() + form))
    }
}

/// The commands, in the order of the help.
pub static COMMANDS: &[&Command] = &[
    &look::HELP,
    &look::TYPE,
    &look::DOC,
    &look::INFO,
    &look::BROWSE,
    &look::FULL,
    &measure::VARS,
    &measure::TIME,
    &cost::COST,
    &ir::IR,
    &flatten::FLATTEN,
    &kernels::KERNELS,
    &measure::STATS,
    &settings::SET,
    &settings::DEVICES,
    &files::LOAD,
    &files::WATCH,
    &files::SAVE,
    &files::CD,
    &settings::UNDO,
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
pub type Parsed<'a> = Result<Written<'a>, String>;

impl Commands {
    /// Returns the rows of the table, in the order of the help.
    pub fn all(self) -> impl Iterator<Item = &'static Command> {
        COMMANDS.iter().chain(self.extra).copied()
    }

    /// Returns the command of a name, which may be shortened.
    pub fn expand(self, name: &str) -> Option<&'static Command> {
        let mut begun =
            self.all().filter(|command| name.len() > 1 && command.name.starts_with(name));
        self.all().find(|command| command.name == name).or_else(|| begun.next())
    }

    /// Returns the command that stands in an entry from `start` on, if one does, and the byte behind
    /// it.
    pub fn first(self, entry: &str, start: usize) -> Option<(Parsed<'_>, usize)> {
        let begin = behind_comments(entry, start);
        if !entry[begin..].starts_with(':') {
            return None;
        }
        let line_end = entry[begin..].find('\n').map_or(entry.len(), |at| begin + at);
        let line = &entry[begin..line_end];
        let name = &line[..line.find(char::is_whitespace).unwrap_or(line.len())];
        let name = name.trim_end_matches(';');
        let Some(command) = self.expand(name) else {
            let message = format!("there is no command `{name}`; `:help` lists them");
            return Some((Err(message), line_end));
        };
        let own = trimmed(entry, begin + name.len()..line_end);
        let takes_rest = match command.operand {
            Operand::Forms | Operand::CountedForms | Operand::OptionalForms => own.is_empty(),
            Operand::Stage => own.is_empty() || self.stages.find(&entry[own.clone()]).is_some(),
            _ => false,
        };
        let below = behind_comments(entry, line_end);
        let (range, after) = match takes_rest {
            // No form begins so: it is the next command.
            true if own.is_empty() && entry[below..].starts_with(':') => {
                (line_end..line_end, line_end)
            }
            true if own.is_empty() => (trimmed(entry, line_end..entry.len()), entry.len()),
            true => (trimmed(entry, own.start..entry.len()), entry.len()),
            false => {
                let end = match command.operand.form_start(&entry[own.clone()]) {
                    Some(form) => operand_end(entry, own.start + form, line_end),
                    None => line_end,
                };
                (trimmed(entry, own.start..end), end)
            }
        };
        let missing = range.is_empty()
            && matches!(
                command.operand,
                Operand::Word | Operand::File | Operand::Forms | Operand::CountedForms
            );
        // People end forms so, and what takes nothing is no form.
        let is_ended = entry[range.clone()].trim_end_matches(';').is_empty();
        let surplus = command.operand == Operand::None && !is_ended;
        if missing || surplus {
            return Some((Err(format!("write `{}`", usage(command))), after));
        }
        let whole = &entry[..range.end];
        Some((Ok(Written { command, operand: &entry[range], whole }), after))
    }

    /// Returns the completions at a place in a command; `None` if it is not in one, or in NESL text.
    pub fn complete(self, text: &str, cursor: usize) -> Option<Completions> {
        let (start, line) = line_at(text, cursor);
        if !line.starts_with(':') {
            return None;
        }
        let typed = &text[start..cursor];
        let mut words = typed.split_whitespace();
        let name = words.next().unwrap_or("");
        if !typed.contains(char::is_whitespace) {
            return Some(Completions { range: start..cursor, all: self.named(typed) });
        }
        let word = start + word_start(typed);
        let prefix = &text[word..cursor];
        let is_first = text[start + name.len()..word].trim().is_empty();
        match self.expand(name)?.operand {
            Operand::File => Some(files(text, cursor, true)),
            Operand::Folder => Some(files(text, cursor, false)),
            Operand::Setting => Some(settings::complete(self, text, start, cursor)),
            Operand::Command if prefix.starts_with(':') => {
                Some(Completions { range: word..cursor, all: self.named(prefix) })
            }
            Operand::Stage if is_first => {
                let stages = self.stages.iter().filter(|stage| stage.name().starts_with(prefix));
                let all: Vec<Completion> = stages
                    .map(|stage| Completion {
                        text: stage.name().to_owned(),
                        kind: "stage",
                        ty: stage.about().to_owned(),
                    })
                    .collect();
                (!all.is_empty()).then_some(Completions { range: word..cursor, all })
            }
            _ => None,
        }
    }

    /// Returns what may stand at a place in a command besides names: words of its own, and the names of commands
    /// without their colons.
    pub fn options(self, text: &str, cursor: usize) -> Vec<Completion> {
        let Some((command, before, prefix)) = self.operand_at(text, cursor) else {
            return Vec::new();
        };
        if !before.trim().is_empty() {
            return Vec::new();
        }
        if command.operand == Operand::Command {
            let bare = self.named(&format!(":{prefix}")).into_iter();
            return bare
                .map(|c| Completion { text: c.text.trim_start_matches(':').to_owned(), ..c })
                .collect();
        }
        let is_word =
            |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
        let alternatives = command.usage.trim_matches(['[', ']']).split('|').filter(is_word);
        // One word may stand there by itself; where there is none besides, it is a part of something longer.
        let all =
            alternatives.filter(|word| command.usage.contains('|') && word.starts_with(prefix));
        let option =
            |word: &str| Completion { text: word.to_owned(), kind: "option", ty: String::new() };
        all.map(option).collect()
    }

    /// Returns the files that may stand at a place in a command that takes definitions and files; `None` if it is in
    /// no such command.
    pub fn definition_files(self, text: &str, cursor: usize) -> Option<Completions> {
        let (command, _, _) = self.operand_at(text, cursor)?;
        (command.operand == Operand::Definition).then(|| files(text, cursor, true))
    }

    /// Returns the command that a place is in, behind its name, with the operand before the word at the place, and
    /// that word.
    fn operand_at(self, text: &str, cursor: usize) -> Option<(&'static Command, &str, &str)> {
        let (start, line) = line_at(text, cursor);
        let typed = &text[start..cursor];
        let name = typed.split(char::is_whitespace).next()?;
        if !line.starts_with(':') || name.len() == typed.len() {
            return None;
        }
        let word = word_start(typed);
        Some((self.expand(name)?, &typed[name.len()..word], &typed[word..]))
    }

    /// Returns the files that a string before a place may name; `None` if it is in no string.
    pub fn complete_file(self, text: &str, cursor: usize) -> Option<Completions> {
        FileName::in_text(text, cursor).map(|name| entries(&name, true))
    }

    fn named(self, prefix: &str) -> Vec<Completion> {
        let fits = self.all().filter(|command| command.name.starts_with(prefix));
        let completion = |command: &Command| Completion {
            text: command.name.to_owned(),
            kind: "command",
            ty: command.about.to_owned(),
        };
        fits.map(completion).collect()
    }

    /// Returns the help of the command that a place is in, as Markdown.
    pub fn help_at(self, text: &str, cursor: usize) -> Option<String> {
        let (start, line) = line_at(text, cursor);
        let name = line.split(char::is_whitespace).next().filter(|name| name.starts_with(':'))?;
        (cursor <= start + name.len()).then(|| self.expand(name).map(help)).flatten()
    }

    /// Returns an entry as a program in which everything stands where it stood, with blanks instead of
    /// its commands.
    pub fn as_program(self, text: &str) -> String {
        program_of(text, &|line| {
            let name = line.find(char::is_whitespace).unwrap_or(line.len());
            let operand = line[name..].trim_start();
            let word = &operand[..operand.find(char::is_whitespace).unwrap_or(operand.len())];
            match self.expand(&line[..name])?.operand {
                Operand::CountedForms if let Some((_, start)) = count_of(operand) => {
                    Some(line.len() - operand.len() + start)
                }
                Operand::CountedForms
                | Operand::Forms
                | Operand::OptionalForms
                | Operand::Word
                | Operand::OptionalWord
                | Operand::Definition => Some(name),
                Operand::Stage if self.stages.find(word).is_some() => {
                    Some(line.len() - operand.len() + word.len())
                }
                Operand::Stage => Some(name),
                _ => None,
            }
        })
    }
}

/// Returns the place behind the blanks and the comments at a place.
fn behind_comments(text: &str, start: usize) -> usize {
    let mut begin = trimmed(text, start..text.len()).start;
    while let Some(inside) = text[begin..].strip_prefix('%')
        && let Some(end) = inside.find('%')
    {
        begin = trimmed(text, begin + end + 2..text.len()).start;
    }
    begin
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

/// Returns the help of a command, as Markdown.
pub fn help(command: &'static Command) -> String {
    let mut out = format!("```\n{}\n```\n{}\n", usage(command), command.about);
    if !command.doc.is_empty() {
        let _ = write!(out, "\n{}\n", command.doc.trim());
    }
    out
}

/// The line of the book's page below which the commands are listed.
#[cfg(test)]
const PAGE_MARKER: &str =
    "<!-- What follows is written by the tests of the table of commands. -->\n";

/// Returns the book's page with the commands below its marker.
#[cfg(test)]
fn page(page: &str) -> String {
    let head = page.split(PAGE_MARKER).next().unwrap_or_default();
    let mut out = format!("{head}{PAGE_MARKER}\n| command | what it does |\n|---|---|\n");
    let cell = |text: &str| text.replace('|', "\\|");
    for command in COMMANDS {
        let _ = writeln!(out, "| `{}` | {} |", cell(&usage(command)), command.about);
    }
    for command in COMMANDS {
        let _ = write!(out, "\n## `{}`\n\n{}\n", usage(command), command.doc);
    }
    out
}

/// Returns how a command is written.
pub fn usage(command: &Command) -> String {
    format!("{} {}", command.name, command.usage).trim_end().to_owned()
}

/// Returns the start of the last word of a text, its end if it ends with a blank.
fn word_start(text: &str) -> usize {
    text.trim_end_matches(|c: char| !c.is_whitespace()).len()
}

/// Returns the start of the line that a place is in, and the line.
fn line_at(text: &str, cursor: usize) -> (usize, &str) {
    let start = text[..cursor].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    (start, &line[..line.find('\n').unwrap_or(line.len())])
}

/// Returns the folders that the last word before a place may name, and the files if they are wanted.
fn files(text: &str, cursor: usize, files: bool) -> Completions {
    let start = text[..cursor].rfind([' ', '\t', '"']).map_or(0, |at| at + 1);
    let place = |at: usize| TextSize::try_from(at).unwrap_or_default();
    let range = TextRange::new(place(start), place(cursor));
    let name = FileName { kind: FileKind::Any, range, typed: text[start..cursor].to_owned() };
    entries(&name, files)
}

/// Returns the folders that a name may go on with, seen from the current folder, and the files if they are wanted.
fn entries(name: &FileName, files: bool) -> Completions {
    let found = std::fs::read_dir(name.folder()).into_iter().flatten().flatten();
    let found = found.filter_map(|entry| {
        let is_folder = entry.path().is_dir();
        Some((entry.file_name().into_string().ok()?, is_folder))
    });
    let before = &name.typed[..name.typed.len() - name.stem().len()];
    let all = name.choose(found).into_iter();
    let fitting = all.filter(|choice| choice.name.starts_with(name.stem()));
    let completion = |choice: ide::FileChoice| Completion {
        text: format!("{before}{}", choice.name),
        kind: if choice.is_folder { "folder" } else { "file" },
        ty: String::new(),
    };
    let all = fitting.filter(|choice| files || choice.is_folder).map(completion).collect();
    Completions { range: name.range.into(), all }
}

#[cfg(test)]
mod tests;
