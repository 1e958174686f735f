//! Foldable ranges: parts of a text with more than one line.
//!
//! They are derived from tokens, so that forms that do not parse can be folded, too.

use crate::base::{TextRange, TextSize};
use crate::db::{Cursor, forms};
use crate::db::{Database, FileId};
use crate::syntax::ast::ItemKind;
use crate::syntax::{Kind, lex};

/// The kind of a range that is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FoldKind {
    /// A whole form.
    Form,
    /// A comment, several that follow each other, or a doc string.
    Comment,
    /// A part of a form: brackets, an apply-to-each, the bindings of a `let`.
    Block,
}

/// A part of a text that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The range in bytes; it contains a line end.
    pub range: TextRange,
    /// The kind of the range.
    pub kind: FoldKind,
}

/// The foldable ranges of a file, in order. Of several with the same first and last line, the outermost.
pub fn folds(db: &Database, file: FileId) -> Vec<Fold> {
    let all = forms(db, file, None).flat_map(|(_, cursor)| form(&cursor));
    without_repetition(&db.file_text(file), all.collect())
}

/// The parts of a form that have more than one line, in order.
pub(super) fn form(cursor: &Cursor<'_>) -> Vec<Fold> {
    let mut all = Vec::new();
    if let Some(range) = cursor.extent() {
        all.push(Fold { range, kind: FoldKind::Form });
    }
    comments(cursor, &mut all);
    blocks(cursor, &mut all);
    let text = cursor.db.item_text(cursor.item);
    all.retain(|fold| text[fold.range - cursor.start].contains('\n'));
    all.sort_by_key(|fold| (fold.range.start(), std::cmp::Reverse(fold.range.end())));
    all
}

/// Leaves out of some ranges, which are in order, those with the same first and last line as one before.
pub(super) fn without_repetition(text: &str, mut all: Vec<Fold>) -> Vec<Fold> {
    let lines = Lines::new(text);
    let mut seen: Vec<(usize, usize)> = Vec::new();
    all.retain(|fold| {
        let (first, last) = (lines.of(fold.range.start()), lines.of(fold.range.end()));
        // Ranges are in order: those that began in lines before cannot be repeated.
        seen.retain(|(before, _)| *before == first);
        let is_new = !seen.contains(&(first, last));
        seen.push((first, last));
        is_new
    });
    all
}

/// The starts of lines, in bytes.
struct Lines(Vec<u32>);

impl Lines {
    fn new(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines(ends.map(|(at, _)| at as u32 + 1).collect())
    }

    fn of(&self, at: TextSize) -> usize {
        self.0.partition_point(|start| *start <= u32::from(at))
    }
}

/// Comments: within a form one by one, elsewhere adjacent ones together.
fn comments(cursor: &Cursor<'_>, all: &mut Vec<Fold>) {
    let text = cursor.db.item_text(cursor.item);
    let mut run: Option<TextRange> = None;
    let mut flush = |run: &mut Option<TextRange>| {
        if let Some(range) = run.take() {
            all.push(Fold { range: range + cursor.start, kind: FoldKind::Comment });
        }
    };
    for token in lex(&text) {
        match token.kind {
            Kind::Comment | Kind::OpenComment | Kind::ForeignComment => {
                run = Some(run.map_or(token.range, |run| run.cover(token.range)));
            }
            Kind::Blank if text[token.range].matches('\n').count() < 2 => {}
            _ => flush(&mut run),
        }
    }
    flush(&mut run);
    if let ItemKind::Function(function) = &cursor.ast.kind
        && function.doc.is_some()
        && let Some(doc) = cursor.parsed.tokens.iter().find(|token| token.kind == Kind::Text)
    {
        all.push(Fold { range: doc.range + cursor.start, kind: FoldKind::Comment });
    }
}

/// Brackets that match, and `let … in`.
fn blocks(cursor: &Cursor<'_>, all: &mut Vec<Fold>) {
    let mut open: Vec<(Kind, TextRange)> = Vec::new();
    let mut end = TextSize::new(0);
    for token in cursor.parsed.tokens.iter() {
        let opened = |kind: Kind| match kind {
            Kind::RParen => Some(Kind::LParen),
            Kind::RBracket => Some(Kind::LBracket),
            Kind::RBrace => Some(Kind::LBrace),
            _ => None,
        };
        match token.kind {
            Kind::CallParen => open.push((Kind::LParen, token.range)),
            Kind::LParen | Kind::LBracket | Kind::LBrace | Kind::LetKw => {
                open.push((token.kind, token.range));
            }
            // The bindings: what comes behind `in` is seen.
            Kind::InKw => {
                if let Some((Kind::LetKw, start)) = open.last() {
                    let range = TextRange::new(start.start(), end) + cursor.start;
                    all.push(Fold { range, kind: FoldKind::Block });
                    open.pop();
                }
            }
            kind => {
                if let Some(opened) = opened(kind)
                    && let Some(at) = open.iter().rposition(|(kind, _)| *kind == opened)
                {
                    let range = open[at].1.cover(token.range) + cursor.start;
                    all.push(Fold { range, kind: FoldKind::Block });
                    open.truncate(at);
                }
            }
        }
        end = token.range.end();
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn check(text: &str, expected: &[(FoldKind, usize, usize)]) {
        let f = Fixture::new(text);
        let lines = |fold: &Fold| {
            let end = TextRange::empty(fold.range.end());
            (fold.kind, f.line(fold.range), f.line(end))
        };
        let found: Vec<_> = folds(&f.db, f.file).iter().map(lines).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_goes_over_line_ends_folds() {
        use FoldKind::{Block, Comment, Form};
        check(
            "% one %\n% two %\n\nfunction f(a)\n\"Doc\n string\" =\n  let x = 1;\n      y = 2\n  in {b\n : b in a};\n1;",
            &[(Comment, 0, 1), (Form, 3, 9), (Comment, 4, 5), (Block, 6, 7), (Block, 8, 9)],
        );
        check("x = [1,\n 2];", &[(Form, 0, 1)]);
        check("% a\n b %", &[(Comment, 0, 1)]);
        check("1; 2;", &[]);
    }

    #[test]
    fn broken_text_folds() {
        check("x = (1,\n [2,\n 3];", &[(FoldKind::Form, 0, 2), (FoldKind::Block, 1, 2)]);
        check("", &[]);
    }
}
