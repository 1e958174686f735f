//! The types of operations: matches their type rules against the types of operands.
//!
//! The verifier checks programs against the rules, and the builder finds result types by them. The
//! rules are declared with the operations ([`crate::prim`]). If the operands do not fit, the error
//! is a message for compiler engineers.

use super::Ty;
use crate::prim::{HostOp, ReduceOp, ScalarProperties, SeqOp, Signature, TypeClass, TypePattern};
use nesl_runtime::scalar::ScalarOp;

/// Returns the type of a scalar operation's result for operands of types `args`.
pub fn scalar(op: ScalarOp, args: &[Ty]) -> Result<Ty, String> {
    let result = apply(&op.row().signature, args, None);
    result.ok_or_else(|| format!("{op:?} does not take {}", list(args)))
}

/// Returns the type of a sequence operation's result for operands of types `args`.
pub fn sequence(op: SeqOp, args: &[Ty]) -> Result<Ty, String> {
    let mut rules = op.row().signatures.iter();
    let result = rules.find_map(|rule| apply(rule, args, op.operator()));
    result.ok_or_else(|| format!("{op:?} does not take {}", list(args)))
}

/// Checks that a host operation on operands of types `args` can give a `result`.
///
/// The operands may be separate or form pairs as the arguments in the source do; only the tuple
/// that they form as a whole is compared.
pub fn host(op: HostOp, args: &[Ty], result: &Ty) -> Result<(), String> {
    let (row, given) = (op.row(), Ty::tuple(args.iter().cloned()));
    let mut variable = Variable { ty: None, with: None };
    if !variable.matches(&row.operands, &given) {
        return Err(format!("{op:?} takes {}, not {given}", row.operands));
    }
    if variable.instantiate(&row.result).as_ref() == Some(result) {
        return Ok(());
    }
    Err(format!("{op:?} gives {}, not {result}", row.result))
}

/// Returns the type of the result by a rule, if operands of these types fit it.
fn apply(rule: &Signature, args: &[Ty], with: Option<ReduceOp>) -> Option<Ty> {
    if rule.params.len() != args.len() {
        return None;
    }
    let mut variable = Variable { ty: None, with };
    let fits = rule.params.iter().zip(args).all(|(param, arg)| variable.matches(param, arg));
    if fits { variable.instantiate(&rule.result) } else { None }
}

/// The type variable of a rule.
struct Variable<'t> {
    /// The type that it stands for, once an operand has determined it.
    ty: Option<&'t Ty>,
    /// The operator of a reduction, scan or histogram.
    with: Option<ReduceOp>,
}

impl<'t> Variable<'t> {
    /// Returns true if a type fits a pattern; the first occurrence of the variable determines it.
    fn matches(&mut self, pattern: &TypePattern, ty: &'t Ty) -> bool {
        match (pattern, ty) {
            (TypePattern::Int, Ty::Int)
            | (TypePattern::Float, Ty::Float)
            | (TypePattern::Bool, Ty::Bool)
            | (TypePattern::Char, Ty::Char) => true,
            (TypePattern::Variable(class), _) => match self.ty {
                Some(known) => known == ty,
                None => {
                    self.ty = Some(ty);
                    contains(*class, ty, self.with)
                }
            },
            (TypePattern::Sequence(pattern), Ty::Sequence(element)) => {
                self.matches(pattern, element)
            }
            (TypePattern::Pair(a, b), Ty::Pair(first, second)) => {
                self.matches(a, first) && self.matches(b, second)
            }
            (
                TypePattern::Int
                | TypePattern::Float
                | TypePattern::Bool
                | TypePattern::Char
                | TypePattern::Sequence(_)
                | TypePattern::Pair(..),
                _,
            ) => false,
        }
    }

    /// Returns the type that a pattern denotes, if it contains no undetermined variable.
    fn instantiate(&self, pattern: &TypePattern) -> Option<Ty> {
        Some(match pattern {
            TypePattern::Int => Ty::Int,
            TypePattern::Float => Ty::Float,
            TypePattern::Bool => Ty::Bool,
            TypePattern::Char => Ty::Char,
            TypePattern::Variable(_) => self.ty?.clone(),
            TypePattern::Sequence(element) => Ty::sequence(self.instantiate(element)?),
            TypePattern::Pair(a, b) => Ty::pair(self.instantiate(a)?, self.instantiate(b)?),
        })
    }
}

/// Returns true if a type belongs to a class; `with` is the operator that determines `Reducible`.
fn contains(class: TypeClass, ty: &Ty, with: Option<ReduceOp>) -> bool {
    match class {
        TypeClass::Any => true,
        TypeClass::Number => matches!(ty, Ty::Int | Ty::Float),
        TypeClass::Ordinal => matches!(ty, Ty::Int | Ty::Float | Ty::Char),
        TypeClass::Logical => matches!(ty, Ty::Int | Ty::Bool),
        TypeClass::Scalar => matches!(ty, Ty::Int | Ty::Float | Ty::Char | Ty::Bool),
        TypeClass::Reducible => with.is_some_and(|with| contains(with.class(), ty, None)),
    }
}

fn list(args: &[Ty]) -> String {
    if args.is_empty() {
        return "nothing".to_string();
    }
    let args: Vec<String> = args.iter().map(Ty::to_string).collect();
    args.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::scalar::{Precision, Scalar, eval};

    fn sample(ty: &Ty) -> Scalar {
        match ty {
            Ty::Int => Scalar::Int(1),
            Ty::Float => Scalar::Float(1.0),
            Ty::Bool => Scalar::Bool(true),
            Ty::Char => Scalar::Char(1),
            Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => panic!("{ty} is not scalar"),
        }
    }

    fn type_of(value: Scalar) -> Ty {
        match value {
            Scalar::Int(_) => Ty::Int,
            Scalar::Float(_) => Ty::Float,
            Scalar::Bool(_) => Ty::Bool,
            Scalar::Char(_) => Ty::Char,
        }
    }

    /// Every operation whose type rule holds has a value of the type that the rule states.
    #[test]
    fn scalar_operations_give_what_they_say() {
        let types = [Ty::Int, Ty::Float, Ty::Bool, Ty::Char];
        for op in ScalarOp::all() {
            let mut defined = 0;
            let singles = types.iter().map(|a| vec![a.clone()]);
            let pairs = types.iter().flat_map(|a| types.iter().map(|b| vec![a.clone(), b.clone()]));
            for args in singles.chain(pairs) {
                let Ok(result) = scalar(op, &args) else {
                    continue;
                };
                defined += 1;
                let values: Vec<Scalar> = args.iter().map(sample).collect();
                for precision in [Precision::Bits32, Precision::Bits64] {
                    let value = eval(op, &values, precision).unwrap();
                    assert_eq!(type_of(value), result, "{op:?} {args:?}");
                }
            }
            // These have more operands.
            let is_random = matches!(op, ScalarOp::Rand | ScalarOp::Split);
            assert!(defined > 0 || is_random, "{op:?} is defined nowhere");
        }
    }

    #[test]
    fn operands_of_host_operations() {
        let text = Ty::text;
        let status = || Ty::pair(Ty::Bool, Ty::text());
        assert_eq!(host(HostOp::PrintText, &[text()], &Ty::Bool), Ok(()));
        assert!(host(HostOp::PrintText, &[Ty::Int], &Ty::Bool).is_err());
        assert!(host(HostOp::PrintText, &[text()], &Ty::Int).is_err());
        assert_eq!(host(HostOp::WriteText, &[text(), Ty::Int], &status()), Ok(()));
        let row = Ty::pair(Ty::Int, Ty::Float);
        let rows = Ty::sequence(row.clone());
        let csv = [row, Ty::sequence(text()), Ty::Char, text()];
        assert_eq!(host(HostOp::ReadCsv, &csv, &rows), Ok(()));
        assert_eq!(host(HostOp::WriteCsv, &[rows.clone(), text(), text()], &Ty::Bool), Ok(()));
        // Paired up as the language pairs arguments.
        let rest = Ty::pair(text(), text());
        assert_eq!(host(HostOp::WriteCsv, &[rows, rest], &Ty::Bool), Ok(()));
    }
}
