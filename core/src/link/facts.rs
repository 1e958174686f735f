//! Facts about values before they are computed, enough to prove that a program cannot fault.

use crate::ir::{Atom, GlobalId, Let, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::{Precision, Scalar, ScalarOp, eval};
use rustc_hash::FxHashMap;

/// Returns the fact about a program's value if the simplified program cannot fault, whatever its globals
/// are, and calls no function: then computing it later, or not at all, has no observable effect. `known`
/// returns the facts about globals, `limit` is the length of the longest sequence that may be made.
pub fn cannot_fail(
    program: &Program,
    known: &dyn Fn(GlobalId) -> Fact,
    limit: u64,
) -> Option<Fact> {
    let main = &program.functions[program.main.0 as usize];
    if !main.params.is_empty() {
        return None;
    }
    let mut facts = Facts { known, facts: FxHashMap::default(), limit };
    main.body.lets.iter().all(|binding| facts.add(binding)).then(|| facts.of(main.body.result))
}

/// A fact about a value that is not yet computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// No fact is known.
    Nothing,
    /// The value is this int.
    Int(i64),
    /// The value is a sequence of this length.
    Length(u64),
}

struct Facts<'a> {
    known: &'a dyn Fn(GlobalId) -> Fact,
    facts: FxHashMap<Var, Fact>,
    /// The length of the longest sequence that may be made.
    limit: u64,
}

impl Facts<'_> {
    fn of(&self, atom: Atom) -> Fact {
        match atom {
            Atom::Int(x) => Fact::Int(x),
            Atom::Var(var) => self.facts.get(&var).copied().unwrap_or(Fact::Nothing),
            Atom::Unit | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => Fact::Nothing,
        }
    }

    /// Records the fact about a binding; returns true if the binding cannot fault.
    fn add(&mut self, binding: &Let) -> bool {
        let args: Vec<Fact> = binding.op.operands().into_iter().map(|atom| self.of(atom)).collect();
        let long = |length: i64| match u64::try_from(length) {
            Ok(length) if length <= self.limit => Some(Fact::Length(length)),
            _ => None,
        };
        let fact = match (&binding.op, &args[..]) {
            (Op::Global(id), _) => Some((self.known)(*id)),
            (Op::Copy(_), [fact]) => Some(*fact),
            (Op::Seq(SeqOp::Length, _), [Fact::Length(length)]) => Some(Fact::Int(*length as i64)),
            (Op::Seq(SeqOp::Range, _), [Fact::Int(start), Fact::Int(stride), Fact::Int(end)]) => {
                match end.checked_sub(*start) {
                    Some(0) if *stride >= 1 => long(0),
                    Some(distance) if distance > 0 && *stride >= 1 => {
                        long((distance - 1) / stride + 1)
                    }
                    _ => None,
                }
            }
            (Op::Seq(SeqOp::Dist, _), [_, Fact::Int(length)]) => long(*length),
            (Op::Seq(SeqOp::Pack, _), [Fact::Length(a), Fact::Length(b)]) if a == b => {
                Some(Fact::Nothing)
            }
            (Op::Seq(SeqOp::Scan(_), _), [fact]) => Some(*fact),
            (Op::Nest(nest), [first, others @ ..]) => {
                let over = |at: usize| nest.binders[at].2;
                let equal = (1..nest.binders.len()).all(|at| over(at) == over(0))
                    || matches!(first, Fact::Length(_)) && others.iter().all(|fact| fact == first);
                let safe = !nest.body.may_fault();
                (equal && safe).then_some(*first)
            }
            (Op::Scalar(..), _) if binding.ty == Ty::Int && !binding.may_fault() => {
                Some(self.int(&binding.op))
            }
            _ => (!binding.may_fault()).then_some(Fact::Nothing),
        };
        if let Some(fact) = fact {
            self.facts.insert(binding.var, fact);
        }
        fact.is_some()
    }

    /// The result of an operation on known ints, if it is the same in both precisions.
    fn int(&self, op: &Op) -> Fact {
        let Op::Scalar(op, atoms) = op else { return Fact::Nothing };
        let plain = matches!(op, ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Neg);
        let mut args = Vec::new();
        for atom in atoms {
            match self.of(*atom) {
                Fact::Int(x) => args.push(Scalar::Int(x)),
                Fact::Nothing | Fact::Length(_) => return Fact::Nothing,
            }
        }
        let all = [Precision::Bits32, Precision::Bits64].map(|at| eval(*op, &args, at));
        match all {
            [Ok(Scalar::Int(a)), Ok(Scalar::Int(b))] if plain && a == b => Fact::Int(a),
            _ => Fact::Nothing,
        }
    }
}
