//! Types of the language → types of the core.

use super::instance::{Elaborator, Frame};
use super::pattern::{self, Captured};
use crate::base::ItemId;
use crate::ir::{self, Atom, Site};
use crate::syntax::ast::ExprId;
use crate::types::{Code, Ty, record_content};
use std::sync::Arc;

impl<'c> Elaborator<'c> {
    /// The core type of a closed type: records are their contents, functions what they captured.
    ///
    /// A variable that is left over stands for a value that is never looked at (the element of an
    /// empty sequence nobody reads); any type does.
    pub(super) fn lower(&self, ty: &Ty) -> ir::Ty {
        match ty {
            Ty::Int | Ty::Error | Ty::Var(_) => ir::Ty::Int,
            Ty::Float => ir::Ty::Float,
            Ty::Bool => ir::Ty::Bool,
            Ty::Char => ir::Ty::Char,
            Ty::Pair(a, b) => ir::Ty::Pair(Box::new(self.lower(a)), Box::new(self.lower(b))),
            Ty::Sequence(a) => ir::Ty::Sequence(Box::new(self.lower(a))),
            Ty::Record(record, args) => {
                self.lower(&record_content(&self.context.signature(record.item), args))
            }
            Ty::Function(function) => match &function.code {
                Ty::Code(Code::Lambda(item, expr), args) => self.environment(*item, *expr, args),
                _ => ir::Ty::Unit,
            },
            Ty::Code(..) => ir::Ty::Unit,
        }
    }

    /// The type of what a lambda captures: a right-nested tuple, `Unit` if nothing.
    pub(super) fn environment(&self, item: ItemId, expr: ExprId, args: &Arc<[Ty]>) -> ir::Ty {
        let frame = self.frame(item, args.clone());
        let captured = pattern::captured(&frame.ast, frame.names, expr);
        let mut types = captured.iter().rev().map(|c| self.lower(&self.captured_ty(&frame, *c)));
        let Some(last) = types.next() else { return ir::Ty::Unit };
        types.fold(last, |rest, ty| ir::Ty::Pair(Box::new(ty), Box::new(rest)))
    }

    fn captured_ty(&self, frame: &Frame<'c>, captured: Captured) -> Ty {
        match captured {
            Captured::Local(pat) => frame.pat_ty(pat),
            Captured::Optional(index) => match &frame.ast.kind {
                crate::syntax::ast::ItemKind::Function(f) => frame.ty(f.optional[index as usize].1),
                other => unreachable!("{other:?} has no optional parameters"),
            },
        }
    }

    /// The value of a lambda: what it captures, as a tuple.
    pub(super) fn closure(&mut self, frame: &mut Frame<'c>, expr: ExprId) -> Atom {
        let site = frame.site(expr);
        let captured = pattern::captured(&frame.ast, frame.names, expr);
        let mut atoms = captured.iter().rev().map(|c| match c {
            Captured::Local(pat) => frame.env[pat],
            Captured::Optional(index) => frame.optional[*index as usize],
        });
        let Some(last) = atoms.next() else { return Atom::Unit };
        let rest: Vec<Atom> = atoms.collect();
        rest.into_iter().fold(last, |rest, atom| frame.body.pair(atom, rest, site))
    }

    /// The reverse: binds what was captured from the tuple.
    pub(super) fn unpack_environment(
        &self,
        frame: &mut Frame<'c>,
        captured: &[Captured],
        env: Atom,
        site: Site,
    ) {
        let captured_count = captured.len();
        let mut rest = env;
        for (index, captured) in captured.iter().enumerate() {
            let last = index + 1 == captured_count;
            let atom = if last { rest } else { frame.body.first(rest, site) };
            if !last {
                rest = frame.body.second(rest, site);
            }
            match captured {
                Captured::Local(pat) => {
                    frame.env.insert(*pat, atom);
                }
                Captured::Optional(index) => {
                    let index = *index as usize;
                    frame.optional.resize(frame.optional.len().max(index + 1), Atom::Unit);
                    frame.optional[index] = atom;
                }
            }
        }
    }
}
