//! Sorting programs.

use crate::data::{Parameters, check_sorted, mix, tabulate};
use crate::{Run, program};
use rayon::prelude::*;

/// Parts of at most this many elements are sorted by one thread.
const GRAIN: usize = 1 << 13;

/// Sorts with the parallel sort of rayon.
pub fn sort(parameters: &Parameters) -> Run {
    let a = tabulate(parameters.get("n"), mix);
    let sorted = move || {
        let mut v = a.clone();
        v.par_sort_unstable();
        v
    };
    program(sorted, |v| check_sorted(v))
}

/// Sorts in place by quicksort, with both recursive calls in parallel.
pub fn quicksort(parameters: &Parameters) -> Run {
    fn go(v: &mut [i64]) {
        if v.len() <= 24 {
            // Short parts are sorted by insertion.
            for i in 1..v.len() {
                let x = v[i];
                let mut at = i;
                while at > 0 && v[at - 1] > x {
                    v[at] = v[at - 1];
                    at -= 1;
                }
                v[at] = x;
            }
            return;
        }
        let (first, middle, last) = (v[0], v[v.len() / 2], v[v.len() - 1]);
        let pivot = first.max(middle).min(first.min(middle).max(last));
        // The partition scheme is Hoare's.
        let (mut low, mut high) = (0, v.len() - 1);
        loop {
            while v[low] < pivot {
                low += 1;
            }
            while v[high] > pivot {
                high -= 1;
            }
            if low >= high {
                break;
            }
            v.swap(low, high);
            low += 1;
            high -= 1;
        }
        let (less, more) = v.split_at_mut(low);
        if less.len() + more.len() > GRAIN {
            rayon::join(|| go(less), || go(more));
        } else {
            go(less);
            go(more);
        }
    }
    let a = tabulate(parameters.get("n"), mix);
    let sorted = move || {
        let mut v = a.clone();
        go(&mut v);
        v
    };
    program(sorted, |v| check_sorted(v))
}

/// Sorts by the bitonic network. All rounds that compare elements less than `GRAIN` apart are executed while
/// the block is in the cache.
pub fn batcher(parameters: &Parameters) -> Run {
    fn exchange(low: &mut [i64], high: &mut [i64], up: bool) {
        for (a, b) in low.iter_mut().zip(high) {
            let (least, most) = ((*a).min(*b), (*a).max(*b));
            (*a, *b) = if up { (least, most) } else { (most, least) };
        }
    }
    fn merge(v: &mut [i64], up: bool) {
        let mut j = v.len() / 2;
        while j > 0 {
            for pair in v.chunks_mut(2 * j) {
                let (low, high) = pair.split_at_mut(j);
                exchange(low, high, up);
            }
            j /= 2;
        }
    }
    fn go(v: &mut [i64], up: bool) {
        if v.len() == 1 {
            return;
        }
        let half = v.len() / 2;
        let (low, high) = v.split_at_mut(half);
        if low.len() >= GRAIN {
            rayon::join(|| go(low, true), || go(high, false));
        } else {
            go(low, true);
            go(high, false);
        }
        let mut j = half;
        while j >= GRAIN {
            v.par_chunks_mut(2 * j).for_each(|pair| {
                let (low, high) = pair.split_at_mut(j);
                low.par_chunks_mut(GRAIN)
                    .zip(high.par_chunks_mut(GRAIN))
                    .for_each(|(low, high)| exchange(low, high, up));
            });
            j /= 2;
        }
        v.par_chunks_mut(2 * j).for_each(|part| merge(part, up));
    }
    let a = tabulate(parameters.get("n"), mix);
    let sorted = move || {
        let mut v = a.clone();
        go(&mut v, true);
        v
    };
    program(sorted, |v| check_sorted(v))
}
