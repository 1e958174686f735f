//! The iterations of the loops of a thread, by the sizes that the host knows.

use super::CallFrame;
use nesl_core::ir::{Atom, Ty, Var};
use nesl_core::strategy::{Loop, LoopLength};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;

/// The columns of a level of nesting: the starts, the lengths, and the extent of the pool.
const COLUMNS_OF_LEVEL: usize = 3;

impl CallFrame<'_> {
    /// Returns the number of iterations of some loops of a mean element, with those inside of them; `None` if one
    /// goes over what the host does not know the size of.
    pub(crate) fn iterations(&self, loops: &[Loop]) -> Option<u64> {
        let mut total: u64 = 0;
        for one in loops {
            let each = self.iterations(&one.inside)?.saturating_add(1);
            total = total.saturating_add(self.length(&one.length)?.saturating_mul(each));
        }
        Some(total)
    }

    fn length(&self, length: &LoopLength) -> Option<u64> {
        match length {
            LoopLength::Constant(count) => Some(*count),
            LoopLength::Elements { of, level } => self.mean_length(*of, *level),
            LoopLength::Range { start, stride, end } => {
                let [start, stride, end] = [start, stride, end].map(|atom| self.known_int(*atom));
                let distance = end?.checked_sub(start?)?;
                u64::try_from(distance.checked_div(stride?)?).ok()
            }
        }
    }

    /// Returns the mean length of the sequences at a level of a variable. Pools count as a whole, also those parts
    /// that no sequence covers.
    fn mean_length(&self, of: Var, level: usize) -> Option<u64> {
        let (home, ty) = self.homes.get(&of)?;
        let value = self.values.get(&(of, *home))?;
        let mut element = ty;
        for _ in 0..=level {
            let Ty::Sequence(inner) = element else { return None };
            element = inner;
        }
        let extent = self.extents.get(home)?;
        // The number of sequences at a level is that of the elements at the level around it.
        let total = |levels: usize| match (extent.single, levels) {
            (_, 0) => Some(extent.count as u64),
            (true, 1) => count(value.parts.first()?),
            (true, _) => count(value.parts.get(1 + COLUMNS_OF_LEVEL * (levels - 1) - 1)?),
            (false, _) => count(value.parts.get(COLUMNS_OF_LEVEL * levels - 1)?),
        };
        Some(total(level + 1)?.div_ceil(total(level)?.max(1)))
    }

    /// Returns an int that the host knows.
    fn known_int(&self, atom: Atom) -> Option<i64> {
        let var = match atom {
            Atom::Int(x) => return Some(x),
            atom => atom.variable()?,
        };
        let (home, _) = self.homes.get(&var)?;
        let value = self.values.get(&(var, *home))?;
        if !self.extents.get(home)?.single {
            return None;
        }
        int(value.parts.first()?)
    }
}

fn int(part: &Arg) -> Option<i64> {
    match part {
        Arg::Scalar(Literal::I64(x)) => Some(*x),
        Arg::Scalar(Literal::I32(x)) => Some(i64::from(*x)),
        Arg::Scalar(_) | Arg::Array(..) => None,
    }
}

fn count(part: &Arg) -> Option<u64> {
    int(part).and_then(|count| u64::try_from(count).ok())
}
