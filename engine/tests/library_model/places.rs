//! Models of the functions in `sequences.nesl` that move elements to given indices.

use crate::choices::Choices;
use crate::law::{Laws, Outcome, for_any};
use crate::value::Nesl;

pub fn laws(laws: &mut Laws) {
    for_any!(laws; put, cond_put, join, flag_merge, unpack);
}

/// Writes elements to their indices, in order.
fn write<T>(mut into: Vec<T>, writes: impl Iterator<Item = (i64, T)>) -> Outcome<Vec<T>> {
    for (place, x) in writes {
        let place = usize::try_from(place).ok().and_then(|place| into.get_mut(place));
        *place.ok_or("Index out of bounds for function <-")? = x;
    }
    Ok(into)
}

fn put<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (d, v): (Vec<T>, Vec<T>) = (c.seq(), c.seq());
        let length = c.near(v.len());
        let places = c.places(length, d.len());
        (v, places, d)
    };
    laws.function("put", choose, |(v, places, d)| {
        if v.len() != places.len() {
            return Err("Length mismatch in function PUT.");
        }
        write(d, places.into_iter().zip(v))
    });
}

fn cond_put<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (d, v): (Vec<T>, Vec<T>) = (c.seq(), c.seq());
        let (places, flags) = (c.near(v.len()), c.near(v.len()));
        let (places, flags) = (c.places(places, d.len()), c.seq_of::<bool>(flags));
        (v, places, flags, d)
    };
    laws.function("cond_put", choose, |(v, places, flags, d)| {
        if v.len() != places.len() || v.len() != flags.len() {
            return Err("Length mismatch in function COND_PUT.");
        }
        let writes = places.into_iter().zip(v).zip(flags);
        write(d, writes.filter(|(_, flag)| *flag).map(|(write, _)| write))
    });
}

fn join<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let (v1, v2): (Vec<T>, Vec<T>) = (c.seq(), c.seq());
        let mut places = c.permutation(v1.len() + v2.len());
        if !places.is_empty() && c.once_in(8) {
            let at = c.below(places.len());
            places[at] = c.int_from(-1, places.len() as i64);
        }
        let p2 = places.split_off(c.near(v1.len()).min(places.len()));
        (v1, places, v2, p2)
    };
    laws.function("join", choose, |(v1, p1, v2, p2)| {
        if v1.len() != p1.len() || v2.len() != p2.len() {
            return Err("Length mismatch in function JOIN.");
        }
        let mut places: Vec<i64> = p1.iter().chain(&p2).copied().collect();
        places.sort();
        if places != (0..places.len() as i64).collect::<Vec<_>>() {
            return Err("Bad arguments to function PERMUTE.");
        }
        let all: Vec<T> = v1.into_iter().chain(v2).collect();
        write(all.clone(), p1.into_iter().chain(p2).zip(all))
    });
}

fn flag_merge<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let flags: Vec<bool> = c.seq();
        let trues = flags.iter().filter(|flag| **flag).count();
        let (mut v1, mut v2) = (flags.len() - trues, trues);
        if c.once_in(4) {
            (v1, v2) = if c.once_in(2) { (c.near(v1), c.near(v2)) } else { (v2, v1) };
        }
        (flags, c.seq_of::<T>(v1), c.seq_of::<T>(v2))
    };
    laws.function("flag_merge", choose, |(flags, v1, v2)| {
        let (mut v1, mut v2) = (v1.into_iter(), v2.into_iter());
        let merged = flags.into_iter().map(|flag| if flag { v2.next() } else { v1.next() });
        let merged: Option<Vec<T>> = merged.collect();
        merged
            .filter(|_| v1.next().is_none() && v2.next().is_none())
            .ok_or("Length mismatch in function FLAG_MERGE.")
    });
}

fn unpack<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let flags: Vec<bool> = c.seq();
        let trues = flags.iter().filter(|flag| **flag).count();
        let length = c.near(trues);
        (c.seq_of::<T>(length), flags)
    };
    laws.function("unpack", choose, |(v, flags)| {
        let trues = flags.iter().filter(|flag| **flag).count();
        let mut v = v.into_iter();
        if v.len() != trues {
            return Err("Length mismatch in function UNPACK.");
        }
        let unpacked =
            flags.into_iter().map(|flag| if flag { v.next() } else { None }.unwrap_or(T::zero()));
        Ok(unpacked.collect::<Vec<T>>())
    });
}
