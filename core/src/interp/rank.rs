//! Ranks: the place of each element in the sorted sequence.
//!
//! Elements become unsigned keys whose order is theirs, then places are sorted by key, stably. The
//! two zeros are equal; NaNs are equal to each other and last in either direction.

use super::context::Context;
use super::value::Sequence;
use nesl_runtime::fault::Fault;
use std::sync::Arc;

/// The direction of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Up,
    Down,
}

/// Above this many elements places are sorted by radix, between whose passes the run can be
/// interrupted; below it, counting 256 digits costs more than comparing.
const RADIX: usize = 2048;

/// The rank of every element.
pub(super) fn rank(
    sequence: &Sequence,
    order: Order,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let n = sequence.len() as i128;
    let up = |key: u64| match order {
        Order::Up => key,
        Order::Down => !key,
    };
    let keys: Vec<u64> = match sequence {
        Sequence::Ints(xs) => context.tabulate(n, |i| up(xs[i] as u64 ^ 1 << 63))?,
        Sequence::Floats(xs) => {
            context.tabulate(n, |i| if xs[i].is_nan() { u64::MAX } else { up(float_key(xs[i])) })?
        }
        Sequence::Chars(xs) => context.tabulate(n, |i| up(u64::from(xs[i])))?,
        Sequence::Bools(_) | Sequence::Values(_) => panic!("ranks are of ordinals"),
    };
    let sorted = sort(&keys, context)?;
    let mut ranks = context.tabulate(n, |_| 0)?;
    for (rank, place) in sorted.into_iter().enumerate() {
        ranks[place] = rank as i64;
    }
    Ok(Sequence::Ints(Arc::new(ranks)))
}

/// Orders as floats do, except NaN.
fn float_key(x: f64) -> u64 {
    // Adding zero turns -0.0 into 0.0.
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The places of the keys in ascending order, stably.
fn sort(keys: &[u64], context: &Context<'_>) -> Result<Vec<usize>, Fault> {
    let mut places = context.tabulate(keys.len() as i128, |i| i)?;
    if keys.len() < RADIX {
        places.sort_by_key(|place| keys[*place]);
        return Ok(places);
    }
    let mut next = places.clone();
    for shift in (0..64).step_by(8) {
        context.poll()?;
        let digit = |place: usize| (keys[place] >> shift) as usize & 0xff;
        let mut starts = [0; 256];
        for place in &places {
            starts[digit(*place)] += 1;
        }
        if starts.contains(&keys.len()) {
            continue;
        }
        let mut start = 0;
        for count in &mut starts {
            start += std::mem::replace(count, start);
        }
        for place in &places {
            let slot = &mut starts[digit(*place)];
            next[*slot] = *place;
            *slot += 1;
        }
        std::mem::swap(&mut places, &mut next);
    }
    Ok(places)
}
