//! Ranks: the place of each element in the sorted sequence.

use super::context::Context;
use super::value::Sequence;
use nesl_runtime::fault::Fault;
use nesl_runtime::services::sort::{Order, rank_into};
use std::sync::Arc;

/// The rank of every element.
pub(super) fn rank(
    sequence: &Sequence,
    order: Order,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let mut ranks = context.room(sequence.len() as i128)?;
    let alone = context.alone();
    match sequence {
        Sequence::Ints(xs) => rank_into(xs, order, &mut ranks, &alone)?,
        Sequence::Floats(xs) => rank_into(xs, order, &mut ranks, &alone)?,
        Sequence::Chars(xs) => rank_into(xs, order, &mut ranks, &alone)?,
        Sequence::Bools(_) | Sequence::Values(_) => panic!("ranks are of ordinals"),
    }
    Ok(Sequence::Ints(Arc::new(ranks)))
}
