//! Code actions: quick fixes of diagnostics, and refactorings.
//!
//! | file | what is in it |
//! |---|---|
//! | `quick_fix` | fixes that depend on types: `eql` for `==`, `float(…)` around an int, … |
//! | `foreign` | what the functions of other languages are in NESL |
//! | `expand` | writes what is implicit: the type of a function, the sequence of `{… : a}` |
//! | `recursion` | replaces a recursion over a sequence by an apply-to-each |
//! | `extract` | extracts the selection into a variable or a function |
//! | `inline` | replaces a variable by its value |
//!
//! An action that changes a form is tried before it is offered: the form is inferred with its new
//! text, and must not get worse.

mod expand;
mod extract;
mod foreign;
mod inline;
mod quick_fix;
mod recursion;

use super::Edit;
use crate::base::{Diagnostic, Severity, Span, TextRange, TextSize};
use crate::db::Cursor;
use crate::db::{Database, FileId, FileRange};
use crate::syntax::ast::ExprId;
use crate::syntax::{Kind, excerpt, lex};
use crate::types::{Scheme, Signature, same_scheme};

/// The kinds of actions, as in LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Fixes a diagnostic.
    QuickFix,
    /// Writes the code in another way.
    Refactor,
    /// Gives a part of the code a name.
    Extract,
    /// Puts what a name stands for in its place.
    Inline,
}

/// A change of the text that an editor can offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The title, as an imperative.
    pub title: String,
    /// The kind of action.
    pub kind: ActionKind,
    /// The changes of the text.
    pub edits: Vec<Edit>,
    /// The range at which the diagnostic that it fixes is shown.
    pub fixes: Option<TextRange>,
    /// True if it removes an error, and no other action fixes that diagnostic.
    pub preferred: bool,
}

/// A title, the range in the form that is replaced, and the new text.
type QuickFix = (String, TextRange, String);

/// Replaces some code.
fn write(at: TextRange, text: String) -> QuickFix {
    (format!("Write `{}`", excerpt(&text, TITLE_CHARS)), at, text)
}

/// The length of a piece of code in a title at most, in characters.
const TITLE_CHARS: usize = 40;

impl Action {
    fn refactor(title: String, edits: Vec<Edit>) -> Action {
        Action { title, kind: ActionKind::Refactor, edits, fixes: None, preferred: false }
    }
}

/// Returns the actions for a range: quick fixes of the diagnostics that touch it, and refactorings of the
/// selected code.
pub fn actions(db: &Database, file: FileId, range: TextRange) -> Vec<Action> {
    let mut all = Vec::new();
    // What is missing at the end of a form is missing where the next one begins, too.
    let one = TextSize::new(1);
    let mut at = range.start().checked_sub(one).unwrap_or_default();
    while let Some(cursor) = Cursor::new(db, file, at) {
        let end = cursor.start + TextSize::of(&*db.item_text(cursor.item));
        for diagnostic in db.diagnostics(cursor.item) {
            if !diagnostic.follows && touches(&diagnostic, file, range) {
                quick_fixes(&cursor, &diagnostic, &mut all);
            }
        }
        if end > range.end() || end <= at {
            break;
        }
        at = end;
    }
    if let Some(cursor) = Cursor::new(db, file, range.start()) {
        expand::annotation(&cursor, range, &mut all);
        expand::sequence(&cursor, range, &mut all);
        recursion::as_each(&cursor, &mut all);
        expand::annotations(&cursor, range, &mut all);
        extract::variable(&cursor, range, &mut all);
        extract::function(&cursor, range, &mut all);
        inline::variable(&cursor, range, &mut all);
    }
    all
}

fn touches(diagnostic: &Diagnostic<FileRange>, file: FileId, range: TextRange) -> bool {
    let edits = diagnostic.hints.iter().filter_map(|hint| hint.edit.as_ref());
    let mut places = edits.map(|(at, _)| *at).chain([diagnostic.primary.at]);
    places.any(|at| at.file == file && at.range.intersect(range).is_some())
}

/// Adds the quick fixes of a diagnostic: its hints that have an edit, and those of `quick_fix` that reduce the
/// number of errors.
fn quick_fixes(cursor: &Cursor<'_>, diagnostic: &Diagnostic<FileRange>, all: &mut Vec<Action>) {
    let fixes = Some(super::shown_at(diagnostic));
    let mut found: Vec<Action> = Vec::new();
    let before = errors(cursor, None).0;
    for hint in &diagnostic.hints {
        let Some((at, text)) = &hint.edit else { continue };
        let edits = vec![Edit { file: at.file, range: at.range, text: text.clone() }];
        let kind = ActionKind::QuickFix;
        let title = title(&hint.text, cursor.db, at, text);
        found.push(Action { title, kind, edits, fixes, preferred: false });
    }
    for (title, range, text) in quick_fix::quick_fixes(cursor, diagnostic) {
        let edits = vec![Edit { file: cursor.file, range: range + cursor.start, text }];
        if errors(cursor, Some(&edits)).0 < before {
            let kind = ActionKind::QuickFix;
            found.push(Action { title, kind, edits, fixes, preferred: false });
        }
    }
    // A guess that only changes what is wrong is offered, but is not made without a question.
    if let [only] = &mut found[..] {
        only.preferred = errors(cursor, Some(&only.edits)).0 < before;
    }
    for action in found {
        if !all.iter().any(|other| other.title == action.title && other.edits == action.edits) {
            all.push(action);
        }
    }
}

/// The title of a hint: its own text if that is an imperative that says what is written, or else a description of its
/// edit.
fn title(hint: &str, db: &Database, at: &FileRange, with: &str) -> String {
    let text = db.file_text(at.file);
    let old = excerpt(text[at.range].trim(), TITLE_CHARS);
    let verbs = ["write ", "add ", "remove ", "end ", "put "];
    if verbs.iter().any(|verb| hint.starts_with(verb)) && hint.contains(with.trim()) {
        return capital(hint);
    }
    match (old.is_empty(), &*excerpt(with.trim(), TITLE_CHARS)) {
        (true, with) => format!("Add `{with}`"),
        (false, "") => format!("Remove `{old}`"),
        (false, with) => format!("Change `{old}` to `{with}`"),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// The number of errors of a form, as it is or after some edits, and its type.
fn errors(cursor: &Cursor<'_>, edits: Option<&[Edit]>) -> (usize, Option<Scheme>) {
    let mut text = cursor.db.item_text(cursor.item).to_string();
    let mut edits: Vec<&Edit> = edits.unwrap_or_default().iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start()));
    for edit in edits {
        let Some(range) = edit.range.checked_sub(cursor.start) else { return (usize::MAX, None) };
        let range = std::ops::Range::<usize>::from(range);
        if text.get(range.clone()).is_none() {
            return (usize::MAX, None);
        }
        text.replace_range(range, &edit.text);
    }
    let form = cursor.db.scratch(cursor.item, &text, None);
    let syntax = form.parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let others = form.names.diagnostics.len() + form.types.diagnostics.len();
    let scheme = match &*form.types.signature {
        Signature::Function { scheme, .. } => Some(scheme.clone()),
        _ => None,
    };
    (syntax + others, scheme)
}

/// Returns true if a form without errors has none, and the same type, after some edits.
fn preserves(cursor: &Cursor<'_>, edits: &[Edit]) -> bool {
    let ((0, before), (0, after)) = (errors(cursor, None), errors(cursor, Some(edits))) else {
        return false;
    };
    match (before, after) {
        (Some(before), Some(after)) => same_scheme(&before, &after),
        (None, None) => true,
        _ => false,
    }
}

/// The span of an expression without the parentheses around it, and true if there are any. The span of an
/// expression includes them, also those of a call.
fn bare(cursor: &Cursor<'_>, expr: ExprId) -> (Span, bool) {
    let whole = cursor.ast.expr_spans[expr];
    let mut span = whole;
    while closes_at(cursor, span.start) == span.end.checked_sub(1) {
        span = Span::new(span.start + 1, span.end - 1);
    }
    (span, span != whole)
}

/// The token that closes the parenthesis at a token.
fn closes_at(cursor: &Cursor<'_>, open: u32) -> Option<u32> {
    let mut depth = 0usize;
    for (token, index) in cursor.parsed.tokens.get(open as usize..)?.iter().zip(open..) {
        match token.kind {
            Kind::LParen | Kind::CallParen => depth += 1,
            Kind::RParen => depth = depth.checked_sub(1)?,
            _ => {}
        }
        match (depth, token.kind) {
            (0, Kind::RParen) => return Some(index),
            (0, _) => return None,
            _ => {}
        }
    }
    None
}

/// Returns a name that does not occur in the form: one of `wishes` if possible.
fn fresh(cursor: &Cursor<'_>, wishes: &[&str], besides: &[&str]) -> String {
    let text = cursor.db.item_text(cursor.item);
    let words: Vec<String> =
        lex(&text).iter().map(|token| text[token.range].to_ascii_lowercase()).collect();
    let free = |name: &str| !words.iter().any(|word| word == name) && !besides.contains(&name);
    let wish = wishes.iter().find(|name| free(name)).map(|name| (*name).to_owned());
    let stem = wishes.first().copied().unwrap_or("x");
    wish.or_else(|| (1..).map(|i| format!("{stem}{i}")).find(|name| free(name))).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    /// The text after the action of this title.
    pub fn apply(text: &str, title: &str) -> String {
        let f = Fixture::new(text);
        let all = actions(&f.db, f.file, f.selection());
        let titles: Vec<&str> = all.iter().map(|action| &*action.title).collect();
        let found = all.iter().find(|action| action.title == title);
        let action = found.unwrap_or_else(|| panic!("{title} at {text}: {titles:?}"));
        f.edited(&action.edits)
    }

    /// Checks the text after an action, which has no errors.
    pub fn check(text: &str, title: &str, expected: &str) {
        let edited = apply(text, title);
        assert_eq!(edited, expected, "{title} at {text}");
        let f = Fixture::new(&(edited + "$0"));
        for form in &f.db.outline(f.file).forms {
            let messages: Vec<_> = f.db.diagnostics(form.id()).into_iter().collect();
            assert!(messages.is_empty(), "{title} at {text}: {messages:?}");
        }
    }

    /// An action is not offered.
    pub fn lacks(text: &str, title: &str) {
        let f = Fixture::new(text);
        let all = actions(&f.db, f.file, f.selection());
        assert!(!all.iter().any(|action| action.title == title), "{title} at {text}");
    }

    #[test]
    fn hints_with_edits() {
        check("x = s$0mu([1]);", "Change `smu` to `sum`", "x = sum([1]);");
        check("x = $0len([1]);", "Change `len` to `length`", "x = length([1]);");
        check(
            "x = if 1 =$0 2 then 3 else 4;",
            "Write `==` to compare",
            "x = if 1 == 2 then 3 else 4;",
        );
        check("x = let a = 1\n$0a + 1;", "Add `in`", "x = let a = 1 in\na + 1;");
        check("x = (1 + 2$0;", "Add `)`", "x = (1 + 2);");
        check("x = {a : a $0[1, 2]};", "Add `in`", "x = {a : a in [1, 2]};");
        check("x = 1 $0+ 2.0;", "Change `1` to `1.0`", "x = 1.0 + 2.0;");
        check("x = 3$0\nfunction g(y) = y;", "Add `;`", "x = 3;\nfunction g(y) = y;");
        check(
            "function g(x) : intt$0 -> int = x;",
            "Change `intt` to `int`",
            "function g(x) : int -> int = x;",
        );
        check("x = \"a\" +$0 \"b\";", "Change `+` to `++`", "x = \"a\" ++ \"b\";");
    }

    #[test]
    fn notation_of_other_languages_is_replaced() {
        for (before, title, after) in [
            ("x = 3 $0/* three */;", "Change `/* three */` to `% three %`", "x = 3 % three %;"),
            (
                "/$0** one\n two */ x = 3;",
                "Change `/** one two */` to `% one two %`",
                "% one\n two % x = 3;",
            ),
            ("x = 3; $0// three", "Change `// three` to `% three %`", "x = 3; % three %"),
            ("x = 7 $0// 2;", "Change `// 2;` to `/ 2;`", "x = 7 / 2;"),
            ("b = t;\nx = $0!b;", "Write `not(b)`", "b = t;\nx = not(b);"),
            (
                "b = t;\nx = if $0!(b or f) then 1 else 2;",
                "Write `not(b or f)`",
                "b = t;\nx = if not(b or f) then 1 else 2;",
            ),
            ("x = 5 $0% 2;", "Change `5 % 2` to `rem(5, 2)`", "x = rem(5, 2);"),
            (
                "x = #[1] $0% 2;\ny = x;",
                "Change `#[1] % 2` to `rem(#[1], 2)`",
                "x = rem(#[1], 2);\ny = x;",
            ),
            ("n = 1;\nx = (n $0% 2) + (n % 3);", "Change `n % 2` to `rem(n, 2)`", ""),
            ("x = if 1 > 2 then \"a\" $0els", "Write `else`", ""),
        ] {
            if after.is_empty() {
                apply(before, title);
            } else {
                check(before, title, after);
            }
        }
    }

    #[test]
    fn one_way_out_is_preferred() {
        let f = Fixture::new("x = s$0mu([1]);");
        let all = actions(&f.db, f.file, f.selection());
        assert!(all[0].preferred && all[0].kind == ActionKind::QuickFix);
        assert_eq!(all[0].fixes, Some(TextRange::new(TextSize::new(4), TextSize::new(7))));
    }

    #[test]
    fn point_13_a_guess_that_mends_nothing_is_not_preferred() {
        for text in ["x = 1;\nx + z whe$0re z = 1;", "fo$0o(3);", "in$0c;"] {
            let f = Fixture::new(text);
            let all = actions(&f.db, f.file, f.selection());
            assert!(all.iter().all(|action| !action.preferred), "{text}: {all:?}");
        }
    }

    #[test]
    fn nothing_to_do() {
        for text in ["$0", "x = 1$0;", "% com$0ment %", "x = (1 + $0"] {
            let f = Fixture::new(text);
            let all = actions(&f.db, f.file, f.selection());
            assert!(
                all.iter().all(|action| action.kind == ActionKind::QuickFix),
                "{text}: {all:?}"
            );
        }
    }

    #[test]
    fn every_place_can_be_asked() {
        let text = "datatype p (float, [a]) :: (a in any);\nfunction g(a, n := 5) =\n  let (x, y) = \
                    (a[0], {b * 2.0 : b in a | b == \"c\"}) in if x = 1 then sum(y) else g([]);\n\
                    {x + 1 : x}; \"a\" == \"b\"; [1] + [2]; 1 < 2 < 3; (1 + ";
        let mut db = Database::new();
        let file = db.add_file("test.nesl", text, None);
        for start in 0..text.len() {
            for end in [start, text.len().min(start + 5), text.len()] {
                let range = TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32));
                actions(&db, file, range);
            }
        }
    }
}
