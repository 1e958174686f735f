//! A recursion that does the same to each element, as the apply-to-each that it is:
//!
//! ```text
//! function m(v) = if #v == 0 then [] int else [g(v[0])] ++ m(drop(v, 1))
//! function m(v) = {g(x) : x in v}
//! ```
//!
//! Only where it plainly is one: the sequence is used for nothing but its first element, and the
//! other parameters are passed on as they are. The depth then no longer grows with the length.

use super::{Action, fresh, preserves};
use crate::base::{Span, TextRange};
use crate::db::Cursor;
use crate::ide::Edit;
use crate::names::Resolution;
use crate::syntax::ast::{BinaryOp, Expr, ExprId, Function, ItemKind, Pat, PatId, UnaryOp};

/// Offers to replace a recursive function that computes an element for each element of a sequence.
pub(super) fn as_each(cursor: &Cursor<'_>, all: &mut Vec<Action>) {
    let ItemKind::Function(function) = &cursor.ast.kind else { return };
    let Some((range, text)) = Recursion::new(cursor, function).and_then(|r| r.each(function))
    else {
        return;
    };
    let edits = vec![Edit { file: cursor.file, range, text }];
    if preserves(cursor, &edits) {
        let title = "Write the recursion as an apply-to-each".to_owned();
        all.push(Action::refactor(title, edits));
    }
}

/// A function that recurses over a sequence.
struct Recursion<'a> {
    cursor: &'a Cursor<'a>,
    params: Vec<PatId>,
    /// The parameter that is the sequence.
    over: PatId,
    /// The variables bound to its first element.
    heads: Vec<PatId>,
    /// The variables bound to the rest of it.
    tails: Vec<PatId>,
}

impl<'a> Recursion<'a> {
    /// Splits the parameters, and finds the one whose length the condition tests.
    fn new(cursor: &'a Cursor<'a>, function: &Function) -> Option<Recursion<'a>> {
        let mut params = Vec::new();
        let mut rest = function.param;
        while let Pat::Pair(first, second) = cursor.ast.pats[rest] {
            params.push(first);
            rest = second;
        }
        params.push(rest);
        let named = |pat: &PatId| matches!(cursor.ast.pats[*pat], Pat::Name(_));
        if !function.optional.is_empty() || !params.iter().all(named) {
            return None;
        }
        let Expr::If { cond, .. } = &cursor.ast.exprs[function.body?] else { return None };
        let over = params.iter().copied().find(|param| {
            let asked = Recursion {
                cursor,
                params: Vec::new(),
                over: *param,
                heads: Vec::new(),
                tails: Vec::new(),
            };
            asked.empty_when(*cond).is_some()
        })?;
        Some(Recursion { cursor, params, over, heads: Vec::new(), tails: Vec::new() })
    }

    /// Returns the range of the body, and the apply-to-each that replaces it.
    fn each(mut self, function: &Function) -> Option<(TextRange, String)> {
        let body = function.body?;
        let Expr::If { cond, then, otherwise } = self.expr(body) else { return None };
        let (none, some) = match self.empty_when(*cond)? {
            true => (*then, *otherwise),
            false => (*otherwise, *then),
        };
        if !matches!(self.expr(none), Expr::Empty(_)) && !self.is_sequence(none) {
            return None;
        }
        let (element, rest) = self.step(some)?;
        if !self.is_recursive_call(rest) {
            return None;
        }
        let mut uses = Vec::new();
        if !self.only_first(element, &mut uses) {
            return None;
        }
        let name = match self.heads.first().map(|head| &self.cursor.ast.pats[*head]) {
            Some(Pat::Name(name)) => name.as_written().to_owned(),
            _ => fresh(self.cursor, &["x", "y", "e"], &[]),
        };
        let whole = self.cursor.range(self.cursor.ast.expr_spans[element]);
        let mut text = self.cursor.text(self.cursor.ast.expr_spans[element]);
        uses.sort_by_key(|span: &Span| std::cmp::Reverse(span.start));
        for span in uses {
            let range = self.cursor.range(span) - whole.start();
            text.replace_range(std::ops::Range::<usize>::from(range), &name);
        }
        let Pat::Name(over) = &self.cursor.ast.pats[self.over] else { return None };
        let range = self.cursor.range(self.cursor.ast.expr_spans[body]);
        Some((range, format!("{{{text} : {name} in {over}}}")))
    }

    fn expr(&self, id: ExprId) -> &'a Expr {
        &self.cursor.ast.exprs[id]
    }

    fn resolution(&self, id: ExprId) -> Option<&'a Resolution> {
        self.cursor.db.names(self.cursor.item).values.get(id)
    }

    fn is_local(&self, id: ExprId, pats: &[PatId]) -> bool {
        matches!(self.resolution(id), Some(Resolution::Local(pat)) if pats.contains(pat))
            && matches!(self.expr(id), Expr::Name(_))
    }

    fn is_sequence(&self, id: ExprId) -> bool {
        self.is_local(id, &[self.over])
    }

    fn is_int(&self, id: ExprId, value: i64) -> bool {
        matches!(self.expr(id), Expr::Int(n) if *n == value)
    }

    /// Returns true for a condition that holds exactly if the sequence is empty, false for one that holds exactly
    /// if it is not, and none for others.
    fn empty_when(&self, cond: ExprId) -> Option<bool> {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let Expr::Binary { op, left, right, .. } = self.expr(cond) else { return None };
        let (op, number) = match (self.is_length(*left), self.is_length(*right)) {
            (true, false) => (*op, *right),
            (false, true) => {
                let turned = match op {
                    Lt => Gt,
                    Gt => Lt,
                    Le => Ge,
                    Ge => Le,
                    other => *other,
                };
                (turned, *left)
            }
            _ => return None,
        };
        let Expr::Int(number) = self.expr(number) else { return None };
        match (op, number) {
            (Eq | Le, 0) | (Lt, 1) => Some(true),
            (Ne | Gt, 0) | (Ge, 1) => Some(false),
            _ => None,
        }
    }

    /// Returns true for `#v` and `length(v)`.
    fn is_length(&self, id: ExprId) -> bool {
        match self.expr(id) {
            Expr::Unary { op: UnaryOp::Length, arg, .. } => self.is_sequence(*arg),
            Expr::Call { fun, arg, .. } => self.calls(*fun, "length") && self.is_sequence(*arg),
            _ => false,
        }
    }

    /// Returns true if the callee is this function of the library.
    fn calls(&self, fun: ExprId, name: &str) -> bool {
        match self.resolution(fun) {
            Some(Resolution::Item(item, own)) => {
                own.folded() == name && self.cursor.db.is_library(*item)
            }
            Some(Resolution::Prim(prim)) => prim.name() == name,
            _ => false,
        }
    }

    /// Returns true for `v[0]` and variables bound to it.
    fn is_first(&self, id: ExprId) -> bool {
        match self.expr(id) {
            Expr::Index { sequence, index } => {
                self.is_sequence(*sequence) && self.is_int(*index, 0)
            }
            _ => self.is_local(id, &self.heads),
        }
    }

    /// Returns true for `drop(v, 1)`, `subseq(v, 1, #v)` and variables bound to one of them.
    fn is_rest(&self, id: ExprId) -> bool {
        let Expr::Call { fun, arg, .. } = self.expr(id) else {
            return self.is_local(id, &self.tails);
        };
        let Expr::Pair(sequence, from) = self.expr(*arg) else { return false };
        if !self.is_sequence(*sequence) {
            return false;
        }
        match self.expr(*from) {
            Expr::Pair(from, to) => {
                self.calls(*fun, "subseq") && self.is_int(*from, 1) && self.is_length(*to)
            }
            _ => self.calls(*fun, "drop") && self.is_int(*from, 1),
        }
    }

    /// Splits `[element] ++ rest` in two, below `let`s that name the first element and the rest of the sequence.
    fn step(&mut self, id: ExprId) -> Option<(ExprId, ExprId)> {
        let mut id = id;
        while let Expr::Let { bindings, body } = self.expr(id) {
            for (pattern, value) in bindings {
                self.binding(*pattern, *value)?;
            }
            id = *body;
        }
        let (element, rest) = match self.expr(id) {
            Expr::Binary { op: BinaryOp::Append, left, right, .. } => {
                let Expr::Sequence(items) = self.expr(*left) else { return None };
                let [element] = items[..] else { return None };
                (element, *right)
            }
            Expr::Call { fun, arg, .. } if self.calls(*fun, "cons") => match self.expr(*arg) {
                Expr::Pair(element, rest) => (*element, *rest),
                _ => return None,
            },
            _ => return None,
        };
        Some((element, rest))
    }

    fn binding(&mut self, pattern: PatId, value: ExprId) -> Option<()> {
        match &self.cursor.ast.pats[pattern] {
            Pat::Name(_) if self.is_first(value) => self.heads.push(pattern),
            Pat::Name(_) if self.is_rest(value) => self.tails.push(pattern),
            Pat::Pair(head, tail) => {
                let Expr::Call { fun, arg, .. } = self.expr(value) else { return None };
                let named = |pat: PatId| matches!(self.cursor.ast.pats[pat], Pat::Name(_));
                let split = self.calls(*fun, "head_rest") && self.is_sequence(*arg);
                if !split || !named(*head) || !named(*tail) {
                    return None;
                }
                self.heads.push(*head);
                self.tails.push(*tail);
            }
            _ => return None,
        }
        Some(())
    }

    /// `m(drop(v, 1), the other parameters)`
    fn is_recursive_call(&self, id: ExprId) -> bool {
        let Expr::Call { fun, arg, optional } = self.expr(id) else { return false };
        if !self.is_itself(*fun) || !optional.is_empty() {
            return false;
        }
        let mut rest = *arg;
        let last = self.params.len() - 1;
        for (i, param) in self.params.iter().enumerate() {
            let here = match self.expr(rest) {
                Expr::Pair(first, second) if i < last => {
                    rest = *second;
                    *first
                }
                _ if i == last => rest,
                _ => return false,
            };
            let passed = if *param == self.over {
                self.is_rest(here)
            } else {
                self.is_local(here, &[*param])
            };
            if !passed {
                return false;
            }
        }
        true
    }

    fn is_itself(&self, id: ExprId) -> bool {
        matches!(self.resolution(id), Some(Resolution::Item(item, _)) if *item == self.cursor.item)
    }

    /// Returns true if an expression uses nothing of the sequence but its first element; collects
    /// the places of these uses.
    fn only_first(&self, id: ExprId, uses: &mut Vec<Span>) -> bool {
        crate::base::with_stack(|| {
            if self.is_first(id) {
                uses.push(self.cursor.ast.expr_spans[id]);
                return true;
            }
            if self.is_sequence(id) || self.is_local(id, &self.tails) || self.is_itself(id) {
                return false;
            }
            let mut children = Vec::new();
            self.expr(id).children(|child| children.push(child));
            children.into_iter().all(|child| self.only_first(child, uses))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, lacks};

    const TITLE: &str = "Write the recursion as an apply-to-each";

    #[test]
    fn a_recursion_that_maps() {
        check(
            "function $0m(v) = if #v == 0 then [] int else [v[0] * 2] ++ m(drop(v, 1));",
            TITLE,
            "function m(v) = {x * 2 : x in v};",
        );
        check(
            "function $0m(x, v) : (int, [int]) -> [int] =\n  if 0 < #v then [v[0] + x * v[0]] ++ m(x, subseq(v, 1, #v)) else [] int;",
            TITLE,
            "function m(x, v) : (int, [int]) -> [int] =\n  {y + x * y : y in v};",
        );
        check(
            "function m(v) = if length(v) < 1 then [] (int, int)\n  else let (h, rest) = head_rest(v) in [(h, h + 1)] $0++ m(rest);",
            TITLE,
            "function m(v) = {(h, h + 1) : h in v};",
        );
        check(
            "function m(v) = if #v == 0 then v else let h = v[0]; tl = drop(v, 1) in cons((if h > 0 then h else -h), m($0tl));",
            TITLE,
            "function m(v) = {(if h > 0 then h else -h) : h in v};",
        );
    }

    #[test]
    fn one_that_does_not() {
        for text in [
            // A sum, a scan, a filter, one with a step of two, one that changes a parameter.
            "function m(v) = if #v == 0 then 0 else v[0] + $0m(drop(v, 1));",
            "function m(v, s) = if #v == 0 then [] int else [v[0] + s] ++ $0m(drop(v, 1), s + v[0]);",
            "function m(v) = if #v == 0 then [] int else [v[0]] ++ $0m(drop(v, 2));",
            "function m(v) = if #v == 0 then [] int else [#v] ++ $0m(drop(v, 1));",
            "function m(v) = if #v == 0 then [1] else [v[0]] ++ $0m(drop(v, 1));",
            "function m(v) = if #v == 1 then [] int else [v[0]] ++ $0m(drop(v, 1));",
            "function m(v) = if #v == 0 then [] int else [v[0]] ++ $0m(drop(v, 1)) ++ [3];",
            "function m(v) = if #v == 0 then [] int else [sum(m(drop(v, 1)))] ++ $0m(drop(v, 1));",
            // The result would be more general.
            "function m(v) = if #v == 0 then [] int else [v[0]] ++ $0m(drop(v, 1));",
        ] {
            lacks(text, TITLE);
        }
    }
}
