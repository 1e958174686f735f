//! Type errors, in the user's words: both sides, where each came from, and a way out.

use super::{Body, Infer};
use crate::base::{Diagnostic, Kind, Loc, Name};
use crate::names::Resolution;
use crate::syntax::ast::{Expr, ExprId, Function, Pat, PatId};
use crate::types::print::members;
use crate::types::unify::Clash;
use crate::types::{Class, Signature, Ty, class_name, print_scheme};

/// Operators that compare, which are defined only on ordinals.
const COMPARISONS: [&str; 8] = ["==", "/=", "<", ">", "<=", ">=", "max", "min"];

impl Infer<'_> {
    fn error(&self, at: Loc, message: impl Into<String>) -> Diagnostic<Loc> {
        Diagnostic::error(Kind::Type, at, message)
    }

    /// The type of an expression, and a label with it; for a variable also why it has that type.
    fn side(
        &self,
        body: &Body<'_>,
        mut report: Diagnostic<Loc>,
        expr: ExprId,
        ty: &Ty,
    ) -> Diagnostic<Loc> {
        let shown = self.show(ty);
        report = report.label(body.at(expr), article(&shown));
        if let Some(Resolution::Local(pat)) = body.member.names.values.get(expr)
            && let Some(pat_ty) = body.pats.get(*pat)
            && let Some(place) = self.unifier.because(pat_ty)
            && let Pat::Name(name) = &body.member.item.pats[*pat]
            && place != body.at(expr)
        {
            report =
                report.label(place, format!("`{name}` is {} because of this", article(&shown)));
        }
        report
    }

    /// What a clash between a class and a type means.
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

    /// A function does not fit its argument.
    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn report_call(
        &mut self,
        body: &mut Body<'_>,
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
        let arity = wanted.as_ref().map(|(_, arity)| *arity);
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
        let mut report = self.error(at, message);
        for (operand, ty) in operands.iter().zip(&types) {
            report = self.side(body, report, *operand, ty);
        }
        if let Some((scheme, _)) = wanted {
            report = report.note(format!("`{name}` : {scheme}"));
        }
        report = self.explain(report, clash);
        if let Some(place) = self.defined_at(body, fun.unwrap_or(id)) {
            report = report.label(place, format!("`{name}` is defined here"));
        }
        report = self.call_hint(body, report, id, name, operands, &types);
        body.report(report);
    }

    /// The scheme of what is called, and how many components its argument has.
    fn wanted(&self, body: &Body<'_>, fun: ExprId) -> Option<(String, usize)> {
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
                Some((print_scheme(scheme), arity(&scheme.ty)))
            }
            Resolution::Item(item, _) => {
                if let Some(own) = self.functions.get(item) {
                    let ty = self.unifier.known(&own.ty);
                    return Some((self.show(&ty), arity(&ty)));
                }
                match &*self.context.signature(*item) {
                    Signature::Function { scheme, .. } | Signature::Record { scheme } => {
                        Some((print_scheme(scheme), arity(&scheme.ty)))
                    }
                    Signature::Values { .. } | Signature::Broken => None,
                }
            }
            Resolution::Local(pat) => {
                let ty = self.unifier.known(body.pats.get(*pat)?);
                Some((self.show(&ty), arity(&ty)))
            }
            Resolution::Optional(_) | Resolution::Unknown => None,
        }
    }

    /// Where what is called is defined, if in the user's own text.
    fn defined_at(&self, body: &Body<'_>, fun: ExprId) -> Option<Loc> {
        match body.member.names.values.get(fun)? {
            Resolution::Item(item, name)
                if *item != body.member.id
                    && name.folded().starts_with(|c: char| c.is_alphabetic())
                    && !self.context.is_library(*item) =>
            {
                self.context.definition(*item)
            }
            _ => None,
        }
    }

    fn call_hint(
        &self,
        body: &Body<'_>,
        report: Diagnostic<Loc>,
        id: ExprId,
        name: &Name,
        operands: &[ExprId],
        types: &[Ty],
    ) -> Diagnostic<Loc> {
        let types: Vec<Ty> = types.iter().map(|ty| self.unifier.shallow(ty)).collect();
        let has = |wanted: &Ty| types.contains(wanted);
        let any_sequence = types.iter().any(|ty| matches!(ty, Ty::Sequence(_)));
        let compares = COMPARISONS.contains(&name.folded());
        if compares
            && types.iter().all(|ty| !matches!(ty, Ty::Int | Ty::Float | Ty::Char))
            && types.len() == 2
        {
            return match name.folded() {
                "==" => report.hint("compare with `eql(a, b)`, which works for every type"),
                "/=" => report.hint("compare with `not(eql(a, b))`, which works for every type"),
                _ => report.hint("only int, float and char have an order"),
            };
        }
        if has(&Ty::Int) && has(&Ty::Float) {
            return report.hint("int and float never mix by themselves: convert with `float(…)`, `round(…)`, `trunc(…)`");
        }
        if matches!(
            name.folded(),
            "sqrt"
                | "ln"
                | "exp"
                | "sin"
                | "cos"
                | "tan"
                | "log"
                | "expt"
                | "round"
                | "floor"
                | "ceil"
                | "trunc"
        ) && has(&Ty::Int)
        {
            return report.hint("convert with `float(…)`; a float literal has a point: `4.0`");
        }
        if name.folded() == "^" && types.get(1) == Some(&Ty::Float) {
            return report.hint("`^` takes an int power; for floats use `expt(v, p)`");
        }
        if name.folded() == "++"
            && types.iter().any(|ty| !matches!(ty, Ty::Sequence(_) | Ty::Var(_) | Ty::Error))
        {
            if let Some(Expr::Unary { .. }) = operands.first().map(|e| &body.member.item.exprs[*e])
            {
                return report.hint("unary operators bind tighter than `++`: write `#(a ++ b)`");
            }
            return report.hint("`++` joins sequences: write `[x]` for one element");
        }
        if has(&Ty::Char) && has(&Ty::Int) {
            return report.hint("convert with `char_code(c)` and `code_char(i)`");
        }
        if matches!(name.folded(), "+" | "-" | "*" | "/") && any_sequence {
            return report.hint(format!("for each element: `{{x {name} y : x in xs; y in ys}}`"));
        }
        if types.len() == 1
            && let [Ty::Sequence(element)] = &types[..]
            && matches!(name.folded(), "sum" | "product" | "plus_scan" | "max_val" | "min_val")
            && matches!(self.unifier.shallow(element), Ty::Sequence(_))
        {
            return report.hint(format!("for each row: `{{{name}(row) : row in …}}`"));
        }
        if matches!(name.folded(), "count") && types.len() == 1 {
            return report.hint("`count` counts the true ones: `count({x > 0 : x in xs})`");
        }
        let _ = id;
        report
    }

    /// Something is called that is no function.
    pub(super) fn report_not_function(
        &mut self,
        body: &mut Body<'_>,
        _id: ExprId,
        fun: ExprId,
        arg: ExprId,
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
            Ty::Int | Ty::Float => report.hint("to multiply, write `*`"),
            Ty::Sequence(_) => report.hint("to index, write `a[i]`; to gather, `a -> is`"),
            _ => report,
        };
        body.report(report);
    }

    /// Something is indexed that is no sequence.
    pub(super) fn report_not_indexed(
        &mut self,
        body: &mut Body<'_>,
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
        body.report(report);
    }

    /// An apply-to-each over what is no sequence.
    pub(super) fn report_not_sequence(&mut self, body: &mut Body<'_>, expr: ExprId, ty: &Ty) {
        let shown = self.show(ty);
        let at = body.at(expr);
        let mut report = self.error(
            at,
            format!("an apply-to-each goes over a sequence; this is {}", article(&shown)),
        );
        if matches!(self.unifier.shallow(ty), Ty::Int) {
            report = report.hint("for the ints below n write `[0:n]`");
        }
        if matches!(self.unifier.shallow(ty), Ty::Pair(..)) {
            report = report.hint("to go over several sequences at once: `{… : x in xs; y in ys}`");
        }
        body.report(report);
    }

    /// One type was needed, another found.
    pub(super) fn report_expected(
        &mut self,
        body: &mut Body<'_>,
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
        if wanted == "int" && found == "float" {
            report = report.hint("convert with `round(…)`, `floor(…)`, `ceil(…)` or `trunc(…)`");
        }
        if wanted == "bool" && found == "int" {
            report = report.hint("compare: `x /= 0`");
        }
        body.report(report);
    }

    /// The branches of an `if` differ.
    pub(super) fn report_branches(
        &mut self,
        body: &mut Body<'_>,
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
        if let Expr::Pair(first, _) = body.member.item.exprs[otherwise.0]
            && !matches!(self.unifier.shallow(then.1), Ty::Pair(..))
        {
            report = report
                .label(body.at(first), "the `else` part goes on behind this, through the comma")
                .hint("put the `if` in parentheses: `(if c then a else b), d`");
        }
        body.report(report);
    }

    /// The elements of a list differ.
    pub(super) fn report_elements(
        &mut self,
        body: &mut Body<'_>,
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
        } else if *clash == Clash::Mismatch {
            report = report.hint("values of different types go together in a tuple: `(a, b)`");
        }
        body.report(report);
    }

    /// A value does not fit a pattern.
    pub(super) fn report_pattern(
        &mut self,
        body: &mut Body<'_>,
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
            .here(format!("takes {expected_shown} apart"))
            .label(body.at(value), article(&shown));
        report = self.explain(report, clash);
        body.report(report);
    }

    /// The content of a record pattern does not fit the record.
    pub(super) fn report_record(
        &mut self,
        body: &mut Body<'_>,
        at: Loc,
        name: &Name,
        content: &Ty,
        pattern: &Ty,
        clash: &Clash,
    ) {
        let (content, pattern) = (self.show(content), self.show(pattern));
        let report =
            self.error(at, format!("`{name}` holds {content}, this pattern takes {pattern} apart"));
        let report = self.explain(report, clash);
        body.report(report);
    }

    /// The parameters do not fit the annotation.
    pub(super) fn report_annotation(
        &mut self,
        body: &mut Body<'_>,
        function: &Function,
        pattern: &Ty,
        declared: &Ty,
        clash: &Clash,
    ) {
        let (pattern, declared) = (self.show(pattern), self.show(declared));
        let at = body.at_pat(function.param);
        let mut report = self.error(
            at,
            format!("the parameters of `{}` do not fit its annotation", function.name.name),
        );
        report = report.here(format!("these take {pattern}"));
        if let Some(annotation) = &function.annotation {
            report =
                report.label(body.loc(annotation.ty.span), format!("declared to take {declared}"));
        }
        let report = self.explain(report, clash);
        body.report(report);
    }

    /// The body does not have the declared type (or that of a recursive call).
    pub(super) fn report_result(
        &mut self,
        body: &mut Body<'_>,
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
                match self.unifier.because(declared) {
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

/// `an int`, `a float`, `a sequence [int]`, …
fn article(shown: &str) -> String {
    match shown {
        "int" => "an int".to_owned(),
        "float" | "bool" | "char" => format!("a {shown}"),
        "[char]" => "a string".to_owned(),
        _ if shown.contains(" -> ") => format!("a function {shown}"),
        _ if shown.starts_with('[') => format!("a sequence {shown}"),
        _ if shown.contains(", ") && !shown.contains("::") => format!("a tuple ({shown})"),
        _ => format!("of type {shown}"),
    }
}

fn a_class(class: Class) -> String {
    match class {
        Class::Any => "anything".to_owned(),
        Class::Ordinal => "an ordinal".to_owned(),
        Class::Logical => "a logical".to_owned(),
        Class::Number => "a number".to_owned(),
        Class::Just(_) => article(class_name(class)),
    }
}

fn list_of(shown: &[String]) -> String {
    let all: Vec<String> = shown.iter().map(|s| article(s)).collect();
    match &all[..] {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
