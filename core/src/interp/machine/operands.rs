//! Operands and their types, and the operations on scalars.

use super::super::cost::Cost;
use super::super::value::Value;
use super::{LocatedFault, Machine, window};
use crate::ir::{Atom, Function, Ty};
use nesl_runtime::bug;
use nesl_runtime::random::{self, Source};
use nesl_runtime::scalar::{self, Scalar, ScalarOp};
use std::rc::Rc;

impl Machine<'_, '_> {
    /// Computes an operation on scalars.
    #[inline]
    pub(super) fn scalar(&mut self, op: ScalarOp, args: &[Atom]) -> Result<Value, LocatedFault> {
        let precision = self.limits.precision;
        // Keys belong to the implementation, not to the program's cost.
        if op != ScalarOp::Split {
            self.spent.then(Cost::UNIT);
        }
        let result = match *args {
            [a] => scalar::eval(op, &[self.operand(a)], precision),
            [a, b] => scalar::eval(op, &[self.operand(a), self.operand(b)], precision),
            [key, index, number, bound] if op == ScalarOp::Rand => {
                let seed = self.host.seed();
                scalar::draw(seed, self.source(key, index, number), self.operand(bound), precision)
            }
            [key, index, number] if op == ScalarOp::Split => {
                let key = random::split(self.source(key, index, number));
                Ok(Scalar::Int(precision.wrap(key)))
            }
            _ => bug!("{op:?} does not have {} operands", args.len()),
        };
        Ok(match result? {
            Scalar::Int(x) => Value::Int(x),
            Scalar::Float(x) => Value::Float(x),
            Scalar::Bool(x) => Value::Bool(x),
            Scalar::Char(x) => Value::Char(x),
        })
    }

    /// The source of a draw or a split.
    fn source(&self, key: Atom, index: Atom, number: Atom) -> Source {
        let [key, index, number] = [key, index, number].map(|atom| self.atom(atom).int());
        Source { key, index, number }
    }

    /// The value of an operand.
    #[inline]
    pub(super) fn atom(&self, atom: Atom) -> Value {
        match atom {
            Atom::Var(var) => self.values[self.base + self.window.place(var)].clone(),
            Atom::Unit => Value::Unit,
            Atom::Int(x) => Value::Int(self.limits.precision.wrap(x)),
            Atom::Float(x) => Value::Float(self.limits.precision.round(x)),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
        }
    }

    /// The values of operands.
    pub(super) fn atoms(&self, atoms: &[Atom]) -> Vec<Value> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }

    /// The value of an operand that is a scalar.
    #[inline]
    fn operand(&self, atom: Atom) -> Scalar {
        match self.atom(atom) {
            Value::Int(x) => Scalar::Int(x),
            Value::Float(x) => Scalar::Float(x),
            Value::Bool(x) => Scalar::Bool(x),
            Value::Char(x) => Scalar::Char(x),
            other => bug!("an operand is a scalar, not {other:?}"),
        }
    }

    /// The value of a condition.
    #[inline]
    pub(super) fn truth(&self, atom: Atom) -> bool {
        self.atom(atom).bool()
    }

    /// A component of a pair.
    #[inline]
    pub(super) fn component(
        &self,
        pair: Atom,
        choose: impl FnOnce(&Value, &Value) -> Value,
    ) -> Value {
        let pair = self.atom(pair);
        let (first, second) = pair.components();
        choose(first, second)
    }

    /// The types of operands.
    pub(super) fn types_of(&mut self, atoms: &[Atom]) -> Vec<Ty> {
        let function = self.current();
        let types = self.types[self.function.0 as usize].get_or_insert_with(|| types(function));
        atoms
            .iter()
            .map(|atom| match atom {
                Atom::Var(var) => types[var.0 as usize].clone(),
                Atom::Unit => Ty::Unit,
                Atom::Int(_) => Ty::Int,
                Atom::Float(_) => Ty::Float,
                Atom::Bool(_) => Ty::Bool,
                Atom::Char(_) => Ty::Char,
            })
            .collect()
    }
}

/// The types of the variables of a function.
fn types(function: &Function) -> Rc<[Ty]> {
    let mut types = vec![Ty::Unit; window::count(function)];
    for (var, ty) in &function.params {
        types[var.0 as usize] = ty.clone();
    }
    function.body.each_binding(&mut |var, ty| types[var.0 as usize] = ty.clone());
    types.into()
}
