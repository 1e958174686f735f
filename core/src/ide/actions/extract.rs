//! The selected expression as a variable, or as a function.

use super::{Action, ActionKind, bare, errors, fresh};
use crate::base::{Span, TextRange, TextSize, with_stack};
use crate::db::{Cursor, forms};
use crate::ide::Edit;
use crate::names::Resolution;
use crate::syntax::Kind;
use crate::syntax::ast::{Expr, ExprId, Item, ItemKind};

/// `let value = selection in …` around the smallest part that is evaluated whenever the selection
/// is, and sees the same variables: a branch, a body, a bound value.
pub(super) fn variable(cursor: &Cursor<'_>, selection: TextRange, all: &mut Vec<Action>) {
    let Some((id, span)) = selected(cursor, selection) else { return };
    let range = cursor.range(span);
    let Some(area) = area_of(cursor.ast, id).filter(|area| *area != id) else { return };
    let name = fresh(cursor, &["value", "part"], &[]);
    let start = cursor.range(cursor.ast.expr_spans[area]).start();
    let text = format!("let {name} = {} in ", cursor.text(span));
    let edits = if start == range.start() {
        vec![Edit { file: cursor.file, range, text: text + &name }]
    } else {
        vec![
            Edit { file: cursor.file, range: TextRange::empty(start), text },
            Edit { file: cursor.file, range, text: name },
        ]
    };
    if errors(cursor, Some(&edits)).0 <= errors(cursor, None).0 {
        let title = "Extract into a `let`".to_owned();
        let kind = ActionKind::Extract;
        all.push(Action { title, kind, edits, fixes: None, preferred: false });
    }
}

/// A new function above the form, whose parameters are the variables that the selection uses.
pub(super) fn function(cursor: &Cursor<'_>, selection: TextRange, all: &mut Vec<Action>) {
    let Some((id, span)) = selected(cursor, selection) else { return };
    let Some(form) = cursor.extent() else { return };
    let whole = cursor.ast.expr_spans[id];
    let inside = |other: Span| whole.start <= other.start && other.end <= whole.end;
    let names = cursor.db.names(cursor.item);
    let mut params: Vec<String> = Vec::new();
    for (expr, resolution) in names.values.iter() {
        let here = inside(cursor.ast.expr_spans[expr]);
        let outside = match resolution {
            Resolution::Local(pat) => !inside(cursor.ast.pat_spans[*pat]),
            Resolution::Optional(_) => true,
            _ => false,
        };
        if let (true, true, Expr::Name(name)) = (here, outside, &cursor.ast.exprs[expr])
            && !params.iter().any(|known| known.eq_ignore_ascii_case(name.as_written()))
        {
            params.push(name.as_written().to_owned());
        }
    }
    if params.is_empty() {
        return;
    }
    let known: Vec<String> = forms(cursor.db, cursor.file, None)
        .flat_map(|(form, _)| form.names.iter().map(|n| n.folded().to_owned()).collect::<Vec<_>>())
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let name = fresh(cursor, &["part", "step"], &known);
    let params = params.join(", ");
    let file = cursor.file;
    let text = format!("function {name}({params}) =\n  {};\n\n", cursor.text(span));
    let edits = vec![
        Edit { file, range: TextRange::empty(form.start()), text },
        Edit { file, range: cursor.range(span), text: format!("{name}({params})") },
    ];
    let title = "Extract into a function".to_owned();
    all.push(Action { title, kind: ActionKind::Extract, edits, fixes: None, preferred: false });
}

/// The selected expression, if the selection is one that is worth a name, and its tokens.
fn selected(cursor: &Cursor<'_>, selection: TextRange) -> Option<(ExprId, Span)> {
    let range = trimmed(cursor, selection)?;
    let (id, whole) = cursor.expr_covering(range)?;
    let (inner, parens) = bare(cursor, id);
    // The parentheses of a call belong to the call, those of a tuple to the tuple.
    let of_call = cursor.parsed.tokens[whole.start as usize].kind == Kind::CallParen;
    let of_tuple = matches!(cursor.ast.exprs[id], Expr::Pair(..));
    let span = if parens && cursor.range(inner) == range { inner } else { whole };
    if (span == whole && of_call && parens) || (span == inner && of_tuple) {
        return None;
    }
    let trivial = matches!(
        cursor.ast.exprs[id],
        Expr::Missing | Expr::Name(_) | Expr::Quote(_) | Expr::Int(_) | Expr::Bool(_)
    );
    (cursor.range(span) == range && !trivial).then_some((id, span))
}

/// A selection without the blanks at its ends.
fn trimmed(cursor: &Cursor<'_>, selection: TextRange) -> Option<TextRange> {
    let text = cursor.db.file_text(cursor.file);
    let inside = text.get(std::ops::Range::<usize>::from(selection))?;
    let start = inside.len() - inside.trim_start().len();
    let len = inside.trim().len();
    let start = selection.start() + TextSize::new(start as u32);
    (len > 0).then(|| TextRange::at(start, TextSize::new(len as u32)))
}

/// The smallest part around an expression in which a `let` may stand.
fn area_of(ast: &Item, target: ExprId) -> Option<ExprId> {
    let roots: Vec<ExprId> = match &ast.kind {
        ItemKind::Function(function) => function.body.into_iter().collect(),
        ItemKind::Binding { value, .. } | ItemKind::Expr(value) => vec![*value],
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => Vec::new(),
    };
    roots.into_iter().find_map(|root| find(ast, root, root, target))
}

fn find(ast: &Item, id: ExprId, area: ExprId, target: ExprId) -> Option<ExprId> {
    if id == target {
        return Some(area);
    }
    with_stack(|| {
        let mut children = Vec::new();
        ast.exprs[id].children(|child| children.push(child));
        children.into_iter().find_map(|child| {
            let own = match &ast.exprs[id] {
                Expr::If { .. } | Expr::Let { .. } | Expr::Lambda { .. } => true,
                Expr::Each { bindings, .. } => bindings.iter().all(|(_, seq)| *seq != child),
                _ => false,
            };
            find(ast, child, if own { child } else { area }, target)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, lacks};

    const TITLE: &str = "Extract into a `let`";

    #[test]
    fn a_selection_becomes_a_variable() {
        check("x = 2 * $0(3 + 4)$0 + 1;", TITLE, "x = let value = (3 + 4) in 2 * value + 1;");
        check("x = $0 2 * 3$0 + 1;", TITLE, "x =  let value = 2 * 3 in value + 1;");
        check(
            "function g(v) = {sqrt($0x * x$0) : x in v | x > 0.0};",
            TITLE,
            "function g(v) = {let value = x * x in sqrt(value) : x in v | x > 0.0};",
        );
        check(
            "function g(a) = if a > 0 then 1 + $010 / a$0 else 0;",
            TITLE,
            "function g(a) = if a > 0 then let value = 10 / a in 1 + value else 0;",
        );
        check(
            "x = let value = 3; b = value + $0#[1]$0; c = 4 in b + c;",
            TITLE,
            "x = let value = 3; b = let part = #[1] in value + part; c = 4 in b + c;",
        );
    }

    #[test]
    fn point_25_a_selection_becomes_a_function() {
        check(
            "function g(v, n) = {$0sqrt(x * n)$0 : x in v};",
            "Extract into a function",
            "function part(x, n) =\n  sqrt(x * n);\n\nfunction g(v, n) = {part(x, n) : x in v};",
        );
        lacks("x = 1 + $02 * 3$0;", "Extract into a function");
    }

    #[test]
    fn what_is_no_expression() {
        lacks("x = 2 $0* (3 $0+ 4) + 1;", TITLE);
        lacks("x = $0y$0 + 1;", TITLE);
        lacks("x = take$0([1], 1)$0 ++ [2];", TITLE);
        lacks("x = take($0[1], 1$0) ++ [2];", TITLE);
        lacks("x = $02 * 3$0;", TITLE);
        lacks("function g($0x$0) = x;", TITLE);
    }
}
