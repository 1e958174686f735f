//! Elaborates expressions, and binds patterns to values.

use super::instance::{Elaborator, FunctionScope, Instance};
use super::pattern::ParamShape;
use crate::base::{Diagnostic, DiagnosticKind, Loc, Name, Span, with_stack};
use crate::ir::{Atom, Nest, Op, Site, Ty};
use crate::names::Resolution;
use crate::prim::{Constant, Prim, PrimKind, SeqOp};
use crate::syntax::ast::{Expr, ExprId, Pat, PatId, UnaryOp};
use crate::types::Signature;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::{Precision, ScalarOp};
use std::sync::Arc;

/// The advice that leads to numbers that fit.
const WIDER: &str = "choose 64-bit numbers (`--precision 64`; `:set precision 64` in a session)";

/// The negative of the smallest int of 32 bits.
const LEAST_INT_NEGATED: i64 = 1 << 31;

impl<'c> Elaborator<'c> {
    /// Emits the operations of an expression and returns its value.
    pub(super) fn expr(&mut self, scope: &mut FunctionScope<'c>, id: ExprId) -> Atom {
        if let Some((_, atom)) = scope.left_operand.take_if(|(operand, _)| *operand == id) {
            return atom;
        }
        with_stack(|| self.expr_inner(scope, id))
    }

    /// Emits a chain of binary operators from its left end: it is as deep as it is long.
    fn chain(&mut self, scope: &mut FunctionScope<'c>, id: ExprId) -> Atom {
        let ast = scope.ast.clone();
        let (mut above, mut left_end) = (Vec::new(), id);
        while let Expr::Binary { left, right, .. } = &ast.exprs[left_end] {
            above.push((left_end, [*left, *right]));
            left_end = *left;
        }
        let mut atom = self.expr(scope, left_end);
        while let Some((id, operands)) = above.pop() {
            scope.left_operand = Some((operands[0], atom));
            atom = self.operator(scope, id, &operands);
        }
        atom
    }

    fn expr_inner(&mut self, scope: &mut FunctionScope<'c>, id: ExprId) -> Atom {
        let ast = scope.ast.clone();
        let site = scope.site(id);
        match &ast.exprs[id] {
            Expr::Missing => bug!("a form with errors is not elaborated"),
            Expr::Int(value) => self.int_literal(scope, id, *value),
            Expr::Float(bits) => {
                Atom::Float(self.narrowed(scope, scope.ast.expr_spans[id], bits.get()))
            }
            Expr::Bool(value) => Atom::Bool(*value),
            Expr::Char(value) => Atom::Char(*value),
            Expr::Text(bytes) => {
                let ty = Ty::Sequence(Box::new(Ty::Char));
                scope.body.push(ty, Op::Text(bytes.clone()), site)
            }
            Expr::Name(_) | Expr::Quote(_) => self.name(scope, id),
            Expr::Pair(a, b) => {
                let a = self.expr(scope, *a);
                let b = self.expr(scope, *b);
                scope.body.pair(a, b, site)
            }
            Expr::Sequence(items) => {
                let atoms = items.iter().map(|item| self.expr(scope, *item)).collect();
                let ty = self.lower(&scope.ty(id));
                scope.body.push(ty, Op::List(atoms), site)
            }
            Expr::Constants { elements, wide } => {
                for (value, token) in wide {
                    self.fits(scope, Span::new(*token, token + 1), *value);
                }
                if self.precision == Precision::Bits32 && elements.has_wide_float() {
                    self.refuse_float(scope, scope.ast.expr_spans[id], "a number in this literal");
                }
                let ty = self.lower(&scope.ty(id));
                scope.body.push(ty, Op::Constants(elements.clone()), site)
            }
            Expr::Empty(_) => {
                let ty = self.lower(&scope.ty(id));
                scope.body.push(ty, Op::List(Vec::new()), site)
            }
            Expr::Range { start, end, stride } => {
                let start = self.expr(scope, *start);
                let end = self.expr(scope, *end);
                let stride = stride.map_or(Atom::Int(1), |stride| self.expr(scope, stride));
                let ty = Ty::Sequence(Box::new(Ty::Int));
                scope.body.push(ty, Op::Seq(SeqOp::Range, vec![start, stride, end]), site)
            }
            Expr::Index { sequence, index } => {
                let sequence = self.expr(scope, *sequence);
                let index = self.expr(scope, *index);
                let ty = scope.body.element(sequence);
                scope.body.push(ty, Op::Seq(SeqOp::Index, vec![sequence, index]), site)
            }
            Expr::Call { fun, arg, optional } => self.call(scope, id, *fun, *arg, optional),
            // The smallest int is not the negative of an int.
            Expr::Unary { op: UnaryOp::Negate, arg, .. }
                if self.precision == Precision::Bits32
                    && matches!(&ast.exprs[*arg], Expr::Int(LEAST_INT_NEGATED)) =>
            {
                Atom::Int(-LEAST_INT_NEGATED)
            }
            Expr::Unary { arg, .. } => self.operator(scope, id, &[*arg]),
            Expr::Binary { .. } => self.chain(scope, id),
            Expr::If { cond, then, otherwise } => {
                let cond = self.expr(scope, *cond);
                let mut branch = |this: &mut Self, expr| {
                    scope.body.open();
                    let result = this.expr(scope, expr);
                    scope.body.close(result)
                };
                let then = branch(self, *then);
                let otherwise = branch(self, *otherwise);
                let ty = self.lower(&scope.ty(id));
                scope.body.push(ty, Op::If { cond, then, otherwise }, site)
            }
            Expr::Let { bindings, body } => {
                for (pat, value) in bindings {
                    let site = scope.site(*value);
                    self.begin_binding(scope, *value);
                    let atom = self.expr(scope, *value);
                    self.end_binding(scope, *pat, *value, atom);
                    self.bind(scope, *pat, atom, site);
                }
                self.expr(scope, *body)
            }
            Expr::Each { serial, body, bindings, sieve } => {
                self.each(scope, id, *serial, *body, bindings, *sieve)
            }
            Expr::Lambda { .. } => self.closure(scope, id),
            Expr::Time(inner) => {
                scope.body.open();
                let result = self.expr(scope, *inner);
                let ty = Ty::Pair(Box::new(scope.body.ty(result)), Box::new(Ty::Float));
                let block = scope.body.close(result);
                scope.body.push(ty, Op::Time(block), site)
            }
        }
    }

    fn int_literal(&mut self, scope: &FunctionScope<'c>, id: ExprId, value: i64) -> Atom {
        self.fits(scope, scope.ast.expr_spans[id], value);
        Atom::Int(value)
    }

    /// Returns a float in the precision; reports one that does not fit it.
    fn narrowed(&mut self, scope: &FunctionScope<'c>, span: Span, value: f64) -> f64 {
        if self.precision == Precision::Bits64 {
            return value;
        }
        let narrow = value as f32;
        if narrow.is_infinite() && value.is_finite() {
            self.refuse_float(scope, span, "this number");
        }
        f64::from(narrow)
    }

    /// Reports that something is too large for a float of the precision.
    fn refuse_float(&mut self, scope: &FunctionScope<'c>, span: Span, what: &str) {
        let at = Loc { item: scope.item, span };
        self.diagnostics.push(
            Diagnostic::error(
                DiagnosticKind::Syntax,
                at,
                format!("{what} is too large for a float of 32 bits"),
            )
            .hint(WIDER),
        );
    }

    /// Reports an int that does not fit the precision.
    fn fits(&mut self, scope: &FunctionScope<'c>, span: Span, value: i64) {
        if self.precision == Precision::Bits32 && i32::try_from(value).is_err() {
            let at = Loc { item: scope.item, span };
            self.diagnostics.push(
                Diagnostic::error(
                    DiagnosticKind::Syntax,
                    at,
                    format!("{value} does not fit an int of 32 bits"),
                )
                .hint(WIDER),
            );
        }
    }

    /// Emits a name used as a value.
    fn name(&mut self, scope: &mut FunctionScope<'c>, id: ExprId) -> Atom {
        let site = scope.site(id);
        match &scope.names.values[id] {
            Resolution::Local(pat) => scope.env[pat],
            Resolution::Optional(index) => scope.optional[*index as usize],
            Resolution::Item(item, name) => match &*self.definitions.signature(*item) {
                Signature::Values { .. } if self.definitions.is_library(*item) => {
                    let ty = self.lower(&scope.ty(id));
                    let fun = self.instance(Instance::Constant(*item, name.clone()));
                    scope.body.push(ty, Op::Call(fun, Vec::new()), site)
                }
                Signature::Values { .. } => self.global_value(scope, id, *item, name),
                Signature::Function { .. } | Signature::Record { .. } | Signature::Broken => {
                    Atom::Unit
                }
            },
            Resolution::Prim(prim) => match prim.row().kind {
                PrimKind::Constant(constant) => self.constant(constant),
                _ => Atom::Unit,
            },
            Resolution::Unknown => bug!("a form with errors is not elaborated"),
        }
    }

    fn global_value(
        &mut self,
        scope: &mut FunctionScope<'c>,
        id: ExprId,
        item: crate::base::ItemId,
        name: &Name,
    ) -> Atom {
        let ty = self.lower(&scope.ty(id));
        let global = self.global(item, name, ty.clone());
        scope.body.push(ty, Op::Global(global), scope.site(id))
    }

    fn constant(&self, constant: Constant) -> Atom {
        let wide = self.precision == Precision::Bits64;
        match constant {
            Constant::Pi if wide => Atom::Float(std::f64::consts::PI),
            Constant::Pi => Atom::Float(f64::from(std::f32::consts::PI)),
            Constant::MaxInt => Atom::Int(if wide { i64::MAX } else { i64::from(i32::MAX) }),
            Constant::MinInt => Atom::Int(if wide { i64::MIN } else { i64::from(i32::MIN) }),
            Constant::Infinity => Atom::Float(f64::INFINITY),
            Constant::NotANumber => Atom::Float(f64::NAN),
        }
    }

    /// Emits an apply-to-each, `{ body : p in e; … | sieve }`.
    ///
    /// The sieve is evaluated first, for every element, and the body only for the elements that pass it.
    /// A body that is only an element variable needs no nest.
    fn each(
        &mut self,
        scope: &mut FunctionScope<'c>,
        id: ExprId,
        serial: bool,
        body: ExprId,
        bindings: &[(PatId, ExprId)],
        sieve: Option<ExprId>,
    ) -> Atom {
        let site = scope.site(id);
        let mut sequences: Vec<Atom> =
            bindings.iter().map(|(_, sequence)| self.expr(scope, *sequence)).collect();
        let pats: Vec<PatId> = bindings.iter().map(|(pat, _)| *pat).collect();
        let over = self.bindings_site(scope, id, bindings);
        if let Some(sieve) = sieve {
            let flags = self.nest(scope, &pats, &sequences, sieve, serial, over);
            for sequence in &mut sequences {
                let ty = scope.body.ty(*sequence);
                let op = Op::Seq(SeqOp::Pack, vec![*sequence, flags]);
                *sequence = scope.body.push(ty, op, site);
            }
            if let Some(whole) = self.just_an_element(scope, &pats, body) {
                return sequences[whole];
            }
        } else if let [only] = sequences[..]
            && self.just_an_element(scope, &pats, body).is_some()
        {
            return only;
        }
        self.nest(scope, &pats, &sequences, body, serial, over)
    }

    /// Returns the location of the bindings of an apply-to-each, which is blamed if their lengths
    /// differ.
    fn bindings_site(
        &self,
        scope: &FunctionScope<'c>,
        id: ExprId,
        bindings: &[(PatId, ExprId)],
    ) -> Site {
        match (bindings.first(), bindings.last()) {
            (Some((pat, _)), Some((_, sequence))) => {
                let start = scope.ast.pat_spans[*pat].start;
                let end = scope.ast.expr_spans[*sequence].end;
                scope.site_of(Span::new(start, end.max(start)))
            }
            _ => scope.site(id),
        }
    }

    /// Returns the number of the binding whose element is the body, if the body is only a variable.
    fn just_an_element(
        &self,
        scope: &FunctionScope<'c>,
        pats: &[PatId],
        body: ExprId,
    ) -> Option<usize> {
        let Some(Resolution::Local(local)) = scope.names.values.get(body) else { return None };
        let direct = |pat: &PatId| pat == local && matches!(scope.ast.pats[*pat], Pat::Name(_));
        pats.iter().position(direct)
    }

    fn nest(
        &mut self,
        scope: &mut FunctionScope<'c>,
        pats: &[PatId],
        sequences: &[Atom],
        body: ExprId,
        serial: bool,
        over: Site,
    ) -> Atom {
        let site = scope.site(body);
        let mut binders = Vec::with_capacity(pats.len());
        scope.body.open();
        for (pat, sequence) in pats.iter().zip(sequences) {
            let ty = scope.body.element(*sequence);
            let var = scope.body.fresh(ty.clone());
            self.bind(scope, *pat, Atom::Var(var), site);
            binders.push((var, ty, *sequence));
        }
        scope.nests += 1;
        let result = self.expr(scope, body);
        scope.nests -= 1;
        let ty = Ty::Sequence(Box::new(scope.body.ty(result)));
        let body = scope.body.close(result);
        scope.body.push(ty, Op::Nest(Nest { binders, body, serial }), over)
    }

    /// Emits an operator applied to its operands.
    fn operator(&mut self, scope: &mut FunctionScope<'c>, id: ExprId, operands: &[ExprId]) -> Atom {
        let site = scope.site(id);
        let result = self.lower(&scope.ty(id));
        match scope.names.values[id].clone() {
            Resolution::Prim(prim) => {
                let atoms = operands.iter().map(|e| self.expr(scope, *e)).collect();
                let param = self.operand_type(scope, operands);
                self.prim(scope, prim, &param, atoms, result, site)
            }
            Resolution::Item(item, _) => {
                let args = scope.types.uses[id].iter().map(|ty| ty.substitute(&scope.args));
                let args: Arc<[_]> = args.collect();
                self.call_item(scope, item, args, operands, result, site)
            }
            other => bug!("an operator is a primitive or a function, not {other:?}"),
        }
    }

    fn operand_type(&self, scope: &FunctionScope<'c>, operands: &[ExprId]) -> crate::types::Ty {
        let mut types = operands.iter().rev().map(|e| scope.ty(*e));
        let last = types.next().or_bug("an operator has operands");
        types.fold(last, |rest, ty| crate::types::Ty::Pair(ty.into(), rest.into()))
    }

    /// Emits a primitive applied to its operands. `param` is the type of its parameter as a whole.
    pub(super) fn prim(
        &mut self,
        scope: &mut FunctionScope<'c>,
        prim: Prim,
        param: &crate::types::Ty,
        atoms: Vec<Atom>,
        result: Ty,
        site: Site,
    ) -> Atom {
        let op = match prim.row().kind {
            // `_real` of a float.
            PrimKind::Scalar(ScalarOp::ToFloat) if scope.body.ty(atoms[0]) == Ty::Float => {
                return atoms[0];
            }
            PrimKind::Scalar(op) => Op::Scalar(op, atoms),
            PrimKind::Seq(op) => Op::Seq(op, atoms),
            PrimKind::Host(op) => Op::Host(op, atoms),
            PrimKind::Error => Op::Error(atoms[0]),
            // `ir::rng_keys` fills in the source.
            PrimKind::Rand => {
                Op::Scalar(ScalarOp::Rand, vec![Atom::Int(0), Atom::Int(0), Atom::Int(0), atoms[0]])
            }
            PrimKind::Check(code) => {
                // The message follows from the code; only `_check` has a message of its own.
                Op::Check { cond: atoms[0], code, message: Default::default() }
            }
            PrimKind::Derived(derived) => {
                return self.derived(&mut scope.body, derived, param, &atoms, site);
            }
            PrimKind::Constant(_) => bug!("a constant is not called"),
        };
        scope.body.push(result, op, site)
    }

    /// Binds the variables of a pattern to the components of a value.
    pub(super) fn bind(&self, scope: &mut FunctionScope<'c>, pat: PatId, value: Atom, site: Site) {
        match scope.ast.pats[pat] {
            Pat::Name(_) | Pat::Missing => {
                scope.env.insert(pat, value);
            }
            Pat::Pair(a, b) => {
                let first = scope.body.first(value, site);
                let second = scope.body.second(value, site);
                self.bind(scope, a, first, site);
                self.bind(scope, b, second, site);
            }
            Pat::Record { content, .. } => self.bind(scope, content, value, site),
        }
    }

    /// Destructures a value by a shape and returns its operands.
    pub(super) fn project(
        scope: &mut FunctionScope<'c>,
        shape: &ParamShape,
        value: Atom,
        site: Site,
    ) -> Vec<Atom> {
        match shape {
            ParamShape::Leaf => vec![value],
            ParamShape::Pair(a, b) => {
                let first = scope.body.first(value, site);
                let second = scope.body.second(value, site);
                let mut all = Self::project(scope, a, first, site);
                all.extend(Self::project(scope, b, second, site));
                all
            }
        }
    }
}
