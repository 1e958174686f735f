//! Expressions.

use super::instance::{Elaborator, Frame, Instance};
use crate::base::{Diagnostic, Kind, Loc, Name, Span, with_stack};
use crate::ir::{Atom, Nest, Op, Ty};
use crate::names::Resolution;
use crate::prim::{Constant, Prim, PrimKind, SeqOp};
use crate::syntax::ast::{Expr, ExprId, Pat, PatId};
use crate::types::Signature;
use nesl_runtime::scalar::{Precision, ScalarOp};
use std::sync::Arc;

impl<'c> Elaborator<'c> {
    /// Emits the operations of an expression; its value.
    pub(super) fn expr(&mut self, frame: &mut Frame<'c>, id: ExprId) -> Atom {
        with_stack(|| self.expr_inner(frame, id))
    }

    fn expr_inner(&mut self, frame: &mut Frame<'c>, id: ExprId) -> Atom {
        let ast = frame.ast.clone();
        let site = frame.site(id);
        match &ast.exprs[id] {
            Expr::Missing => unreachable!("a form with errors is not elaborated"),
            Expr::Int(value) => self.int_literal(frame, id, *value),
            Expr::Float(bits) => Atom::Float(match self.precision {
                Precision::Bits32 => bits.get() as f32 as f64,
                Precision::Bits64 => bits.get(),
            }),
            Expr::Bool(value) => Atom::Bool(*value),
            Expr::Char(value) => Atom::Char(*value),
            Expr::Text(bytes) => {
                let ty = Ty::Sequence(Box::new(Ty::Char));
                frame.body.push(ty, Op::Text(bytes.clone()), site)
            }
            Expr::Name(_) | Expr::Quote(_) => self.name(frame, id),
            Expr::Pair(a, b) => {
                let a = self.expr(frame, *a);
                let b = self.expr(frame, *b);
                frame.body.pair(a, b, site)
            }
            Expr::Sequence(items) => {
                let atoms = items.iter().map(|item| self.expr(frame, *item)).collect();
                let ty = self.lower(&frame.ty(id));
                frame.body.push(ty, Op::List(atoms), site)
            }
            Expr::Empty(_) => {
                let ty = self.lower(&frame.ty(id));
                frame.body.push(ty, Op::List(Vec::new()), site)
            }
            Expr::Range { start, end, stride } => {
                let start = self.expr(frame, *start);
                let end = self.expr(frame, *end);
                let stride = stride.map_or(Atom::Int(1), |stride| self.expr(frame, stride));
                let ty = Ty::Sequence(Box::new(Ty::Int));
                frame.body.push(ty, Op::Seq(SeqOp::Range, vec![start, stride, end]), site)
            }
            Expr::Index { sequence, index } => {
                let sequence = self.expr(frame, *sequence);
                let index = self.expr(frame, *index);
                let ty = frame.body.element(sequence);
                frame.body.push(ty, Op::Seq(SeqOp::Index, vec![sequence, index]), site)
            }
            Expr::Call { fun, arg, optional } => self.call(frame, id, *fun, *arg, optional),
            Expr::Unary { arg, .. } => self.operator(frame, id, &[*arg]),
            Expr::Binary { left, right, .. } => self.operator(frame, id, &[*left, *right]),
            Expr::If { cond, then, otherwise } => {
                let cond = self.expr(frame, *cond);
                let mut branch = |this: &mut Self, expr| {
                    frame.body.open();
                    let result = this.expr(frame, expr);
                    frame.body.close(result)
                };
                let then = branch(self, *then);
                let otherwise = branch(self, *otherwise);
                let ty = self.lower(&frame.ty(id));
                frame.body.push(ty, Op::If { cond, then, otherwise }, site)
            }
            Expr::Let { bindings, body } => {
                for (pat, value) in bindings {
                    let site = frame.site(*value);
                    self.begin_binding(frame, *value);
                    let atom = self.expr(frame, *value);
                    self.end_binding(frame, *pat, *value, atom);
                    self.bind(frame, *pat, atom, site);
                }
                self.expr(frame, *body)
            }
            Expr::Each { serial, body, bindings, sieve } => {
                self.each(frame, id, *serial, *body, bindings, *sieve)
            }
            Expr::Lambda { .. } => self.closure(frame, id),
            Expr::Time(inner) => {
                frame.body.open();
                let result = self.expr(frame, *inner);
                let ty = Ty::Pair(Box::new(frame.body.ty(result)), Box::new(Ty::Float));
                let block = frame.body.close(result);
                frame.body.push(ty, Op::Time(block), site)
            }
        }
    }

    fn int_literal(&mut self, frame: &Frame<'c>, id: ExprId, value: i64) -> Atom {
        if self.precision == Precision::Bits32 && i32::try_from(value).is_err() {
            let at = Loc { item: frame.item, span: frame.ast.expr_spans[id] };
            self.diagnostics.push(
                Diagnostic::error(
                    Kind::Syntax,
                    at,
                    format!("{value} does not fit an int of 32 bits"),
                )
                .hint("choose 64-bit numbers (`--precision 64`)"),
            );
        }
        Atom::Int(value)
    }

    /// A name used as a value.
    fn name(&mut self, frame: &mut Frame<'c>, id: ExprId) -> Atom {
        let site = frame.site(id);
        match &frame.names.values[id] {
            Resolution::Local(pat) => frame.env[pat],
            Resolution::Optional(index) => frame.optional[*index as usize],
            Resolution::Item(item, name) => match &*self.context.signature(*item) {
                Signature::Values { .. } if self.context.is_library(*item) => {
                    let ty = self.lower(&frame.ty(id));
                    let fun = self.instance(Instance::Constant(*item, name.clone()));
                    frame.body.push(ty, Op::Call(fun, Vec::new()), site)
                }
                Signature::Values { .. } => self.global_value(frame, id, *item, name),
                Signature::Function { .. } | Signature::Record { .. } | Signature::Broken => {
                    Atom::Unit
                }
            },
            Resolution::Prim(prim) => match prim.row().kind {
                PrimKind::Constant(constant) => self.constant(constant),
                _ => Atom::Unit,
            },
            Resolution::Unknown => unreachable!("a form with errors is not elaborated"),
        }
    }

    fn global_value(
        &mut self,
        frame: &mut Frame<'c>,
        id: ExprId,
        item: crate::base::ItemId,
        name: &Name,
    ) -> Atom {
        let ty = self.lower(&frame.ty(id));
        let global = self.global(item, name, ty.clone());
        frame.body.push(ty, Op::Global(global), frame.site(id))
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

    /// `{ body : p in e; … | sieve }`.
    ///
    /// The sieve is evaluated first, for every element; the body only for those that pass
    /// (decision 3). A body that is just an element needs no nest of its own.
    fn each(
        &mut self,
        frame: &mut Frame<'c>,
        id: ExprId,
        serial: bool,
        body: ExprId,
        bindings: &[(PatId, ExprId)],
        sieve: Option<ExprId>,
    ) -> Atom {
        let site = frame.site(id);
        let mut sequences: Vec<Atom> =
            bindings.iter().map(|(_, sequence)| self.expr(frame, *sequence)).collect();
        let pats: Vec<PatId> = bindings.iter().map(|(pat, _)| *pat).collect();
        let over = self.bindings_site(frame, id, bindings);
        if let Some(sieve) = sieve {
            let flags = self.nest(frame, &pats, &sequences, sieve, serial, over);
            for sequence in &mut sequences {
                let ty = frame.body.ty(*sequence);
                let op = Op::Seq(SeqOp::Pack, vec![*sequence, flags]);
                *sequence = frame.body.push(ty, op, site);
            }
            if let Some(whole) = self.just_an_element(frame, &pats, body) {
                return sequences[whole];
            }
        } else if let [only] = sequences[..]
            && self.just_an_element(frame, &pats, body).is_some()
        {
            return only;
        }
        self.nest(frame, &pats, &sequences, body, serial, over)
    }

    /// Where the bindings of an apply-to-each stand: what is to blame for their lengths.
    fn bindings_site(
        &self,
        frame: &Frame<'c>,
        id: ExprId,
        bindings: &[(PatId, ExprId)],
    ) -> crate::ir::Site {
        match (bindings.first(), bindings.last()) {
            (Some((pat, _)), Some((_, sequence))) => {
                let start = frame.ast.pat_spans[*pat].start;
                let end = frame.ast.expr_spans[*sequence].end;
                frame.site_of(Span::new(start, end.max(start)))
            }
            _ => frame.site(id),
        }
    }

    /// The binding whose element is the body, if it is no more than that.
    fn just_an_element(&self, frame: &Frame<'c>, pats: &[PatId], body: ExprId) -> Option<usize> {
        let Some(Resolution::Local(local)) = frame.names.values.get(body) else { return None };
        let direct = |pat: &PatId| pat == local && matches!(frame.ast.pats[*pat], Pat::Name(_));
        pats.iter().position(direct)
    }

    fn nest(
        &mut self,
        frame: &mut Frame<'c>,
        pats: &[PatId],
        sequences: &[Atom],
        body: ExprId,
        serial: bool,
        over: crate::ir::Site,
    ) -> Atom {
        let site = frame.site(body);
        let mut binders = Vec::with_capacity(pats.len());
        frame.body.open();
        for (pat, sequence) in pats.iter().zip(sequences) {
            let ty = frame.body.element(*sequence);
            let var = frame.body.fresh(ty.clone());
            self.bind(frame, *pat, Atom::Var(var), site);
            binders.push((var, ty, *sequence));
        }
        frame.nests += 1;
        let result = self.expr(frame, body);
        frame.nests -= 1;
        let ty = Ty::Sequence(Box::new(frame.body.ty(result)));
        let body = frame.body.close(result);
        frame.body.push(ty, Op::Nest(Nest { binders, body, serial }), over)
    }

    /// An operator on its operands.
    fn operator(&mut self, frame: &mut Frame<'c>, id: ExprId, operands: &[ExprId]) -> Atom {
        let site = frame.site(id);
        let result = self.lower(&frame.ty(id));
        match frame.names.values[id].clone() {
            Resolution::Prim(prim) => {
                let atoms = operands.iter().map(|e| self.expr(frame, *e)).collect();
                let param = self.operand_type(frame, operands);
                self.prim(frame, prim, &param, atoms, result, site)
            }
            Resolution::Item(item, _) => {
                let args = frame.types.uses[id].iter().map(|ty| ty.substitute(&frame.args));
                let args: Arc<[_]> = args.collect();
                self.call_item(frame, item, args, operands, result, site)
            }
            other => unreachable!("an operator is {other:?}"),
        }
    }

    fn operand_type(&self, frame: &Frame<'c>, operands: &[ExprId]) -> crate::types::Ty {
        let mut types = operands.iter().rev().map(|e| frame.ty(*e));
        let last = types.next().expect("an operator has operands");
        types.fold(last, |rest, ty| crate::types::Ty::Pair(ty.into(), rest.into()))
    }

    /// A primitive applied to its operands. `param` is the type of its parameter as a whole.
    pub(super) fn prim(
        &mut self,
        frame: &mut Frame<'c>,
        prim: Prim,
        param: &crate::types::Ty,
        atoms: Vec<Atom>,
        result: Ty,
        site: crate::ir::Site,
    ) -> Atom {
        let op = match prim.row().kind {
            PrimKind::Scalar(op) => Op::Scalar(op, atoms),
            PrimKind::Seq(op) => Op::Seq(op, atoms),
            PrimKind::Host(op) => Op::Host(op, atoms),
            PrimKind::Error => Op::Error(atoms[0]),
            // The key is filled in by `ir::keys`.
            PrimKind::Rand => Op::Scalar(ScalarOp::Rand, vec![Atom::Int(0), atoms[0]]),
            PrimKind::Check(code) => {
                // The reason says all; only `_check` has words of its own.
                Op::Check { cond: atoms[0], code, message: Default::default() }
            }
            PrimKind::Derived(derived) => {
                return self.derived(&mut frame.body, derived, param, &atoms, site);
            }
            PrimKind::Constant(_) => unreachable!("a constant is not called"),
        };
        frame.body.push(result, op, site)
    }
}
