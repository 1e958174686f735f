//! The ranges to which a selection is extended: from the word at an offset to the whole file.

use crate::base::{TextRange, TextSize};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use crate::syntax::ast::Expr;
use crate::syntax::{Kind, lex, tree as syntax_tree};

/// The ranges around an offset, innermost first, each larger than the one before: the word, expressions, the
/// inside of brackets, the brackets, the form, the file.
pub fn selections(db: &Database, file: FileId, offset: TextSize) -> Vec<TextRange> {
    let all = TextRange::up_to(TextSize::of(&*db.file_text(file)));
    let mut parts = Vec::new();
    if let Some(cursor) = Cursor::new(db, file, offset) {
        words(&cursor, &mut parts);
        tree(&cursor, &mut parts);
        expressions(&cursor, &mut parts);
        brackets(&cursor, &mut parts);
        parts.retain(|part| part.contains_inclusive(cursor.at));
        parts.iter_mut().for_each(|part| *part += cursor.start);
    }
    parts.push(all);
    parts.sort_by_key(|part| (part.len(), part.start()));
    let mut grown: Vec<TextRange> = Vec::new();
    for part in parts {
        let grows = match grown.last() {
            None => !part.is_empty(),
            Some(last) => part.contains_range(*last) && part != *last,
        };
        if grows {
            grown.push(part);
        }
    }
    if grown.is_empty() { vec![all] } else { grown }
}

/// The word; or the inside of a string and the string; or the comment.
fn words(cursor: &Cursor<'_>, parts: &mut Vec<TextRange>) {
    let text = cursor.db.item_text(cursor.item);
    if let Some((_, token)) = cursor.token() {
        parts.push(token.range);
        if token.kind == Kind::Text {
            parts.push(trimmed(token.range));
        }
    }
    for token in lex(&text) {
        if matches!(token.kind, Kind::Comment | Kind::OpenComment | Kind::ForeignComment)
            && token.range.contains(cursor.at)
        {
            parts.push(token.range);
        }
    }
}

/// A range without its first and its last byte.
fn trimmed(range: TextRange) -> TextRange {
    let one = TextSize::new(1);
    TextRange::new(range.start() + one, range.end().max(range.start() + one + one) - one)
}

/// The nodes of the tree; the form, without and with the comments before it.
fn tree(cursor: &Cursor<'_>, parts: &mut Vec<TextRange>) {
    let root = syntax_tree(&cursor.db.item_text(cursor.item));
    let mut node = Some(root.clone());
    while let Some(current) = node {
        parts.push(current.text_range());
        let mut below = current.children();
        node = below.find(|child| child.text_range().contains_inclusive(cursor.at));
    }
    if let Some(extent) = cursor.extent() {
        parts.push(extent - cursor.start);
    }
    let text = root.text().to_string();
    let blank = text.len() - text.trim_start().len();
    parts.push(TextRange::new(TextSize::new(blank as u32), TextSize::of(&text)));
    parts.retain(|part| part.start() >= TextSize::new(blank as u32));
}

/// Expressions and patterns, and the bindings that they make up.
fn expressions(cursor: &Cursor<'_>, parts: &mut Vec<TextRange>) {
    let ast = cursor.ast;
    let spans = ast.expr_spans.values().chain(ast.pat_spans.values());
    parts.extend(spans.filter(|span| span.start < span.end).map(|s| cursor.parsed.range(*s)));
    for (_, expr) in ast.exprs.iter() {
        let (Expr::Let { bindings, .. } | Expr::Each { bindings, .. }) = expr else { continue };
        for (pat, value) in bindings {
            let span = ast.pat_spans[*pat].cover(ast.expr_spans[*value]);
            parts.push(cursor.parsed.range(span));
        }
    }
}

/// The insides of brackets, and the brackets.
fn brackets(cursor: &Cursor<'_>, parts: &mut Vec<TextRange>) {
    let mut open: Vec<(Kind, TextRange)> = Vec::new();
    for token in cursor.parsed.tokens.iter() {
        let opening = match token.kind {
            Kind::LParen | Kind::CallParen => {
                open.push((Kind::LParen, token.range));
                continue;
            }
            Kind::LBracket | Kind::LBrace => {
                open.push((token.kind, token.range));
                continue;
            }
            Kind::RParen => Kind::LParen,
            Kind::RBracket => Kind::LBracket,
            Kind::RBrace => Kind::LBrace,
            _ => continue,
        };
        if let Some(at) = open.iter().rposition(|(kind, _)| *kind == opening) {
            let whole = open[at].1.cover(token.range);
            parts.push(whole);
            parts.push(trimmed(whole));
            open.truncate(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let f = Fixture::new(text);
        let found = selections(&f.db, f.file, f.cursor());
        let found: Vec<&str> = found.iter().map(|range| &f.text[*range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn it_grows_expression_by_expression() {
        check(
            "y = 1;\nx = sum({a * $0b + 1 : a in c}, 2) - 3;\n",
            &[
                "b",
                "a * b",
                "a * b + 1",
                "a * b + 1 : a in c",
                "{a * b + 1 : a in c}",
                "{a * b + 1 : a in c}, 2",
                "({a * b + 1 : a in c}, 2)",
                "sum({a * b + 1 : a in c}, 2)",
                "sum({a * b + 1 : a in c}, 2) - 3",
                "x = sum({a * b + 1 : a in c}, 2) - 3",
                "x = sum({a * b + 1 : a in c}, 2) - 3;",
                "y = 1;\nx = sum({a * b + 1 : a in c}, 2) - 3;\n",
            ],
        );
    }

    #[test]
    fn bindings_strings_and_comments() {
        check("let q = 1$0 in q;", &["1", "q = 1", "let q = 1 in q", "let q = 1 in q;"]);
        check("\"a $0b\";", &["a b", "\"a b\"", "\"a b\";"]);
        check("% a $0b % 1;", &["% a b %", "% a b % 1;"]);
    }

    #[test]
    fn any_text_will_do() {
        check("$0", &[""]);
        check("f(($0", &["(", "((", "f(("]);
        check("  $0  ", &["    "]);
    }
}
