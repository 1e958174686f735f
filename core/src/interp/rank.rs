//! Ranks: the index of each element in the sorted sequence.

use super::limits::Limits;
use super::value::Sequence;
use nesl_runtime::bug;
use nesl_runtime::fault::Fault;
use nesl_runtime::services::sort::{Order, rank_into};
use std::sync::Arc;

/// Computes the rank of every element.
pub(super) fn rank(
    sequence: &Sequence,
    order: Order,
    limits: &Limits<'_>,
) -> Result<Sequence, Fault> {
    let mut ranks = limits.allocate(sequence.len() as i128)?;
    let executor = limits.this_thread();
    match sequence {
        Sequence::Ints(xs) => rank_into(xs, order, &mut ranks, &executor)?,
        Sequence::Floats(xs) => rank_into(xs, order, &mut ranks, &executor)?,
        Sequence::Chars(xs) => rank_into(xs, order, &mut ranks, &executor)?,
        Sequence::Bools(_) | Sequence::Values(_) => bug!("only ints, floats and chars have ranks"),
    }
    Ok(Sequence::Ints(Arc::new(ranks)))
}
