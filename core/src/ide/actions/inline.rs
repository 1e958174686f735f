//! A variable that is used once, replaced by its value.

use super::{Action, ActionKind, errors};
use crate::base::TextRange;
use crate::db::Cursor;
use crate::ide::Edit;
use crate::ide::symbol::{self, Role, Symbol, occurrences};
use crate::syntax::ast::{Expr, ExprId, Pat, PatId};
use crate::syntax::{Kind, lex};

/// Offers to put the value of a `let` variable in its place, where it is used once or is a name or a
/// number, and the names in it mean the same there.
pub(super) fn variable(cursor: &Cursor<'_>, range: TextRange, all: &mut Vec<Action>) {
    let here = Cursor { at: range.start() - cursor.start, ..*cursor };
    let Some(found) = symbol::at(&here) else { return };
    let Symbol::Local(_, pat) = found.symbol else { return };
    let Some((whole, index)) = binding_of(cursor, pat) else { return };
    let Expr::Let { bindings, body } = &cursor.ast.exprs[whole] else { return };
    let value = bindings[index].1;
    let own = occurrences(cursor.db, cursor.item);
    let uses: Vec<_> =
        own.iter().filter(|o| o.symbol == found.symbol && o.role != Role::Definition).collect();
    let once = uses.len() == 1 || (is_atom(&cursor.ast.exprs[value]) && !uses.is_empty());
    if !once || uses.iter().any(|o| o.shorthand) || hidden(cursor, value, pat) {
        return;
    }
    let text = cursor.text(cursor.ast.expr_spans[value]);
    let closed = is_closed(&cursor.ast.exprs[value]) || text.starts_with('(');
    let text = if closed { text } else { format!("({text})") };
    let start = |expr: ExprId| cursor.range(cursor.ast.expr_spans[expr]).start();
    let pattern = |index: usize| cursor.range(cursor.ast.pat_spans[bindings[index].0]).start();
    let removed = match bindings.len() {
        1 => TextRange::new(start(whole), start(*body)),
        n if index + 1 < n => TextRange::new(pattern(index), pattern(index + 1)),
        _ => {
            let before = cursor.range(cursor.ast.expr_spans[bindings[index - 1].1]).end();
            TextRange::new(before, cursor.range(cursor.ast.expr_spans[value]).end())
        }
    };
    let file = cursor.file;
    let mut edits = vec![Edit { file, range: removed, text: String::new() }];
    for occurrence in uses {
        let at = cursor.range(occurrence.span);
        edits.push(Edit { file, range: at, text: text.clone() });
    }
    if errors(cursor, Some(&edits)).0 <= errors(cursor, None).0 {
        let name = cursor.text(found.span);
        let title = format!("Replace `{name}` by its value");
        let kind = ActionKind::Inline;
        all.push(Action { title, kind, edits, fixes: None, preferred: false });
    }
}

/// The `let` that binds a variable by its name alone, and the number of the binding.
fn binding_of(cursor: &Cursor<'_>, pat: PatId) -> Option<(ExprId, usize)> {
    if !matches!(cursor.ast.pats[pat], Pat::Name(_)) {
        return None;
    }
    cursor.ast.exprs.iter().find_map(|(id, expr)| {
        let Expr::Let { bindings, .. } = expr else { return None };
        let index = bindings.iter().position(|(own, _)| *own == pat)?;
        Some((id, index))
    })
}

/// Returns true if a name in a value is bound more than once in the form, so that it may mean something else
/// where the value is put.
fn hidden(cursor: &Cursor<'_>, value: ExprId, own: PatId) -> bool {
    let text = cursor.text(cursor.ast.expr_spans[value]);
    let words: Vec<String> = lex(&text)
        .iter()
        .filter(|token| token.kind == Kind::Name)
        .map(|token| text[token.range].to_ascii_lowercase())
        .collect();
    let bound = |word: &String| {
        let names = cursor.ast.pats.iter().filter(|(id, _)| *id != own);
        names.filter(|(_, pat)| matches!(pat, Pat::Name(name) if name.folded() == word)).count()
    };
    words.iter().any(|word| bound(word) > 1)
}

fn is_atom(expr: &Expr) -> bool {
    matches!(expr, Expr::Name(_) | Expr::Int(_) | Expr::Float(_) | Expr::Bool(_) | Expr::Char(_))
}

/// Returns true for an expression that needs no parentheses anywhere.
fn is_closed(expr: &Expr) -> bool {
    is_atom(expr)
        || matches!(
            expr,
            Expr::Text(_)
                | Expr::Sequence(_)
                | Expr::Constants { .. }
                | Expr::Range { .. }
                | Expr::Call { .. }
                | Expr::Each { .. }
        )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, lacks};

    #[test]
    fn point_25_a_value_in_the_place_of_its_name() {
        let title = "Replace `y` by its value";
        check("x = let $0y = 1 + 2 in y * 3;", title, "x = (1 + 2) * 3;");
        check("x = let y = sum([1]); z = 2 in $0y * z;", title, "x = let z = 2 in sum([1]) * z;");
        check("x = let z = 2; y = [z] in #$0y + z;", title, "x = let z = 2 in #[z] + z;");
        check("function g(a) = let $0y = a in y + y;", title, "function g(a) = a + a;");
        lacks("x = let $0y = 1 + 2 in y * y;", title);
        lacks("function g(a) = let $0y = a + 1 in {y + a : a in [1]};", title);
    }
}
