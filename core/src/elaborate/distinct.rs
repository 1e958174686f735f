//! Generates the search for the different elements of a sequence, as ints or texts that are equal exactly
//! where the elements are.
//!
//! ```text
//! int, text   themselves
//! char, bool  themselves, one byte each
//! float       the bits; nothing is found if one is not equal to itself
//! (a, b)      key(a) - min, times the number of ints that key(b) may be, plus key(b) - min; nothing is found
//!             if that is more than an int holds
//! all others  nothing is found
//! ```

use super::build::Body;
use super::instance::Elaborator;
use crate::ir::{self, Atom, Op, Site};
use crate::prim::{ReduceOp, SeqOp};
use crate::types::{Ty, record_content};
use nesl_runtime::bug;
use nesl_runtime::scalar::{Precision, ScalarOp};

/// Ints for the elements of a sequence.
#[derive(Clone, Copy)]
struct Keys {
    /// The sequence of ints.
    ints: Atom,
    /// True if they are equal exactly where the elements are.
    exact: Atom,
}

/// The keys of pairs that there may be at a precision: half of all ints that are not negative, which is
/// further from the greatest int than the errors of floats.
fn max_keys(precision: Precision) -> f64 {
    match precision {
        Precision::Bits32 => (1u64 << 30) as f64,
        Precision::Bits64 => (1u64 << 62) as f64,
    }
}

impl Elaborator<'_> {
    /// Emits the search for the different elements of a sequence of type `ty`.
    pub(super) fn distinct(&mut self, body: &mut Body, ty: &Ty, a: Atom, site: Site) -> Atom {
        let Ty::Sequence(element) = ty else { bug!("grouping applies to a sequence") };
        let whole = match &**element {
            Ty::Char | Ty::Bool => true,
            Ty::Sequence(char) => **char == Ty::Char,
            _ => false,
        };
        if whole {
            return search(body, a, site);
        }
        let Some(keys) = self.keys(body, element, a, site) else {
            let none = body.push(ints(), Op::List(Vec::new()), site);
            let none = body.pair(none, none, site);
            return body.pair(none, Atom::Bool(false), site);
        };
        let both = search(body, keys.ints, site);
        let (found, done) = (body.first(both, site), body.second(both, site));
        let done = and(body, done, keys.exact, site);
        body.pair(found, done, site)
    }

    /// Emits the ints for the elements of a sequence; `None` if there may be none for them.
    fn keys(&mut self, body: &mut Body, element: &Ty, a: Atom, site: Site) -> Option<Keys> {
        let code = match element {
            Ty::Int => return Some(Keys { ints: a, exact: Atom::Bool(true) }),
            Ty::Char => ScalarOp::CharToInt,
            Ty::Bool => ScalarOp::BoolToInt,
            Ty::Float => ScalarOp::FloatBits,
            Ty::Pair(first, second) => {
                let half = |this: &mut Self, body: &mut Body, ty: &Ty, is_first: bool| {
                    let half = this.each_of(body, &[a], site, |_, body, atoms| match is_first {
                        true => body.first(atoms[0], site),
                        false => body.second(atoms[0], site),
                    });
                    this.keys(body, ty, half, site)
                };
                let first = half(self, body, first, true)?;
                let second = half(self, body, second, false)?;
                return Some(self.both(body, first, second, site));
            }
            Ty::Record(record, args) => {
                let content = record_content(&self.definitions.signature(record.item), args);
                return self.keys(body, &content, a, site);
            }
            Ty::Sequence(_) | Ty::Function(_) | Ty::Code(..) | Ty::Var(_) | Ty::Error => {
                return None;
            }
        };
        let ints = self.each_of(body, &[a], site, |_, body, atoms| {
            body.push(ir::Ty::Int, Op::Scalar(code, atoms.to_vec()), site)
        });
        let exact = match element {
            Ty::Float => {
                let same = self.each_of(body, &[a], site, |_, body, atoms| {
                    let both = vec![atoms[0], atoms[0]];
                    body.push(ir::Ty::Bool, Op::Scalar(ScalarOp::Eq, both), site)
                });
                let all = Op::Seq(SeqOp::Reduce(ReduceOp::And), vec![same]);
                body.push(ir::Ty::Bool, all, site)
            }
            _ => Atom::Bool(true),
        };
        Some(Keys { ints, exact })
    }

    /// Emits one int for each pair of two.
    fn both(&mut self, body: &mut Body, first: Keys, second: Keys, site: Site) -> Keys {
        let int =
            |body: &mut Body, op, a, b| body.push(ir::Ty::Int, Op::Scalar(op, vec![a, b]), site);
        let float =
            |body: &mut Body, op, a, b| body.push(ir::Ty::Float, Op::Scalar(op, vec![a, b]), site);
        let [(low, floats), (other_low, other_floats)] = [first, second].map(|keys| {
            let [low, high] = [ReduceOp::Min, ReduceOp::Max].map(|with| {
                body.push(ir::Ty::Int, Op::Seq(SeqOp::Reduce(with), vec![keys.ints]), site)
            });
            let [from, to] = [low, high].map(|end| {
                body.push(ir::Ty::Float, Op::Scalar(ScalarOp::ToFloat, vec![end]), site)
            });
            // Of no elements, the greatest is less than the least: there is no key then.
            let distance = float(body, ScalarOp::Sub, to, from);
            ((low, high), float(body, ScalarOp::Add, distance, Atom::Float(1.0)))
        });
        let product = float(body, ScalarOp::Mul, floats, other_floats);
        let fits = vec![product, Atom::Float(max_keys(self.precision))];
        let fits = body.push(ir::Ty::Bool, Op::Scalar(ScalarOp::Lt, fits), site);
        let several = int(body, ScalarOp::Sub, other_low.1, other_low.0);
        let several = int(body, ScalarOp::Add, several, Atom::Int(1));
        let ints = self.each_of(body, &[first.ints, second.ints], site, |_, body, atoms| {
            let from_low = int(body, ScalarOp::Sub, atoms[0], low.0);
            let rest = int(body, ScalarOp::Sub, atoms[1], other_low.0);
            let scaled = int(body, ScalarOp::Mul, from_low, several);
            int(body, ScalarOp::Add, scaled, rest)
        });
        let exact = and(body, first.exact, second.exact, site);
        Keys { ints, exact: and(body, exact, fits, site) }
    }
}

fn ints() -> ir::Ty {
    ir::Ty::Sequence(Box::new(ir::Ty::Int))
}

fn and(body: &mut Body, a: Atom, b: Atom, site: Site) -> Atom {
    body.push(ir::Ty::Bool, Op::Scalar(ScalarOp::And, vec![a, b]), site)
}

/// Emits the search among ints, chars, bools or texts.
fn search(body: &mut Body, keys: Atom, site: Site) -> Atom {
    let found = ir::Ty::Pair(Box::new(ints()), Box::new(ints()));
    let result = ir::Ty::Pair(Box::new(found), Box::new(ir::Ty::Bool));
    body.push(result, Op::Seq(SeqOp::Distinct, vec![keys]), site)
}
