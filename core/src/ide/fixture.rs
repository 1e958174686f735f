//! Tests of features: a text with a cursor, `$0`, in it.

use super::{Edit, Target, Text, primitives};
use crate::base::{TextRange, TextSize};
use crate::db::{Database, FileId};

/// A file with a cursor, or with two for a selection.
pub(crate) struct Fixture {
    pub db: Database,
    pub file: FileId,
    pub text: String,
    cursors: Vec<TextSize>,
}

impl Fixture {
    /// Takes the cursors out of the text.
    pub fn new(marked: &str) -> Fixture {
        let mut text = String::new();
        let mut cursors = Vec::new();
        for (i, part) in marked.split("$0").enumerate() {
            if i > 0 {
                cursors.push(TextSize::of(&*text));
            }
            text.push_str(part);
        }
        let mut db = Database::new();
        let file = db.add_file("test.nesl", &text, None);
        Fixture { db, file, text, cursors }
    }

    /// The first cursor of the text.
    pub fn cursor(&self) -> TextSize {
        self.cursors[0]
    }

    /// The range between the cursors.
    pub fn selection(&self) -> TextRange {
        TextRange::new(self.cursors[0], *self.cursors.last().expect("a cursor"))
    }

    /// The name that a target points at.
    pub fn slice(&self, target: &Target) -> String {
        match target.text {
            Text::File(file) => self.db.file_text(file)[target.focus].to_owned(),
            Text::Primitives => primitives()[target.focus].to_owned(),
        }
    }

    /// The line that a range begins on, from 0.
    pub fn line(&self, range: TextRange) -> usize {
        self.text[..range.start().into()].matches('\n').count()
    }

    /// The text with some ranges in `⟦…⟧`.
    pub fn marked(&self, ranges: &[TextRange]) -> String {
        let mut marks: Vec<(TextSize, char)> = ranges.iter().map(|r| (r.start(), '⟦')).collect();
        marks.extend(ranges.iter().map(|r| (r.end(), '⟧')));
        marks.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut text = self.text.clone();
        for (at, mark) in marks {
            text.insert(at.into(), mark);
        }
        text
    }

    /// The text after some edits.
    pub fn edited(&self, edits: &[Edit]) -> String {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start()));
        let mut text = self.text.clone();
        for edit in edits {
            text.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.text);
        }
        text
    }
}
