//! Type errors: both sides of a clash, the origin of each, and a suggestion.

use super::words::{a_class, article, list_of, plural};
use super::{BOUNDS, Infer, MemberTypes};
use crate::base::{Diagnostic, DiagnosticKind, Loc, Name, Span};
use crate::names::Resolution;
use crate::syntax::ast::{Expr, ExprId, Function, ItemKind, Pat, PatId};
use crate::types::print::members;
use crate::types::unify::Clash;
use crate::types::{Signature, Ty, class_name, print_scheme};

/// The note of an error about an index that is no int.
pub(super) const INDEX_IS_INT: &str = "an index is an int";

impl Infer<'_> {
    fn error(&self, at: Loc, message: impl Into<String>) -> Diagnostic<Loc> {
        Diagnostic::error(DiagnosticKind::Type, at, message)
    }

    /// Adds a label with the type of an expression; for a variable also the location that gave it that
    /// type.
    fn side(
        &self,
        body: &MemberTypes<'_>,
        mut report: Diagnostic<Loc>,
        expr: ExprId,
        ty: &Ty,
    ) -> Diagnostic<Loc> {
        let shown = self.show(ty);
        if body.at(expr) == report.primary.at {
            report = report.here(article(&shown));
        } else {
            report = report.label(body.at(expr), article(&shown));
        }
        if let Some(Resolution::Local(pat)) = body.member.names.values.get(expr)
            && let Some(pat_ty) = body.pats.get(*pat)
            && let Some(place) = self.unifier.cause(pat_ty)
            && let Pat::Name(name) = &body.member.item.pats[*pat]
            && place != body.at(expr)
        {
            let text = format!("`{name}` is {} because of this", article(&shown));
            if report.labels.iter().all(|label| label.at != place || label.text != text) {
                report = report.label(place, text);
            }
        }
        report
    }

    /// Adds a note that explains a clash.
    fn explain(&self, report: Diagnostic<Loc>, clash: &Clash) -> Diagnostic<Loc> {
        match clash {
            Clash::NotIn(ty, class) => report.note(format!(
                "{} is not {}: to the class {} belong {}",
                article(&self.show(ty)),
                a_class(*class),
                class_name(*class),
                members(*class)
            )),
            Clash::Classes(a, b) => report.note(format!(
                "a type would have to be {} and {}; declare which, as in `: (int, int) -> int`",
                a_class(*a),
                a_class(*b)
            )),
            Clash::Infinite => report.note("a type would contain itself"),
            Clash::Functions => report
                .note("function values are one type only if they are the same function")
                .hint("choose by an `if` around the call, not around the function"),
            Clash::Mismatch => report,
        }
    }

    /// Reports an argument that does not fit its function.
    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn report_call(
        &mut self,
        body: &mut MemberTypes<'_>,
        id: ExprId,
        at: Loc,
        name: &Name,
        operands: &[ExprId],
        fun: Option<ExprId>,
        clash: &Clash,
    ) {
        let types: Vec<Ty> = operands.iter().map(|e| body.exprs[*e].clone()).collect();
        let shown: Vec<String> = types.iter().map(|ty| self.show(ty)).collect();
        let wanted = self.wanted(body, fun.unwrap_or(id));
        let got = list_of(&shown);
        let arity = wanted.as_ref().map(|(_, arity, _)| *arity);
        let pair = matches!(self.unifier.shallow(&types[0]), Ty::Pair(..) | Ty::Var(_));
        let miscounted = arity.filter(|arity| {
            let one_value = operands.len() == 1 && pair;
            fun.is_some() && *arity != operands.len() && !one_value
        });
        let message = match miscounted {
            Some(n) => {
                format!("`{name}` takes {n} argument{}, not {}", plural(n), operands.len())
            }
            None => format!("`{name}` does not fit {got}"),
        };
        // What is reported about an operand has this consequence.
        if types.iter().any(|ty| self.unifier.shallow(ty) == Ty::Error) {
            return;
        }
        // In `a > 1 || b < 2` the two comparisons meet because `||` does not mean `or`, which is reported.
        if let Expr::Binary { right, .. } = &body.member.item.exprs[operands[0]]
            && let Expr::Binary { op, .. } = &body.member.item.exprs[*right]
            && op.name() == "||"
            && !body.diagnostics.is_empty()
        {
            return;
        }
        let mut report = self.error(at, message);
        for (operand, ty) in operands.iter().zip(&types) {
            report = self.side(body, report, *operand, ty);
        }
        let param = wanted.as_ref().map(|(_, _, param)| param.clone());
        if let Some((scheme, _, _)) = wanted {
            report = report.note(format!("`{name}` : {scheme}"));
        }
        if miscounted.is_none() {
            report = self.explain(report, clash);
        }
        if let Some(place) = self.defined_at(body, fun.unwrap_or(id)) {
            report = report.label(place, format!("`{name}` is defined here"));
        }
        if miscounted.is_some() {
            let types: Vec<Ty> = types.iter().map(|ty| self.unifier.shallow(ty)).collect();
            let is_lambda = |e: &ExprId| matches!(body.member.item.exprs[*e], Expr::Lambda { .. });
            let swallowed = operands.len() == 1 && operands.iter().all(is_lambda);
            report = match super::advice::miscounted(name, &types, at) {
                None if swallowed => report.hint(format!(
                    "what follows `=>` goes on behind commas: put the function in parentheses, \
                     as in `{name}(((x, y) => …), …)`"
                )),
                Some((text, Some((at, replacement)))) => report.fix(text, at, replacement),
                Some((text, None)) => report.hint(text),
                None => match (
                    param.as_ref().map(|param| self.unifier.shallow(param)),
                    operands.len() > 1,
                ) {
                    (Some(Ty::Record(record, _)), true) => {
                        report.hint(format!("it takes a record: `{name}({}(…))`", record.name))
                    }
                    _ => report,
                },
            };
        } else {
            report = self.call_hint(body, report, at, name, operands, &types, fun);
        }
        body.report(report);
    }

    /// Returns the scheme of the callee as text, the number of components of its parameter, and the
    /// parameter, whose variables stand for any types.
    pub(super) fn wanted(
        &self,
        body: &MemberTypes<'_>,
        fun: ExprId,
    ) -> Option<(String, usize, Ty)> {
        let whole = |ty: &Ty| match ty {
            Ty::Function(f) => f.param.clone(),
            _ => Ty::Error,
        };
        let arity = |ty: &Ty| match ty {
            Ty::Function(f) => {
                let mut n = 1;
                let mut rest = f.param.clone();
                while let Ty::Pair(_, second) = rest {
                    n += 1;
                    rest = (*second).clone();
                }
                n
            }
            _ => 1,
        };
        match body.member.names.values.get(fun)? {
            Resolution::Prim(prim) => {
                let scheme = self.primitives.get(prim)?;
                Some((print_scheme(scheme), arity(&scheme.ty), whole(&scheme.ty)))
            }
            Resolution::Item(item, _) => {
                if let Some(own) = self.functions.get(item) {
                    let ty = self.unifier.resolved(&own.ty);
                    return Some((self.show(&ty), arity(&ty), whole(&ty)));
                }
                match &*self.environment.signature(*item) {
                    Signature::Function { scheme, .. } | Signature::Record { scheme } => {
                        Some((print_scheme(scheme), arity(&scheme.ty), whole(&scheme.ty)))
                    }
                    Signature::Values { .. } | Signature::Broken => {
                        match self.unifier.resolved(body.exprs.get(fun)?) {
                            ty @ Ty::Function(_) => Some((self.show(&ty), arity(&ty), whole(&ty))),
                            _ => None,
                        }
                    }
                }
            }
            Resolution::Local(pat) => {
                let ty = self.unifier.resolved(body.pats.get(*pat)?);
                Some((self.show(&ty), arity(&ty), whole(&ty)))
            }
            Resolution::Optional(_) | Resolution::Unknown => None,
        }
    }

    /// Returns the location of the callee's definition, if it is in the user's own text.
    pub(super) fn defined_at(&self, body: &MemberTypes<'_>, fun: ExprId) -> Option<Loc> {
        match body.member.names.values.get(fun)? {
            Resolution::Item(item, name)
                if *item != body.member.id
                    && name.folded().starts_with(|c: char| c.is_alphabetic())
                    && !self.environment.is_library(*item) =>
            {
                self.environment.definition(*item)
            }
            _ => None,
        }
    }

    /// Reports a call of a value that is not a function.
    pub(super) fn report_not_function(
        &mut self,
        body: &mut MemberTypes<'_>,
        fun: ExprId,
        (arg, arg_ty): (ExprId, &Ty),
        ty: &Ty,
    ) {
        let shown = self.show(ty);
        let what = match self.callee(body, fun) {
            Some(name) => format!("`{name}`"),
            None => "this".to_owned(),
        };
        let at = body.at(fun);
        let mut report = self
            .error(at, format!("{what} is not a function; it is {}", article(&shown)))
            .label(body.at(arg), "so it cannot be applied to this");
        report = match ty {
            _ if let (Ty::Function(_), Some(name)) =
                (self.unifier.shallow(arg_ty), self.callee(body, arg)) =>
            {
                report.hint(format!("a function is written before its argument: `{name}(…)`"))
            }
            _ if matches!(body.member.item.exprs[fun], Expr::Call { .. })
                && matches!(body.member.item.exprs[arg], Expr::Call { .. }) =>
            {
                report.hint("two forms are separated by `;`, two values joined by an operator")
            }
            Ty::Int | Ty::Float => report.hint("to multiply, write `*`"),
            Ty::Sequence(_) => match &body.member.item.exprs[arg] {
                Expr::Range { stride: None, .. } => {
                    report.message = format!(
                        "{what} is {}: a part of it is not written `a[s:e]`",
                        article(&shown)
                    );
                    report.labels.clear();
                    report.hint("`subseq(a, s, e)` has the elements from index s up to, not including, e; `take(a, n)` the first n, `drop(a, n)` all but these")
                }
                Expr::Range { .. } => {
                    report.message = format!(
                        "{what} is {}: a part of it is not written `a[s:e:d]`",
                        article(&shown)
                    );
                    report.labels.clear();
                    report.hint("`a -> [s:e:d]` has the elements at these indices; `even_elts(a)` has every other one")
                }
                Expr::Sequence(indices) if indices.len() == 2 => {
                    report.message = format!(
                        "{what} is {}: an element is not written `a[i, j]`",
                        article(&shown)
                    );
                    report.labels.clear();
                    report.hint("an element of a nested sequence is `a[i][j]`; the elements at several indices are `a -> [i, j]`")
                }
                _ => report.hint("to index, write `a[i]`; to gather, `a -> is`"),
            },
            Ty::Pair(..) => report.hint("to take a tuple apart, write `let (a, b) = … in …`"),
            Ty::Bool => {
                report.hint("`t` and `f` mean true and false and cannot be names of functions")
            }
            _ => report,
        };
        body.report(report);
    }

    /// Reports an index into a value that is not a sequence.
    pub(super) fn report_not_indexed(
        &mut self,
        body: &mut MemberTypes<'_>,
        sequence: ExprId,
        index: ExprId,
        ty: &Ty,
    ) {
        let shown = self.show(ty);
        let at = body.at(sequence);
        let mut report =
            self.error(at, format!("only a sequence can be indexed; this is {}", article(&shown)));
        if let Ty::Function(_) = self.unifier.shallow(ty) {
            report = report
                .label(body.at(index), "read as an index")
                .hint("to call a function with a sequence of one element, write `g([x])`");
        }
        if let Ty::Pair(..) = self.unifier.shallow(ty) {
            let tuple = self.callee(body, sequence).map_or("p".to_owned(), |name| name.to_string());
            report = report.hint(format!(
                "a tuple is taken apart by a pattern: `let (a, b) = {tuple} in …`; or `first({tuple})`, `rest({tuple})`"
            ));
        }
        if let Ty::Record(record, _) = self.unifier.shallow(ty)
            && record.name.folded() != "hashtable"
        {
            let value = self.callee(body, sequence).map_or("p".to_owned(), |name| name.to_string());
            report = report.hint(format!(
                "a record is taken apart by a pattern: `let {}(…) = {value} in …`",
                record.name
            ));
        } else if let Ty::Record(..) = self.unifier.shallow(ty) {
            let table = self.callee(body, sequence).map_or("d".to_owned(), |name| name.to_string());
            report = report.hint(format!(
                "`search_table([key], {table})` gives for each key its value and whether there is one"
            ));
        }
        body.report(report);
    }

    /// Reports an apply-to-each over a value that is not a sequence.
    pub(super) fn report_not_sequence(
        &mut self,
        body: &mut MemberTypes<'_>,
        expr: ExprId,
        ty: &Ty,
    ) {
        let shown = self.show(ty);
        let at = body.at(expr);
        let mut report = self.error(
            at,
            format!("an apply-to-each goes over a sequence; this is {}", article(&shown)),
        );
        let is_int = matches!(self.unifier.shallow(ty), Ty::Int);
        if is_int && let Some(declared) = declared_parameter(body, expr) {
            report = report
                .label(body.loc(declared), "the types of the parameters are declared here")
                .hint("the type of a sequence of ints is written `[int]`");
        }
        if is_int {
            report = report.hint("for the ints below n write `[0:n]`");
        }
        if matches!(self.unifier.shallow(ty), Ty::Pair(..)) {
            report = report.hint("to go over several sequences at once: `{… : x in xs; y in ys}`");
        }
        body.report(report);
    }

    /// Reports an expression whose type is not the expected one.
    pub(super) fn report_expected(
        &mut self,
        body: &mut MemberTypes<'_>,
        expr: ExprId,
        wanted: &Ty,
        actual: &Ty,
        why: &str,
    ) {
        let (wanted, found) = (self.show(wanted), self.show(actual));
        let at = body.at(expr);
        let mut report = self
            .error(at, format!("expected {}, found {}", article(&wanted), article(&found)))
            .note(why.to_owned());
        report = self.side(body, report, expr, actual);
        report.primary.text.clear();
        if wanted == "int" && found == "float" {
            report = report.hint("convert with `round(…)`, `floor(…)`, `ceil(…)` or `trunc(…)`");
        }
        let sequence = |ty: &Ty| matches!(self.unifier.shallow(ty), Ty::Sequence(_));
        if why == INDEX_IS_INT && sequence(actual) {
            report = report.hint("the elements at several indices are `xs -> [i, j]`");
        }
        if wanted == "bool" && found.contains(',') {
            report = report.hint("join several conditions by `and`");
        }
        if wanted == "bool" && found == "int" {
            report = report.hint("compare: `x /= 0`");
        }
        body.report(report);
    }

    /// Reports branches of an `if` with different types.
    pub(super) fn report_branches(
        &mut self,
        body: &mut MemberTypes<'_>,
        id: ExprId,
        then: (ExprId, &Ty),
        otherwise: (ExprId, &Ty),
        clash: &Clash,
    ) {
        let at = body.at(id);
        let mut report = self.error(at, "the branches of this `if` have different types");
        report = self.side(body, report, then.0, then.1);
        report = self.side(body, report, otherwise.0, otherwise.1);
        report = self.explain(report, clash);
        let types = [self.unifier.shallow(then.1), self.unifier.shallow(otherwise.1)];
        if types.contains(&Ty::Int) && types.contains(&Ty::Float) {
            report = report.hint("write the int as a float: `1.0`, or `float(…)`");
        }
        if types.contains(&Ty::Char) && types.contains(&Ty::Char.sequence()) {
            report = report.hint("a string of one char is written \"a\"");
        }
        let spans = &body.member.item.expr_spans;
        if let Expr::Pair(first, _) = body.member.item.exprs[otherwise.0]
            && spans[first].start == spans[otherwise.0].start
        {
            report = report
                .label(body.at(first), "the `else` branch continues after this, beyond the comma")
                .hint("put the `if` in parentheses: `(if c then a else b), d`");
        }
        body.report(report);
    }

    /// Joins the reports from one on that the bounds of a range are no ints, and says what such ranges are.
    pub(super) fn report_bounds(&mut self, body: &mut MemberTypes<'_>, start: ExprId, from: usize) {
        let is_bound = |report: &Diagnostic<Loc>| report.notes.iter().any(|note| note == BOUNDS);
        let Some(first) = body.diagnostics[from..].iter().position(is_bound) else { return };
        let mut report = body.diagnostics.remove(from + first);
        let mut at = 0;
        body.diagnostics.retain(|other| {
            at += 1;
            at <= from || !is_bound(other)
        });
        let ty = body.exprs.get(start).map(|ty| self.unifier.shallow(ty));
        let advice = match ty {
            Some(Ty::Float) => "floats at equal distances: `{float(i) * 0.1 : i in [0:10]}`",
            Some(Ty::Char | Ty::Sequence(_)) => {
                "chars one after the other: ``{code_char(i) : i in [char_code(`a):char_code(`z) + 1]}``"
            }
            _ => {
                body.diagnostics.insert(from + first, report);
                return;
            }
        };
        report.hints.clear();
        body.diagnostics.insert(from + first, report.hint(advice));
    }

    /// Reports elements of a list with different types.
    pub(super) fn report_elements(
        &mut self,
        body: &mut MemberTypes<'_>,
        first: (ExprId, &Ty),
        other: (ExprId, &Ty),
        clash: &Clash,
    ) {
        let at = body.at(other.0);
        let mut report = self.error(at, "the elements of a sequence have one type");
        report = self.side(body, report, first.0, first.1);
        report = self.side(body, report, other.0, other.1);
        report = self.explain(report, clash);
        let types = [self.unifier.shallow(first.1), self.unifier.shallow(other.1)];
        if types.contains(&Ty::Int) && types.contains(&Ty::Float) {
            report = report.hint("write the int as a float: `1.0`, or `float(…)`");
        } else if matches!(
            &types,
            [Ty::Pair(..), _] | [_, Ty::Pair(..)] | [Ty::Record(..), _] | [_, Ty::Record(..)]
        ) {
            // They are together in tuples.
        } else if types.contains(&Ty::Char) && types.contains(&Ty::Char.sequence()) {
            report = report.hint("`[c]` is the string of one char `c`");
        } else if *clash == Clash::Mismatch {
            report = report.hint("values of different types go together in a tuple: `(a, b)`");
        }
        body.report(report);
    }

    /// Reports a value that does not fit its pattern.
    pub(super) fn report_pattern(
        &mut self,
        body: &mut MemberTypes<'_>,
        pat: PatId,
        value: ExprId,
        expected: &Ty,
        actual: &Ty,
        clash: &Clash,
    ) {
        let (expected_shown, shown) = (self.show(expected), self.show(actual));
        let at = body.at_pat(pat);
        let mut report = self
            .error(at, format!("this pattern does not fit {}", article(&shown)))
            .here(format!("takes {} apart", article(&expected_shown)))
            .label(body.at(value), self.by_value(body, value, &shown));
        let elements = body.exprs.get(value).is_some_and(|ty| self.show(ty) != shown);
        let tuple = matches!(body.member.item.pats[pat], Pat::Pair(..));
        let written = body.member.item.pats[pat].clone();
        let (names, found_parts) =
            [expected, actual].map(|ty| components(&self.unifier.resolved(ty))).into();
        let (expected, found) = (self.unifier.shallow(expected), self.unifier.shallow(actual));
        if let (true, Ty::Pair(..), true) = (tuple, &found, names != found_parts) {
            report = report.hint(format!("the pattern has {names} parts, the tuple {found_parts}"));
        } else if let (true, Ty::Record(record, _)) = (tuple, &found) {
            report =
                report.hint(format!("a record is taken apart by the pattern `{}(…)`", record.name));
        } else if let (Ty::Record(record, _), Ty::Pair(..), Pat::Record { .. }) =
            (&expected, &found, written)
        {
            report = report.hint(format!(
                "a tuple is taken apart by `(a, b)`; `{}(…)` makes a record",
                record.name
            ));
        } else if elements && tuple && !matches!(self.unifier.shallow(actual), Ty::Pair(..)) {
            report = report.hint(
                "over two sequences at once: `x in xs; y in ys`; for all pairs: `{{… : y in ys} : x in xs}`",
            );
        }
        report = self.explain(report, clash);
        body.report(report);
    }

    /// Describes the value that a pattern is matched with: the expression's own, or its elements.
    fn by_value(&self, body: &MemberTypes<'_>, value: ExprId, shown: &str) -> String {
        match body.exprs.get(value) {
            Some(ty) if self.show(ty) != shown => format!("each element is {}", article(shown)),
            _ => article(shown),
        }
    }

    /// Reports a record pattern whose content does not fit the record.
    pub(super) fn report_record(
        &mut self,
        body: &mut MemberTypes<'_>,
        at: Loc,
        name: &Name,
        content: &Ty,
        pattern: &Ty,
        clash: &Clash,
    ) {
        let (content, pattern) = (self.show(content), self.show(pattern));
        let report = self.error(
            at,
            format!(
                "`{name}` holds {}, this pattern takes {} apart",
                article(&content),
                article(&pattern)
            ),
        );
        let report = self.explain(report, clash);
        body.report(report);
    }

    /// Reports parameters that do not fit the annotation.
    pub(super) fn report_annotation(
        &mut self,
        body: &mut MemberTypes<'_>,
        function: &Function,
        pattern_ty: &Ty,
        annotation_ty: &Ty,
        clash: &Clash,
    ) {
        let Ty::Function(declared) = annotation_ty else { return };
        let declared_ty = &declared.param;
        let (pattern, declared) = (self.show(pattern_ty), self.show(declared_ty));
        let at = body.at_pat(function.param);
        let mut report = self.error(
            at,
            format!("the parameters of `{}` do not fit its annotation", function.name.name),
        );
        report = report.here(format!("these take {}", article(&pattern)));
        if let Some(annotation) = &function.annotation {
            report = report.label(
                body.loc(annotation.ty.span),
                format!("declared to take {}", article(&declared)),
            );
        }
        if matches!(self.unifier.shallow(pattern_ty), Ty::Pair(..))
            && !matches!(self.unifier.shallow(declared_ty), Ty::Pair(..))
        {
            report = match (&function.annotation, self.uncurried(pattern_ty, annotation_ty)) {
                (Some(annotation), Some(whole)) => report.fix(
                    format!("several parameters are one tuple: `: {whole}`"),
                    body.loc(annotation.ty.span),
                    whole,
                ),
                _ => report.hint("each parameter has a type: `: (int, int) -> int`"),
            };
        }
        let report = self.explain(report, clash);
        body.report(report);
    }

    /// Returns the type `(int, int) -> int` for parameters that are declared one after the other, as in
    /// `int -> int -> int`.
    fn uncurried(&self, pattern: &Ty, annotation: &Ty) -> Option<String> {
        let mut all = Vec::new();
        let mut rest = self.unifier.resolved(annotation);
        let mut parameters = self.unifier.resolved(pattern);
        loop {
            let Ty::Function(function) = rest else { return None };
            all.push(self.show(&function.param));
            rest = function.result.clone();
            match parameters {
                Ty::Pair(_, second) => parameters = (*second).clone(),
                _ => break,
            }
        }
        Some(format!("({}) -> {}", all.join(", "), self.show(&rest)))
    }

    /// Reports a body that does not have the declared type, or that of a recursive call.
    pub(super) fn report_result(
        &mut self,
        body: &mut MemberTypes<'_>,
        function: &Function,
        expr: ExprId,
        declared: &Ty,
        actual: &Ty,
        clash: &Clash,
    ) {
        let (wanted, found) = (self.show(declared), self.show(actual));
        let at = body.at(expr);
        let name = &function.name.name;
        let mut report = match &function.annotation {
            Some(annotation) => self
                .error(
                    at,
                    format!(
                        "the body of `{name}` is {}, not {}",
                        article(&found),
                        article(&wanted)
                    ),
                )
                .label(
                    body.loc(annotation.ty.span),
                    format!("declared to give {}", article(&wanted)),
                ),
            None => {
                let report = self.error(
                    at,
                    format!(
                        "`{name}` gives {} here, but {} where it calls itself",
                        article(&found),
                        article(&wanted)
                    ),
                );
                match self.unifier.cause(declared) {
                    Some(place) => report.label(place, format!("needs {} here", article(&wanted))),
                    None => report,
                }
            }
        };
        report = report.here(article(&found));
        let report = self.explain(report, clash);
        body.report(report);
    }
}

/// Returns the place of the declared type of a function whose parameter an expression is.
fn declared_parameter(body: &MemberTypes<'_>, expr: ExprId) -> Option<Span> {
    let item = body.member.item;
    let ItemKind::Function(function) = &item.kind else { return None };
    let Some(Resolution::Local(variable)) = body.member.names.values.get(expr) else { return None };
    let (variable, param) = (item.pat_spans[*variable], item.pat_spans[function.param]);
    let is_param = param.start <= variable.start && variable.end <= param.end;
    function.annotation.as_ref().filter(|_| is_param).map(|declared| declared.ty.span)
}

/// Returns the number of parts of a tuple type, of which the last may be a tuple again; 1 of another type.
fn components(ty: &Ty) -> usize {
    match ty {
        Ty::Pair(_, rest) => 1 + components(rest),
        _ => 1,
    }
}
