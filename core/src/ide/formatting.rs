//! Formatting, as a list of minimal edits.
//!
//! The formatter changes blanks and, seldom, moves comments. Where it changes only blanks, the edits replace only
//! blanks, so that cursors, folds and marks in an editor stay where they are.

use super::Edit;
use crate::base::{ItemId, TextRange, TextSize};
use crate::db::{Cursor, forms};
use crate::db::{Database, FileId};
use crate::syntax::{Kind, Token, format, format_form, format_forms, lex, own};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::sync::Arc;

/// Formats a file repeatedly. It keeps the layouts of forms, so that only changed forms are laid out again.
#[derive(Default)]
pub struct Formatter(FxHashMap<ItemId, Known>);

/// A form's text, and its formatted text if that differs.
struct Known {
    text: Arc<str>,
    new: Option<String>,
}

impl Formatter {
    /// The edits that format a file; none if it is formatted. All calls must be for the same file.
    pub fn document(&mut self, db: &Database, file: FileId) -> Vec<Edit> {
        let outline = db.outline(file);
        let items = || outline.forms.iter().map(|form| form.id());
        // What is known already stays known if the reading is stopped in here.
        for item in items() {
            let text = db.item_text(item);
            if !self.0.get(&item).is_some_and(|known| Arc::ptr_eq(&known.text, &text)) {
                let new = format_form(&text, db.parsed(item));
                self.0.insert(item, Known { text, new });
            }
        }
        if self.0.len() > outline.forms.len() {
            let there: FxHashSet<ItemId> = items().collect();
            self.0.retain(|item, _| there.contains(item));
        }
        let mut old_ends = Vec::with_capacity(outline.forms.len());
        let mut start = 0;
        let (new, new_ends) = format_forms(items().map(|item| {
            let known = &self.0[&item];
            let text = &*known.text;
            let own = own(db.parsed(item));
            old_ends.extend(own.as_ref().map(|own| start + own.end));
            start += text.len();
            (text, own.unwrap_or(text.len()..text.len()), known.new.as_deref().map(Cow::Borrowed))
        }));
        let old = db.file_text(file);
        let edits = differences(file, &old, &new, old_ends.into_iter().zip(new_ends));
        with_line_ends(&old, edits)
    }
}

/// The edits that format a file; none if it is formatted.
pub fn format_document(db: &Database, file: FileId) -> Vec<Edit> {
    Formatter::default().document(db, file)
}

/// The edits that replace the text of a file by its formatted text, form by form.
fn differences(
    file: FileId,
    old: &str,
    new: &str,
    ends: impl Iterator<Item = (usize, usize)>,
) -> Vec<Edit> {
    let mut all = Vec::new();
    let (mut was, mut is) = (0, 0);
    for (old_end, new_end) in ends.chain([(old.len(), new.len())]) {
        all.extend(edits(file, &old[was..old_end], &new[is..new_end], size(was)));
        (was, is) = (old_end, new_end);
    }
    all
}

/// The edits that format the forms that a range touches.
pub fn format_range(db: &Database, file: FileId, range: TextRange) -> Vec<Edit> {
    let touched = forms(db, file, Some(range)).filter(|(_, cursor)| {
        // Of two that meet at a place, the one that the range reaches into.
        cursor.extent().is_some_and(|own| own.intersect(range).is_some())
    });
    let edits = touched.flat_map(|(_, cursor)| form(&cursor)).collect();
    with_line_ends(&db.file_text(file), edits)
}

/// The edits after a character was typed just before an offset: a `;` formats the form that it ends, whose lines
/// stay; a new line is indented, and so is a line that begins with the `in`, `then` or `else` which a blank ends.
pub fn format_on_type(db: &Database, file: FileId, offset: TextSize, typed: char) -> Vec<Edit> {
    match typed {
        ';' => {
            let before = offset.checked_sub(TextSize::of(';'));
            let cursor = before.and_then(|at| Cursor::new(db, file, at));
            let ended = cursor.filter(|cursor| {
                let last = cursor.parsed.tokens.last();
                last.is_some_and(|t| t.kind == Kind::Semi && t.range.end() + cursor.start == offset)
            });
            let edits = ended.map_or_else(Vec::new, |cursor| ended_form(&cursor));
            with_line_ends(&db.file_text(file), edits)
        }
        '\n' => indentation(db, file, offset).into_iter().collect(),
        ' ' if follows_first_word(&db.file_text(file), offset) => {
            indentation(db, file, offset).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The same edits with the line ends of a text, `\r\n` or `\n`. The formatter itself writes `\n`.
fn with_line_ends(text: &str, edits: Vec<Edit>) -> Vec<Edit> {
    let first = text.find('\n');
    if first.is_none_or(|at| !text[..at].ends_with('\r')) {
        return edits;
    }
    let kept = edits.into_iter().filter_map(|edit| {
        let mut range = std::ops::Range::<usize>::from(edit.range);
        let mut new = edit.text;
        // A line end is replaced as a whole or not at all.
        if text[..range.end].ends_with('\r') && text[range.end..].starts_with('\n') {
            range.end += 1;
            new.push('\n');
        }
        if text[..range.start].ends_with('\r') && text[range.start..].starts_with('\n') {
            range.start -= 1;
        }
        let new = new.replace("\r\n", "\n").replace('\n', "\r\n");
        let same = text[range.clone()] == new;
        let range = TextRange::new(size(range.start), size(range.end));
        (!same).then_some(Edit { range, text: new, ..edit })
    });
    kept.collect()
}

/// The edits that format one form, without the comments before it.
fn form(cursor: &Cursor<'_>) -> Vec<Edit> {
    let Some(extent) = cursor.extent() else { return Vec::new() };
    let text = cursor.db.item_text(cursor.item);
    let old = &text[extent - cursor.start];
    let new = format(old);
    let new = new.strip_suffix('\n').unwrap_or(&new);
    edits(cursor.file, old, new, extent.start())
}

/// The edits that format a form which was just ended. Whoever has written it in several lines has seen where they
/// end: they are only indented, and the blanks in them are the formatter's.
fn ended_form(cursor: &Cursor<'_>) -> Vec<Edit> {
    let text = cursor.db.item_text(cursor.item);
    let Some(extent) = cursor.extent() else { return Vec::new() };
    let old = &text[extent - cursor.start];
    let tokens = lex(old);
    if !old.contains('\n') || tokens.iter().any(|token| is_kept(token.kind, &old[token.range])) {
        return form(cursor);
    }
    let new = format(old);
    let new_tokens = lex(&new);
    let solid = |token: &&Token| !token.kind.is_trivia();
    let (mut out, mut above) = (String::new(), Vec::new());
    let (mut was, mut is) = (0, 0);
    let mut others = new_tokens.iter().filter(solid);
    for token in tokens.iter().filter(solid) {
        let Some(other) = others.next().filter(|other| new[other.range] == old[token.range]) else {
            return form(cursor);
        };
        let written = &old[was..usize::from(token.range.start())];
        let laid_out = &new[is..usize::from(other.range.start())];
        if written.contains('\n') {
            out.extend(written.chars().filter(|c| *c == '\n'));
            out.push_str(&" ".repeat(column(&out, &above, Some(token.kind))));
        } else if laid_out.contains('\n') {
            out.push_str(if written.is_empty() { "" } else { " " });
        } else {
            out.push_str(laid_out);
        }
        let start = size(out.len());
        out.push_str(&old[token.range]);
        above.push(Token { kind: token.kind, range: TextRange::new(start, size(out.len())) });
        (was, is) = (token.range.end().into(), other.range.end().into());
    }
    edits(cursor.file, old, &out, extent.start())
}

/// Returns true for a token that must not be moved: a comment, or a string of several lines.
fn is_kept(kind: Kind, text: &str) -> bool {
    (kind.is_trivia() && kind != Kind::Blank)
        || (matches!(kind, Kind::Text | Kind::OpenText) && text.contains('\n'))
}

/// Returns true if the line before an offset is one word that closes what a line above has begun, and a blank.
fn follows_first_word(text: &str, offset: TextSize) -> bool {
    let Some(before) = text.get(..usize::from(offset)) else { return false };
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    let words = ["in", "then", "else"];
    line.ends_with(' ') && words.iter().any(|word| line.trim().eq_ignore_ascii_case(word))
}

/// The edits that turn one text into another that differs only in layout.
fn edits(file: FileId, old: &str, new: &str, start: TextSize) -> Vec<Edit> {
    if old == new {
        return Vec::new();
    }
    let blanks = blanks(file, old, new, start);
    blanks.unwrap_or_else(|| changed(file, old, new, start).into_iter().collect())
}

/// The edits, if it suffices to replace blanks.
fn blanks(file: FileId, old: &str, new: &str, start: TextSize) -> Option<Vec<Edit>> {
    let (before, after) = (lex(old), lex(new));
    let solid = |token: &&Token| token.kind != Kind::Blank;
    let mut after_solid = after.iter().filter(solid);
    let mut all = Vec::new();
    let (mut was, mut is) = (0, 0);
    let mut gap = |was: std::ops::Range<usize>, is: &str| {
        if old[was.clone()] != *is {
            let bytes = TextRange::new(size(was.start), size(was.end));
            all.push(Edit { file, range: bytes + start, text: is.to_owned() });
        }
    };
    for token in before.iter().filter(solid) {
        let other = after_solid.next()?;
        if old[token.range] != new[other.range] {
            return None;
        }
        gap(was..token.range.start().into(), &new[is..other.range.start().into()]);
        (was, is) = (token.range.end().into(), other.range.end().into());
    }
    if after_solid.next().is_some() {
        return None;
    }
    gap(was..old.len(), &new[is..]);
    Some(all)
}

/// One edit from the first difference to the last.
fn changed(file: FileId, old: &str, new: &str, start: TextSize) -> Option<Edit> {
    if old == new {
        return None;
    }
    let same = |(a, b): &(char, char)| a == b;
    let width = |(a, _): (char, char)| a.len_utf8();
    let before: usize = old.chars().zip(new.chars()).take_while(same).map(width).sum();
    let ends = old[before..].chars().rev().zip(new[before..].chars().rev());
    let after: usize = ends.take_while(same).map(width).sum();
    let range = TextRange::new(size(before), size(old.len() - after)) + start;
    Some(Edit { file, range, text: new[before..new.len() - after].to_owned() })
}

fn size(n: usize) -> TextSize {
    TextSize::new(n as u32)
}

/// The indentation of the line at an offset.
fn indentation(db: &Database, file: FileId, offset: TextSize) -> Option<Edit> {
    let text = db.file_text(file);
    let at = usize::from(offset);
    let line = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let end = line + text[line..].find(|c| c != ' ' && c != '\t').unwrap_or(text.len() - line);
    let mut cursor = Cursor::new(db, file, size(line.checked_sub(1)?))?;
    // Of a form that begins below, nothing is above: the one before it may go on, unfinished.
    let begins = |cursor: &Cursor<'_>| cursor.extent().is_none_or(|own| own.start() >= size(line));
    while begins(&cursor) {
        let before = cursor.start.checked_sub(TextSize::new(1));
        let Some(before) = before.and_then(|at| Cursor::new(db, file, at)) else { break };
        cursor = before;
    }
    let item = db.item_text(cursor.item);
    // In a comment or a string a line begins where its writer wants it to.
    let within = |token: &Token| {
        let solid = token.kind.is_trivia() && token.kind != Kind::Blank;
        let range = token.range + cursor.start;
        (solid || matches!(token.kind, Kind::Text | Kind::OpenText))
            && range.start() < size(line)
            && (range.end() > size(line) || token.kind == Kind::OpenComment)
    };
    let tokens = lex(&item);
    if tokens.iter().any(within) {
        return None;
    }
    let significant = tokens.iter().filter(|token| !token.kind.is_trivia());
    let significant = significant.map(|t| Token { kind: t.kind, range: t.range + cursor.start });
    let (above, below): (Vec<Token>, Vec<Token>) =
        significant.partition(|t| t.range.start() < size(line));
    // What is moved along with the line.
    let next = below.first().filter(|token| usize::from(token.range.start()) == end);
    let column = column(&text, &above, next.map(|token| token.kind));
    let indentation = " ".repeat(column);
    if text[line..end] == indentation {
        return None;
    }
    Some(Edit { file, range: TextRange::new(size(line), size(end)), text: indentation })
}

/// A construct that is open at the end of a line, with the column at which lines inside it begin.
#[derive(Clone, Copy)]
struct Open {
    what: What,
    column: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Bracket(Kind),
    /// The bindings of a `let`.
    Let,
    /// After the `=` of a binding.
    Value,
    /// After the `in` of a `let`, or after `then` or `else`.
    Body,
    /// A condition; the column of its `if` is kept for the `else`.
    If,
}

/// The column, in the formatter's layout, of a line that follows some tokens of a form.
fn column(text: &str, above: &[Token], next: Option<Kind>) -> usize {
    let place = |token: &Token| {
        let at = usize::from(token.range.start());
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        text[line..at].chars().count()
    };
    let mut open: Vec<Open> = Vec::new();
    for token in above {
        let here = place(token);
        let innermost = |open: &[Open], what: What| open.iter().rposition(|o| o.what == what);
        match token.kind {
            Kind::LParen | Kind::CallParen => {
                open.push(Open { what: What::Bracket(Kind::LParen), column: here + 1 });
            }
            Kind::LBracket | Kind::LBrace => {
                open.push(Open { what: What::Bracket(token.kind), column: here + 1 });
            }
            Kind::RParen | Kind::RBracket | Kind::RBrace => {
                let kind = match token.kind {
                    Kind::RParen => Kind::LParen,
                    Kind::RBracket => Kind::LBracket,
                    _ => Kind::LBrace,
                };
                if let Some(at) = innermost(&open, What::Bracket(kind)) {
                    open.truncate(at);
                }
            }
            Kind::LetKw => open.push(Open { what: What::Let, column: here + 4 }),
            Kind::Equals => {
                let base = match open.last() {
                    Some(last) if last.what == What::Let => last.column,
                    None => 0,
                    // A comparison that somebody has written so.
                    Some(_) => continue,
                };
                open.push(Open { what: What::Value, column: base + 2 });
            }
            Kind::Semi => {
                let holds = |o: &Open| matches!(o.what, What::Let | What::Bracket(_));
                open.truncate(open.iter().rposition(holds).map_or(0, |at| at + 1));
            }
            Kind::InKw => {
                // The `in` of an apply-to-each is in a brace that was opened later.
                let bracket = open.iter().rposition(|o| matches!(o.what, What::Bracket(_)));
                if let Some(at) = innermost(&open, What::Let).filter(|at| bracket < Some(*at)) {
                    open.truncate(at);
                    open.push(Open { what: What::Body, column: here + 3 });
                }
            }
            Kind::IfKw => open.push(Open { what: What::If, column: here + 3 }),
            Kind::ThenKw => {
                if let Some(at) = innermost(&open, What::If) {
                    open.truncate(at + 1);
                    open.push(Open { what: What::Body, column: here + 5 });
                }
            }
            Kind::ElseKw => {
                if let Some(at) = innermost(&open, What::If) {
                    open.truncate(at);
                    open.push(Open { what: What::Body, column: here + 5 });
                }
            }
            _ => {}
        }
    }
    let ended = above.last().is_none_or(|t| matches!(t.kind, Kind::Semi | Kind::Dollar));
    let last_of = |what: What| open.iter().rev().find(|o| o.what == what);
    let aligned = match next {
        Some(Kind::InKw) => last_of(What::Let).map(|o| o.column - 4),
        Some(Kind::ThenKw | Kind::ElseKw) => last_of(What::If).map(|o| o.column - 3),
        _ => None,
    };
    match (aligned, open.last()) {
        (Some(column), _) => column,
        (None, Some(last)) => last.column,
        (None, None) if ended => 0,
        // A form goes on: `function f(x)` and what follows.
        (None, None) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    #[test]
    fn point_17_crlf_line_ends_stay() {
        for text in [
            "x=1;\r\ny = 2;\r\nfunction f1(x) =\r\n  x+1;\r\n",
            "% a\r\n b %\r\nlet a=1;\r\nb=2 in a+b;\r\n\r\n\r\n\r\nx;",
            "function g(x)=\r\nif x>0 then 1 % c %\r\nelse\r\n  2\r\n;\r\n",
        ] {
            let f = Fixture::new(text);
            let formatted = f.edited(&format_document(&f.db, f.file));
            let plain = Fixture::new(&text.replace("\r\n", "\n"));
            let expected = plain.edited(&format_document(&plain.db, plain.file));
            assert_eq!(formatted, expected.replace('\n', "\r\n"));
            let again = Fixture::new(&formatted);
            assert_eq!(format_document(&again.db, again.file), []);
        }
        // Lines that are formatted already are not touched.
        let f = Fixture::new("x = 1;\r\ny = 2;\r\nz=3;\r\n");
        assert_eq!(format_document(&f.db, f.file).len(), 2);
    }

    #[test]
    fn the_edits_of_a_document_are_its_format() {
        for text in [
            "x=1 ;\n\n\n\n% c %  y   = [1,2];",
            "function f(x)=let a=x; b=a in a+b ;\n",
            "x = 1;\n",
            "",
            "x = 1 % behind %\n + 2;",
            "y = = 1;\nx=2",
            "x=1;;y=2;",
            "`",
            "% open",
        ] {
            let f = Fixture::new(text);
            let edits = format_document(&f.db, f.file);
            assert_eq!(f.edited(&edits), format(text), "{text:?}");
            let again = Fixture::new(&format(text));
            assert_eq!(format_document(&again.db, again.file), [], "{text:?}");
        }
    }

    #[test]
    fn what_is_known_of_forms_is_of_no_matter() {
        let mut f = Fixture::new("");
        let mut known = Formatter::default();
        for text in [
            "a=1;\nb=2;\n",
            "a = 1;\nb=2;\n",
            "a = 1;\n\n\n\nb=2; % c %\n",
            "b=2; % c %\na=1",
            "b=(2; a=1;",
            "% c % a=1;\n\n",
            "",
        ] {
            f.db.set_text(f.file, text);
            assert_eq!(known.document(&f.db, f.file), format_document(&f.db, f.file), "{text:?}");
        }
    }

    #[test]
    fn only_blanks_are_touched() {
        let f = Fixture::new("x = [1,2,  3];\ny = 1;\n");
        let edits = format_document(&f.db, f.file);
        assert_eq!(edits.len(), 2);
        assert!(edits.iter().all(|edit| edit.text == " " && edit.range.len() <= 2.into()));
    }

    #[test]
    fn a_range_formats_the_forms_it_touches() {
        let f = Fixture::new("x=1;\n% c %\ny=$02; z$0=3;\nw=4;");
        let edits = format_range(&f.db, f.file, f.selection());
        assert_eq!(f.edited(&edits), "x=1;\n% c %\ny = 2; z = 3;\nw=4;");
    }

    #[test]
    fn a_terminator_formats_its_form() {
        let check = |text: &str, expected: &str| {
            let f = Fixture::new(text);
            let edits = format_on_type(&f.db, f.file, f.cursor(), ';');
            assert_eq!(f.edited(&edits), expected);
        };
        check("a=1;\nx=f(1,2);$0\nb=2;", "a=1;\nx = f(1, 2);\nb=2;");
        check("x=let a=1;$0 b=2 in a;", "x=let a=1; b=2 in a;");
        check("x=(1;$0\n", "x=(1;\n");
    }

    #[test]
    fn the_lines_of_an_ended_form_stay() {
        let check = |text: &str, expected: &str| {
            for (text, expected) in
                [(text.to_owned(), expected.to_owned()), (crlf(text), crlf(expected))]
            {
                let f = Fixture::new(&text);
                let edits = format_on_type(&f.db, f.file, f.cursor(), ';');
                assert_eq!(f.edited(&edits), expected);
            }
        };
        check(
            "function norm(m)=\nlet s={sum(row):row in m};\nk=max_val(s)\nin {x/k:x in s};$0\n",
            "function norm(m) =\n  let s = {sum(row) : row in m};\n      k = max_val(s)\n  in {x / k : x in s};\n",
        );
        check(
            "function sign(x) =\n if x>0 then 1\n\n   else\n  -1;$0",
            "function sign(x) =\n  if x > 0 then 1\n\n  else\n       -1;",
        );
        check("x = [1,\n2,3];$0", "x = [1,\n     2, 3];");
        check("a=\n1;$0 b = 2;", "a =\n  1; b = 2;");
    }

    fn crlf(text: &str) -> String {
        text.replace('\n', "\r\n")
    }

    #[test]
    fn a_line_that_closes_a_construct_is_indented_with_it() {
        let check = |text: &str, expected: &str| {
            let f = Fixture::new(text);
            let edits = format_on_type(&f.db, f.file, f.cursor(), ' ');
            assert_eq!(f.edited(&edits), expected);
        };
        let head = "function f1(x) =\n  let a = 1;\n      b = 2\n";
        check(&format!("{head}        in $0"), &format!("{head}  in "));
        let head = "function f1(x) =\n  if x > 0 then 1\n";
        check(&format!("{head}                else $0"), &format!("{head}  else "));
        check("x = 1;\n    in $0", "x = 1;\nin ");
        check("x =\n      index $0", "x =\n      index ");
        check("x =\n      a in $0", "x =\n      a in ");
    }

    #[test]
    fn a_new_line_is_indented_as_the_formatter_would() {
        let check = |text: &str, column: usize| {
            let f = Fixture::new(text);
            let new = f.edited(&format_on_type(&f.db, f.file, f.cursor(), '\n'));
            let before = &f.text[..f.cursor().into()];
            let line = &new[before.rfind('\n').map_or(0, |at| at + 1)..];
            let found = line.len() - line.trim_start_matches(' ').len();
            assert_eq!(found, column, "{text}");
        };
        check("x = 1;\n$0", 0);
        check("x = 1;\n   $0y = 2;", 0);
        check("function f(x) =\n$0", 2);
        check("function f(x)\n$0", 2);
        check("function f(x) =\n  let a = 1;\n$0", 6);
        check("function f(x) =\n  let a = 1;\n$0\nfunction g(x) = x;", 6);
        check("function f(x) =\n  let a =\n$0", 8);
        check("function f(x) =\n  let a = 1;\n      b = 2\n$0 in a", 2);
        check("function f(x) =\n  let a = 1 in\n$0", 15);
        check("x = {f(a)\n$0: a in b};", 5);
        check("x = f(1,\n$02);", 6);
        check("function f(x) =\n  if x > 0 then 1\n$0else 2;", 2);
        check("function f(x) =\n  if x > 0 then\n$0", 16);
        check("function f(x) =\n  if x > 0 then 1\n  else\n$0", 7);
        check("function f(x) =\n  {let y = x in\n$0 y : x in a};", 16);
        check("% a\n   $0b %", 3);
        check("\"a\n   $0b\";", 3);
    }
}
