//! A value ↔ its parts, for calls, loops and conditionals: kir passes parts only.

use super::super::repr::{self, Columns, LoweredValue, columns_from_parts, ill_typed, next_part};
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::kir::{Literal, Value, ValueTy};

impl<'a> FunctionLowering<'a> {
    /// Returns the parts of an arbitrary value of a type, which stands where none is used.
    pub(in crate::lower) fn zero_parts(&mut self, ty: &Ty) -> Vec<Value> {
        let zero = self.body.i64(0);
        let parts = repr::parts(ty, self.precision);
        let parts = parts.into_iter().map(|part| match part {
            ValueTy::Scalar(ty) => self.body.literal(Literal::zero(ty)),
            ValueTy::Array(ty) => self.body.alloc(ty, zero),
            ValueTy::Mark => bug!("no part of a value is a memory mark"),
        });
        parts.collect()
    }

    /// Returns the parts of a value, its sequences materialised and its arrays sliced so that they
    /// begin with the first element.
    pub(in crate::lower) fn parts(&mut self, value: &LoweredValue<'a>, ty: &'a Ty) -> Vec<Value> {
        let mut out = Vec::new();
        self.add_parts(value, ty, &mut out);
        out
    }

    fn add_parts(&mut self, value: &LoweredValue<'a>, ty: &'a Ty, out: &mut Vec<Value>) {
        with_stack(|| match (value, ty) {
            (LoweredValue::Unit, _) => {}
            (LoweredValue::Scalar(value), _) => out.push(*value),
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                self.add_parts(&both.0, first, out);
                self.add_parts(&both.1, second, out);
            }
            (LoweredValue::Sequence(sequence), ty) => {
                let stored = self.store(sequence, ty).stored_sequence();
                out.push(stored.length);
                self.add_columns(&stored.columns, out);
            }
            (LoweredValue::Pair(_), _) => ill_typed("a pair"),
        });
    }

    fn add_columns(&mut self, columns: &Columns, out: &mut Vec<Value>) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(column) => out.push(self.array_of(*column)),
            Columns::Pair(both) => {
                self.add_columns(&both.0, out);
                self.add_columns(&both.1, out);
            }
            Columns::Views(views) => {
                out.push(self.array_of(views.starts));
                out.push(self.array_of(views.lengths));
                out.push(views.extent);
                self.add_columns(&views.pool, out);
            }
        });
    }

    /// Returns the value that has these parts.
    pub(in crate::lower) fn assemble(
        &mut self,
        ty: &Ty,
        parts: &mut dyn Iterator<Item = Value>,
    ) -> LoweredValue<'a> {
        with_stack(|| match ty {
            Ty::Unit => LoweredValue::Unit,
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => LoweredValue::Scalar(next_part(parts)),
            Ty::Pair(first, second) => {
                let first = self.assemble(first, parts);
                LoweredValue::pair(first, self.assemble(second, parts))
            }
            Ty::Sequence(element) => {
                let length = next_part(parts);
                LoweredValue::stored(length, columns_from_parts(element, length, parts))
            }
        })
    }
}
