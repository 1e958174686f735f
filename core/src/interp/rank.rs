//! Ranks: the place of each element in the sorted sequence.

use super::context::Context;
use super::value::Sequence;
use nesl_runtime::fault::Fault;
use nesl_runtime::services::rank::{Order, Rankable, sort_places};
use std::sync::Arc;

/// The rank of every element.
pub(super) fn rank(
    sequence: &Sequence,
    order: Order,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let n = sequence.len() as i128;
    let keys: Vec<u64> = match sequence {
        Sequence::Ints(xs) => context.tabulate(n, |i| xs[i].rank_key(order))?,
        Sequence::Floats(xs) => context.tabulate(n, |i| xs[i].rank_key(order))?,
        Sequence::Chars(xs) => context.tabulate(n, |i| xs[i].rank_key(order))?,
        Sequence::Bools(_) | Sequence::Values(_) => panic!("ranks are of ordinals"),
    };
    let places = context.tabulate(n, |i| i)?;
    let sorted = sort_places(&keys, places, &mut || context.poll())?;
    let mut ranks = context.tabulate(n, |_| 0)?;
    for (rank, place) in sorted.into_iter().enumerate() {
        ranks[place] = rank as i64;
    }
    Ok(Sequence::Ints(Arc::new(ranks)))
}
