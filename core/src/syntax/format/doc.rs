//! Documents with optional line breaks (Wadler, "A prettier printer", 2003).

use std::rc::Rc;

/// A document: text whose line breaks are chosen by [`layout`].
#[derive(Clone, Debug)]
pub(super) enum Doc {
    /// Text; line breaks in it (of a string) are kept.
    Text(Rc<str>),
    /// A blank, or a line break if its group is broken.
    Line,
    /// A line break, unless the line is still empty. Breaks all enclosing groups.
    Fresh,
    /// A comment at the end of a line. Breaks all enclosing groups, and does not count towards the width.
    Behind(Rc<str>),
    /// The documents one after the other.
    Concat(Vec<Doc>),
    /// A document indented by a number of columns.
    Nest(usize, Rc<Doc>),
    /// A document indented to the column in which it begins.
    Align(Rc<Doc>),
    /// A document on one line if it fits, else with all its own line breaks.
    Group(Rc<Doc>),
}

impl Doc {
    pub(super) fn text(text: &str) -> Doc {
        Doc::Text(text.into())
    }

    pub(super) fn nil() -> Doc {
        Doc::Concat(Vec::new())
    }

    pub(super) fn group(docs: Vec<Doc>) -> Doc {
        Doc::Group(Rc::new(Doc::Concat(docs)))
    }

    pub(super) fn align(docs: Vec<Doc>) -> Doc {
        Doc::Align(Rc::new(Doc::Concat(docs)))
    }

    pub(super) fn nest(by: usize, docs: Vec<Doc>) -> Doc {
        Doc::Nest(by, Rc::new(Doc::Concat(docs)))
    }
}

/// Lays out a document in lines of at most `width` characters.
pub(super) fn layout(doc: &Doc, width: usize) -> String {
    let mut out = Output { blank: true, ..Output::default() };
    // The documents still to be laid out, each with its indentation and whether its lines are broken.
    let mut todo: Vec<(usize, bool, &Doc)> = vec![(0, true, doc)];
    while let Some((indent, broken, doc)) = todo.pop() {
        match doc {
            Doc::Text(text) if &**text == " " => out.space(),
            Doc::Text(text) => {
                if out.ended {
                    out.newline(indent);
                }
                out.word(text);
            }
            Doc::Behind(text) => out.behind(text),
            Doc::Line if !broken => out.space(),
            Doc::Line => out.newline(indent),
            Doc::Fresh => {
                if out.blank {
                    out.indent = indent;
                } else {
                    out.newline(indent);
                }
            }
            Doc::Concat(docs) => todo.extend(docs.iter().rev().map(|d| (indent, broken, d))),
            Doc::Nest(by, inner) => todo.push((indent + by, broken, inner)),
            Doc::Align(inner) if out.ended => todo.push((indent, broken, inner)),
            Doc::Align(inner) => todo.push((out.column_now(), broken, inner)),
            Doc::Group(inner) => {
                let room = width.saturating_sub(out.column_now());
                let fits = fits(inner, room, &todo);
                todo.push((indent, !fits, inner));
            }
        }
    }
    out.text
}

#[derive(Default)]
struct Output {
    text: String,
    column: usize,
    /// The indentation of the current line, if it is not yet written.
    indent: usize,
    /// True if the current line is empty.
    blank: bool,
    /// True if a space comes before the next word; at the end of a line it is dropped.
    space: bool,
    /// True if a comment ended the line, so that the next word begins another.
    ended: bool,
}

impl Output {
    fn column_now(&self) -> usize {
        if self.blank { self.indent } else { self.column }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        if self.blank {
            self.text.extend(std::iter::repeat_n(' ', self.indent));
            self.column = self.indent;
            self.blank = false;
        } else if self.space {
            self.text.push(' ');
        }
        self.space = false;
        self.text.push_str(word);
        self.column = match word.rfind('\n') {
            Some(at) => word[at + 1..].chars().count(),
            None => self.column + word.chars().count(),
        };
    }

    fn behind(&mut self, comment: &str) {
        if !self.blank {
            self.text.push(' ');
        }
        self.text.push_str(comment);
        self.blank = false;
        self.space = false;
        self.ended = true;
    }

    fn space(&mut self) {
        if !self.ended && !self.blank && !self.space {
            self.space = true;
            self.column += 1;
        }
    }

    fn newline(&mut self, indent: usize) {
        self.space = false;
        self.ended = false;
        self.text.push('\n');
        self.indent = indent;
        self.column = 0;
        self.blank = true;
    }
}

/// Returns true if a group fits on the rest of the line, together with the text after it up to the next
/// possible line break.
fn fits(group: &Doc, room: usize, after: &[(usize, bool, &Doc)]) -> bool {
    let mut room = room as isize;
    let mut todo: Vec<(bool, &Doc)> = vec![(false, group)];
    let mut rest = after.iter().rev();
    while room >= 0 {
        let (broken, doc) = match todo.pop() {
            Some(next) => next,
            None => match rest.next() {
                Some((_, broken, doc)) => (*broken, *doc),
                None => return true,
            },
        };
        match doc {
            Doc::Text(text) => match text.find('\n') {
                Some(at) => return room >= text[..at].chars().count() as isize,
                None => room -= text.chars().count() as isize,
            },
            Doc::Line if !broken => room -= 1,
            Doc::Line => return true,
            // A comment ends the line, so all enclosing groups break.
            Doc::Fresh | Doc::Behind(_) => return broken,
            Doc::Concat(docs) => todo.extend(docs.iter().rev().map(|d| (broken, d))),
            Doc::Nest(_, inner) | Doc::Align(inner) => todo.push((broken, inner)),
            // A group after this one may be broken.
            Doc::Group(inner) => todo.push((broken, inner)),
        }
    }
    false
}
