//! The limit on the size of types.
//!
//! A type of the language can be exponentially longer than the program that has it: each of
//! `x1 = (x0, x0); x2 = (x1, x1); …` doubles it, and so does each of a chain of datatypes. Types
//! are written out (in messages, in instances, in the core language), so their size has a limit, the
//! same as that of a type in the source text.

use super::{Record, Ty};

/// The number of parts that a type may have: scalars, sequences, variables. A record counts as its
/// content.
pub const MAX_PARTS: usize = 2_000;

/// Returns true if a type has more than `limit` parts. `look` resolves the outermost variable of a type;
/// `content` returns the content of a record. Takes at most about `limit` steps.
pub(crate) fn exceeds(
    ty: &Ty,
    limit: usize,
    look: &dyn Fn(&Ty) -> Ty,
    content: &dyn Fn(&Record, &[Ty]) -> Ty,
) -> bool {
    let mut parts = 0;
    let mut todo = vec![look(ty)];
    while let Some(ty) = todo.pop() {
        parts += 1;
        if parts + todo.len() > limit {
            return true;
        }
        match &ty {
            Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Var(_) => {}
            Ty::Pair(a, b) => {
                // A pair is not counted: `(1, 2, 3)` has three.
                parts -= 1;
                todo.extend([look(a), look(b)]);
            }
            Ty::Sequence(a) => todo.push(look(a)),
            Ty::Record(record, args) => todo.push(look(&content(record, args))),
            Ty::Function(f) => todo.extend([look(&f.param), look(&f.result), look(&f.code)]),
            Ty::Code(_, args) => todo.extend(args.iter().map(look)),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large(ty: &Ty, limit: usize) -> bool {
        exceeds(ty, limit, &Ty::clone, &|_, _| Ty::Error)
    }

    #[test]
    fn a_tuple_has_as_many_parts_as_it_says() {
        let pair = |a: Ty, b: Ty| Ty::Pair(a.into(), b.into());
        let three = pair(Ty::Int, pair(Ty::Char.sequence(), Ty::Bool));
        assert!(large(&three, 3));
        assert!(!large(&three, 4));
    }

    #[test]
    fn a_doubling_type_is_too_large_at_once() {
        let mut ty = Ty::Int;
        for _ in 0..60 {
            let half: std::sync::Arc<Ty> = ty.into();
            ty = Ty::Pair(half.clone(), half);
        }
        assert!(large(&ty, MAX_PARTS));
    }
}
