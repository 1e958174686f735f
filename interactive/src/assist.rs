//! Completion and inspection at a cursor, while the session runs.
//!
//! Everything is asked of a [`View`], which follows the session: an answer never waits for a
//! computation.

use crate::completion::{Completion, Completions};
use crate::state::commands::Commands;
use nesl_core::base::{TextRange, TextSize};
use nesl_core::ide::{self, CompletionKind};
use nesl_engine::{Outlook, View};
use std::ops::Range;

/// Answers about texts behind the entries of a session.
pub struct Assist {
    view: View,
    commands: Commands,
}

impl Assist {
    /// Makes an assistant for a session.
    pub fn new(outlook: Outlook) -> Assist {
        Assist { view: View::new(outlook), commands: Commands::default() }
    }

    /// Makes it know the commands of a front end, with the stages and runtimes that they take.
    pub fn with_commands(self, commands: Commands) -> Assist {
        Assist { commands, ..self }
    }

    /// Returns the completions at a byte of a text.
    pub fn complete(&mut self, text: &str, cursor: usize) -> Completions {
        let cursor = floor(text, cursor);
        if let Some(found) = self.commands.complete(text, cursor) {
            return found;
        }
        if let Some(found) = self.commands.complete_file(text, cursor) {
            return found;
        }
        let files = self.commands.definition_files(text, cursor);
        let own = files.is_some().then(|| self.view.own_names());
        let (db, file) = self.view.with(&self.commands.as_program(text));
        let all = ide::completions(db, file, size(cursor));
        // What stands there is what the first of them replaces; all replace the same word.
        let word = word_at(text, cursor);
        let typed = text[word.start..cursor].to_lowercase();
        let fits =
            |completion: &ide::Completion| completion.label.to_lowercase().starts_with(&typed);
        let whole = |c: &ide::Completion| c.kind != CompletionKind::Snippet && fits(c);
        let all = all.into_iter().filter(whole).map(|c| Completion {
            // Front ends have no places to fill in: of a function only the name is inserted.
            text: if c.snippet { c.label } else { c.insert },
            kind: kind(c.kind),
            ty: c.ty.unwrap_or_default(),
        });
        let mut found = self.commands.options(text, cursor);
        found.extend(all.filter(|c| own.as_ref().is_none_or(|own| own.contains(&c.text))));
        if let Some(files) = files {
            if files.range.start != word.start {
                return files;
            }
            found.extend(files.all);
        }
        Completions { range: word.start..cursor, all: found }
    }

    /// Returns what is known about the name at a byte of a text, as Markdown: its type,
    /// documentation, example and cost.
    pub fn inspect(&mut self, text: &str, cursor: usize) -> Option<String> {
        let cursor = floor(text, cursor);
        if let Some(help) = self.commands.help_at(text, cursor) {
            return Some(help);
        }
        let word = word_at(text, cursor);
        let (db, file) = self.view.with(&self.commands.as_program(text));
        // The cursor often stands behind a name, or behind the parenthesis that follows it.
        let places = [cursor, word.start, floor(text, cursor.saturating_sub(1))];
        let mut found = places.iter().filter_map(|at| {
            ide::hover(db, file, TextRange::empty(size(*at)), ide::Precision::Bits64)
        });
        found.next().map(|hover| hover.markdown())
    }

    /// Returns the definition of the name at a byte of a text, as it was written.
    pub fn definition(&mut self, text: &str, cursor: usize) -> Option<String> {
        let cursor = floor(text, cursor);
        let word = word_at(text, cursor);
        let (db, file) = self.view.with(&self.commands.as_program(text));
        let places = [cursor, word.start, floor(text, cursor.saturating_sub(1))];
        let (_, target) = places.iter().find_map(|at| ide::definition(db, file, size(*at)))?;
        let source = match target.text {
            ide::Text::File(file) => db.file_text(file),
            // They are defined in no language that a user would read.
            ide::Text::Primitives => return None,
        };
        source.get(Range::<usize>::from(target.range)).map(str::to_owned)
    }
}

fn size(at: usize) -> TextSize {
    TextSize::try_from(at).unwrap_or_default()
}

/// Returns the nearest place at or before a byte that is not inside a character.
fn floor(text: &str, cursor: usize) -> usize {
    let mut at = cursor.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the range of the name that a place is in or behind.
pub(crate) fn word_at(text: &str, cursor: usize) -> Range<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = text[..cursor]
        .rfind(|c| !is_part(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end = text[cursor..].find(|c| !is_part(c)).map_or(text.len(), |at| cursor + at);
    start..end
}

fn kind(kind: CompletionKind) -> &'static str {
    match kind {
        CompletionKind::Function => "function",
        CompletionKind::Constructor => "constructor",
        CompletionKind::Variable => "variable",
        CompletionKind::Parameter => "parameter",
        CompletionKind::Type => "type",
        CompletionKind::TypeVariable => "type variable",
        CompletionKind::Class => "class",
        CompletionKind::Keyword => "keyword",
        CompletionKind::Operator => "operator",
        CompletionKind::Snippet => "snippet",
        CompletionKind::Command => "command",
    }
}

#[cfg(test)]
mod tests;
