//! Ranks: the place of each element in the sorted sequence.
//!
//! Elements become unsigned keys whose order is theirs, then places are sorted by key, stably. The
//! two zeros are equal; NaNs are equal to each other and last in either direction.

use std::convert::Infallible;

/// The direction of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ascending.
    Up,
    /// Descending.
    Down,
}

/// What can be ranked.
pub trait Rankable: Copy {
    /// An unsigned number: sorting by it sorts in this order.
    fn rank_key(self, order: Order) -> u64;
}

/// Above this many elements places are sorted by radix, between whose passes a run can be
/// interrupted; below it, counting 256 digits costs more than comparing.
const RADIX: usize = 2048;

/// The stable rank of each key.
///
/// # Panics
/// If there is less room for ranks than there are keys.
pub fn rank<T: Rankable>(keys: &[T], order: Order, ranks: &mut [i64]) {
    let keys: Vec<u64> = keys.iter().map(|key| key.rank_key(order)).collect();
    let places = (0..keys.len()).collect();
    let sorted = sort_places(&keys, places, &mut || Ok::<(), Infallible>(()));
    let Ok(sorted) = sorted;
    for (rank, place) in sorted.into_iter().enumerate() {
        ranks[place] = rank as i64;
    }
}

/// The places of the keys, given as 0, 1, …, in ascending order of the keys, stably. Between
/// passes it asks whether to go on.
pub fn sort_places<E>(
    keys: &[u64],
    mut places: Vec<usize>,
    poll: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Vec<usize>, E> {
    if keys.len() < RADIX {
        places.sort_by_key(|place| keys[*place]);
        return Ok(places);
    }
    let mut next = places.clone();
    for shift in (0..64).step_by(8) {
        poll()?;
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

fn directed(key: u64, order: Order) -> u64 {
    match order {
        Order::Up => key,
        Order::Down => !key,
    }
}

impl Rankable for i64 {
    fn rank_key(self, order: Order) -> u64 {
        directed(self as u64 ^ 1 << 63, order)
    }
}

impl Rankable for i32 {
    fn rank_key(self, order: Order) -> u64 {
        i64::from(self).rank_key(order)
    }
}

impl Rankable for f64 {
    fn rank_key(self, order: Order) -> u64 {
        if self.is_nan() {
            return u64::MAX;
        }
        // Adding zero turns -0.0 into 0.0.
        let bits = (self + 0.0).to_bits();
        directed(if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }, order)
    }
}

impl Rankable for f32 {
    fn rank_key(self, order: Order) -> u64 {
        f64::from(self).rank_key(order)
    }
}

impl Rankable for u8 {
    fn rank_key(self, order: Order) -> u64 {
        directed(u64::from(self), order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranks<T: Rankable>(keys: &[T], order: Order) -> Vec<i64> {
        let mut ranks = vec![-1; keys.len()];
        rank(keys, order, &mut ranks);
        ranks
    }

    #[test]
    fn zeros_are_equal_and_nans_last() {
        let keys = [f64::NAN, 1.0, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN];
        assert_eq!(ranks(&keys, Order::Up), [5, 3, 1, 2, 4, 0, 6]);
        assert_eq!(ranks(&keys, Order::Down), [5, 1, 2, 3, 0, 4, 6]);
    }

    #[test]
    fn many_keys_are_sorted_by_radix() {
        let keys: Vec<i32> = (0..5000).map(|i| (i * 7919) % 1013 - 500).collect();
        let mut places: Vec<usize> = (0..keys.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(keys[*place]));
        let ranks = ranks(&keys, Order::Down);
        assert!(places.iter().enumerate().all(|(rank, place)| ranks[*place] == rank as i64));
    }

    proptest! {
        #[test]
        fn keys_order_as_floats_do(a: f32, b: f32) {
            if let Some(ordering) = a.partial_cmp(&b) {
                prop_assert_eq!(a.rank_key(Order::Up).cmp(&b.rank_key(Order::Up)), ordering);
                prop_assert_eq!(b.rank_key(Order::Down).cmp(&a.rank_key(Order::Down)), ordering);
            }
        }
    }
}
